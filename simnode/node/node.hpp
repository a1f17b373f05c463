// The simulator process: accepts the ranks, feeds their events to the engine, sends its answers back, watches
// for stalls and deadlocks, and writes the results when the job is over. One thread; it sleeps in epoll.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/recording/writer.hpp"
#include "events/sink_list.hpp"
#include "events/source/source_lines.hpp"
#include "netmodel/collectives/selection.hpp"
#include "patterns/observers.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/engine/recorder.hpp"
#include "simnode/node/door.hpp"
#include "simnode/node/native_stream.hpp"
#include "simnode/node/network.hpp"
#include "simnode/node/port.hpp"
#include "simnode/node/settings.hpp"
#include "simnode/node/standstill.hpp"
#include "simnode/node/test_delay.hpp"
#include "simnode/node/translator.hpp"
#include "simnode/node/watch.hpp"
#include "stubs/transport/handshake.hpp"
#include "stubs/transport/last_words.hpp"

namespace nplus1::simnode::node {

/// How it ended, as nplus1-simnode's exit code.
enum class Outcome : std::uint8_t { kWritten = 0, kNotWritten = 74, kNobodyCame = 75 };

/// Says in the result folder why there are no results, or not all: nobody reads the simulator's stderr.
void leave_trouble(const std::string& folder, const Error& error);

class Node final : public engine::Listener {
 public:
  Node(Settings settings, NetworkMaker make_network, netmodel::Selection collectives);
  ~Node() override;

  /// Starts listening; what the ranks must know to come in, or nothing on failure (errno is set).
  std::optional<transport::Meeting> listen();
  /// Serves the job until `input` (the keeper's pipe) ends and nothing is left; then writes the results.
  Outcome run(int input);

 private:
  struct Rank {
    int socket = -1;
    std::unique_ptr<Port> port;
    transport::Start start;
    std::size_t start_bytes = 0;  // so many of `start` have come
    std::int32_t pid = 0;
    bool started = false;
    bool gone = false;
    bool finalized = false;
    bool ending = false;          // without MPI_Finalize
    std::uint16_t last_call = 0;  // and where it was made: of its last event
    CallSiteId last_site{};
    std::uint32_t looks = 0, moves = 0;  // of its host, where that is another (transport::shown_looks)

    /// Several of its threads may call MPI.
    [[nodiscard]] bool several_threads() const {
      constexpr int kSerialized = 2;  // MPI_THREAD_SERIALIZED (MPICH's values)
      return start.threads_provided >= kSerialized;
    }
  };

  void on_exit(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& answer) override;
  void on_meeting(RankId receiver, const events::Answer& answer) override;

  [[nodiscard]] bool somebody_waits() const;
  [[nodiscard]] bool has_input() const;
  [[nodiscard]] bool has_work_soon();
  void wait_for_work();
  [[nodiscard]] int idle_ms() const;
  void serve(int fd);
  void welcome(const Arrival& guest);
  [[nodiscard]] bool may_be_rank(const transport::Hello& hello) const;
  void begin_segment(int ranks);
  [[nodiscard]] bool make_network(int ranks);
  void start_rank(Rank& rank);
  /// Nothing comes of it: the ranks go on as plain MPI.
  void give_up(const std::string& why);
  /// It has begun and cannot go on: likewise, and what was seen until then is in the results.
  void abandon(const std::string& why);
  void let_go(Rank& rank);
  void all_started();
  std::size_t drain();
  std::size_t drain(RankId rank);
  /// Does `what` with the engine, if there is anything to be simulated (still).
  template <class What>
  void simulate(What&& what) {
    if (!engine_ || native_ || abandoned_) return;
    try {
      what();
    } catch (const std::exception& error) {
      abandon(error.what());
    }
  }
  void decide();
  void observe();
  void flush();
  void lose(RankId rank);
  void lose_sight(RankId rank);
  void hear(RankId rank);
  [[nodiscard]] bool threads_allowed() const;
  [[nodiscard]] bool blocked_for_long();
  void look_for_deadlock();
  void look_for_standstill();
  [[nodiscard]] bool stands_still();
  [[nodiscard]] std::string standstill_report();
  void tell_deadlock(const std::string& text, RankId first, const std::vector<engine::BlockedThread>& others);
  [[nodiscard]] const char* what_follows() const;
  [[nodiscard]] std::string line_of(const engine::BlockedThread& blocked);
  [[nodiscard]] bool uses_wall_clock() const;
  /// As results and recordings name it.
  [[nodiscard]] const char* clock_used() const;
  void note_uncounted_ranks();
  [[nodiscard]] std::string place_of(RankId rank, CallSiteId site);
  /// `waiting`: the threads that are known to wait.
  [[nodiscard]] bool threads_may_run(const std::vector<engine::BlockedThread>& waiting) const;
  [[nodiscard]] std::string deadlock_report();
  void send_text(RankId rank, events::AnswerKind kind, bool flag, const std::string& text);
  void watch();
  // native.cpp
  class NativeSink;
  void begin_native();
  void take_native(RankId rank, const events::Event& event, std::span<const std::byte> extension,
                   const events::Detail* detail);
  void finish_native();
  // recording.cpp
  void begin_recording(std::int32_t ranks);
  void take(RankId rank, Port& port);
  void note_crowded_threads();
  void note_first_withdrawn(std::vector<std::string>& notes) const;
  void note_caught_accesses();
  void take_warm_time(RankId rank, const events::Event& event);
  void take_last(Rank& rank, events::Event& event);
  std::span<const std::byte> take_last_words(RankId rank, events::Event& event,
                                             std::span<const std::byte> extension);
  void sum_up(RankId rank, const transport::LastWords& words);
  void note_departures();
  [[nodiscard]] std::string compute_intervals_of(RankId rank) const;
  [[nodiscard]] std::string access_cost_text() const;
  void tick_recording();
  void finish_recording();
  void discard_recording();
  void tell_source_lines();
  [[nodiscard]] report::Recording recording_summary() const;
  Outcome write_results();
  /// The name of a process's executable.
  [[nodiscard]] static std::string program_of(std::int32_t pid);
  [[nodiscard]] std::string choose_output(std::int32_t pid) const;
  [[nodiscard]] std::string transport_used() const;
  [[nodiscard]] std::string network_name() const;
  [[nodiscard]] report::RunSummary summary() const;

  Settings settings_;
  NetworkMaker make_network_;
  std::unique_ptr<netmodel::NetworkModel> network_;  // once a rank has said how many there are
  netmodel::Selection collectives_;
  TestDelay test_delay_;
  int epoll_ = -1;
  int wake_ = -1;
  std::optional<Door> door_;
  int input_ = -1;
  bool job_over_ = false;
  bool given_up_ = false;
  bool abandoned_ = false;
  int memory_ = -1;
  transport::Segment segment_;
  std::vector<Rank> ranks_;
  int started_ = 0;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Translator> translator_;
  std::unique_ptr<patterns::Observers> observers_;     // what makes the result folder
  events::SinkList sinks_;                             // what counts every call
  events::SinkList definitions_;                       // these, and the recording
  std::unique_ptr<events::recording::Writer> writer_;  // null where nothing is recorded
  std::unique_ptr<engine::Recorder> recorder_;
  bool recording_trouble_said_ = false;
  std::unique_ptr<events::EventSink> native_sink_;  // of native recordings, null in others
  std::unique_ptr<NativeStream> native_;            // likewise
  std::unique_ptr<Watch> watch_;
  std::vector<std::uint64_t> events_per_rank_;
  std::vector<std::string> notes_;
  bool deadlock_said_ = false;
  Standstill standstill_;
  int crowded_ = 0;  // so many times it does not look for what comes soon
  std::chrono::steady_clock::time_point looked_{};
  std::chrono::steady_clock::time_point standstill_looked_{};
  std::optional<std::chrono::steady_clock::time_point> all_blocked_since_;
  events::source::SourceLines source_lines_;
  std::string application_;
  std::chrono::steady_clock::time_point begin_;
  double wall_time_s_ = 0;
  double hashing_s_ = 0;             // of all ranks
  int working_threads_ = 0;          // of all ranks, that compute and never call MPI
  transport::LastWords last_words_;  // sums over all ranks; a departure: the lowest rank's
  RankId departed_{-1};
  int departed_ranks_ = 0;
  int ranks_with_accesses_ = 0;
  std::string warm_times_;                // what twins have measured, as the recording keeps it
  std::uint64_t system_clock_reads_ = 0;  // by ranks that never ask for MPI_Wtime
};

}  // namespace nplus1::simnode::node
