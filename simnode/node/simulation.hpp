// The simulation of a job whose ranks have all come: takes in what they say, has the engine decide, sends its answers back,
// and looks after ranks that say nothing. Of one thread. What the engine cannot cope with is a fault of ours, and must not
// cost more than the rest of the simulation: the ranks are let go, and what was seen until then is in the results.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "events/sink_list.hpp"
#include "events/source/source_lines.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "patterns/observers.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/node/deadlocks.hpp"
#include "simnode/node/intake.hpp"
#include "simnode/node/job_ranks.hpp"
#include "simnode/node/native_intake.hpp"
#include "simnode/node/rank_accounts.hpp"
#include "simnode/node/run_recording.hpp"
#include "simnode/node/settings.hpp"
#include "simnode/node/test_delay.hpp"
#include "simnode/node/translator.hpp"
#include "simnode/node/watch.hpp"

namespace nplus1::simnode::node {

class Simulation final : public engine::Listener {
 public:
  Simulation(const Settings& settings, const netmodel::NetworkModel& network,
             const netmodel::Selection& collectives, JobRanks& ranks, RunRecording& recording,
             RankAccounts& accounts, std::vector<std::string>& notes);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Takes in what ranks have said; how many slots that were.
  std::size_t drain();
  /// Has the engine decide what stands.
  void decide();
  /// What follows from what ranks are seen to do, or from nothing happening.
  void observe();
  /// The rank makes no more events.
  void lose(RankId rank);
  /// It cannot go on. The ranks see the end of their lines: one alone must not leave, as the others would wait for it for
  /// ever.
  void abandon(const std::string& why);
  /// The job is over: the last decisions.
  void finish();
  /// Completes the recording with calls that never returned, and tells what call paths and functions are called.
  void tell_names();

  /// Whether a rank waits for what others have yet to do.
  [[nodiscard]] bool somebody_waits() const;
  /// Somebody's calls are no longer seen: nothing more is to be learned.
  [[nodiscard]] bool has_lost_sight() const { return lost_sight_; }
  [[nodiscard]] const engine::Engine& engine() const { return engine_; }
  [[nodiscard]] patterns::Observers& observers() { return observers_; }
  [[nodiscard]] std::uint64_t events() const {
    return native_ ? native_->events() : engine_.counters().events;
  }
  [[nodiscard]] const std::optional<Watch::Withdrawn>& first_withdrawn() const {
    return watch_.first_withdrawn();
  }
  [[nodiscard]] double wall_time_s() const { return wall_time_s_; }

 private:
  void on_exit(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& answer) override;
  void on_meeting(RankId receiver, const events::Answer& answer) override;
  std::size_t drain(RankId rank);
  void watch();
  void tell_source_lines();
  void note_time();
  /// Does `what` with the engine, if there is anything to be simulated (still).
  template <class What>
  void simulate(What&& what);

  const Settings& settings_;
  JobRanks& ranks_;
  RunRecording& recording_;
  std::vector<std::string>& notes_;
  bool contention_;
  TestDelay test_delay_;
  engine::Engine engine_;
  Translator translator_;
  patterns::Observers observers_;       // what makes the result folder
  events::SinkList sinks_;              // what counts every call
  events::SinkList definitions_;        // these, and the recording
  std::optional<NativeIntake> native_;  // of native recordings
  std::optional<Intake> intake_;
  Watch watch_;
  events::source::SourceLines source_lines_;
  Deadlocks deadlocks_;
  bool abandoned_ = false;
  bool lost_sight_ = false;
  std::chrono::steady_clock::time_point begin_;
  double wall_time_s_ = 0;
};

}  // namespace nplus1::simnode::node
