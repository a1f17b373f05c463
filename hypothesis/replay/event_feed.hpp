// Feeds an engine from a recording: a sink of recorded calls that hands each on as the call that the program
// made, without the virtual times that it had on its network.
//
// The recording is in the order in which calls were decided; the engine takes any interleaving of ranks, but
// of each rank what its process did, in that order (TimedEvent::ordinal). So calls go straight through,
// except where another thread's earlier call, or the match of a receive from any source, is still to come:
// those wait here. Memory: what waits, at most kMostHeld calls of a rank, and what the engine keeps.
//
// Compute times are the recording's, times a factor. Time that the recording does not explain (a call
// that is not modelled; calls that were not recorded) is replayed as it was.
//
// One thread. Throws what Engine::push throws if the recording contradicts itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/replay/adapted_calls.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/engine/recorder.hpp"

namespace nplus1::hypothesis {

/// What a rank spent outside the messages that are simulated, and where it stood in the recording.
struct RankCosts {
  std::uint32_t threads = 0;  // that called MPI
  Duration compute{};         // of all of them
  Duration unexplained{};
  Time recorded_end{};
};

class EventFeed final : public events::EventSink {
 public:
  struct Options {
    std::vector<double> compute_scale;  // by rank
    bool repeat_decisions = false;      // recorded_decisions.hpp
    bool adapt_decisions = false;       // adaptation.hpp
  };

  /// `recorder`: told of each call with its details before the engine gets it; may be null. `definitions`:
  /// likewise of communicators and the like.
  EventFeed(std::size_t ranks, simnode::engine::Engine& engine, simnode::engine::Recorder* recorder,
            events::EventSink* definitions, const Options& options);

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void on_communicator(const events::Communicator& communicator) override;
  void on_call_path(const events::CallPath& path) override;
  void on_region(const events::Region& region) override;
  void on_datatype(const events::Datatype& datatype) override;

  /// The engine's Listener passes on what it hears.
  void came_out(const events::TimedEvent& event);
  void met(RankId receiver, const events::Answer& match);

  /// The recording has ended: everything that waits goes to the engine, and what can be decided is.
  void finish();

  [[nodiscard]] const std::vector<RankCosts>& costs() const { return costs_; }
  /// Calls of a rank that went on without earlier ones of theirs, which the recording does not have.
  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }
  /// What came out otherwise than recorded, with Options::adapt_decisions.
  [[nodiscard]] AdaptationCounts adaptation() const {
    return adapted_ ? adapted_->counts() : AdaptationCounts{};
  }

 private:
  struct Call : RecordedCall {
    bool awaits_match = false;
    bool begins_thread = false;  // then entry_ps is where its clock begins: EventFeed::reset_clock
  };
  struct Lane {
    bool seen = false;
    bool joined = false;  // another thread of the rank waits for its end
    Time last_exit{};     // in the recording
  };
  struct Rank {
    std::uint64_t next = 0;  // ordinal
    bool finalized = false;
    std::optional<Call> finalize;                              // goes last, where threads may outlive it
    std::vector<Lane> lanes;                                   // by thread
    std::map<std::uint64_t, Call> held;                        // by ordinal
    std::unordered_map<std::uint32_t, std::uint64_t> awaited;  // request: ordinal
  };

  [[nodiscard]] bool reset_clock(const events::TimedEvent& recorded, events::Event& event);
  void hold(RankId rank, std::uint64_t ordinal, const Call& call);
  void stop_awaiting(Rank& rank, RequestId request, const events::Answer* match);
  void release(RankId rank, bool all);
  void push(RankId rank, Call& call);
  void place(RankId rank, events::Event& event, bool begins_thread);
  void make(RankId rank, const events::Event& event, const events::Extension& lists,
            const events::Detail* detail);
  void settle();
  void settle_at_times();
  [[nodiscard]] bool go_on();
  void withdraw_ended();

  simnode::engine::Engine& engine_;
  simnode::engine::Recorder* recorder_;
  events::EventSink* definitions_;
  Options options_;
  std::vector<Rank> ranks_;
  std::vector<RankCosts> costs_;
  std::vector<bool> communicators_;        // that the engine knows
  std::unique_ptr<AdaptedCalls> adapted_;  // null: calls are made as they are
  Call call_;                              // one that is kept
  std::vector<std::uint32_t> words_;
  bool ended_ = false;
  std::uint64_t pushed_ = 0;
  std::uint64_t gaps_ = 0;
};

}  // namespace nplus1::hypothesis
