// The simulator process: accepts the ranks, feeds their events to the engine, sends its answers back, watches
// for stalls and deadlocks, and writes the results when the job is over. One thread; it sleeps in epoll.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/recording/writer.hpp"
#include "events/sink_list.hpp"
#include "netmodel/collectives/selection.hpp"
#include "patterns/message_statistics.hpp"
#include "patterns/timeline.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/engine/recorder.hpp"
#include "simnode/node/native_stream.hpp"
#include "simnode/node/network.hpp"
#include "simnode/node/port.hpp"
#include "simnode/node/settings.hpp"
#include "simnode/node/source_lines.hpp"
#include "simnode/node/test_delay.hpp"
#include "simnode/node/translator.hpp"
#include "simnode/node/watch.hpp"
#include "stubs/transport/handshake.hpp"

namespace nplus1::simnode::node {

class Node final : public engine::Listener {
 public:
  Node(Settings settings, NetworkMaker make_network, netmodel::Selection collectives);
  ~Node() override;

  /// Starts listening; the TCP port for the `ready` line, 0 on failure (errno is set).
  std::uint16_t listen(const std::string& job);
  /// Serves the job until `input` (the keeper's pipe) ends and nothing is left; then writes the results.
  void run(int input);

 private:
  struct Rank {
    int socket = -1;
    std::unique_ptr<Port> port;
    transport::Start start;
    std::int32_t pid = 0;
    bool started = false;
    bool gone = false;
    bool finalized = false;
  };
  /// A connection that has not said who it is.
  struct Guest {
    int socket;
    bool local;
  };

  void on_exit(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& answer) override;

  void wait_for_work();
  [[nodiscard]] int idle_ms() const;
  void accept_guests(int listener, bool local);
  void welcome(const Guest& guest);
  void begin_segment(int ranks);
  [[nodiscard]] bool make_network(int ranks);
  void start_rank(Rank& rank);
  void all_started();
  std::size_t drain();
  void flush();
  void lose(RankId rank);
  void lose_sight(RankId rank);
  [[nodiscard]] bool threads_allowed() const;
  [[nodiscard]] bool blocked_for_long();
  void look_for_deadlock();
  [[nodiscard]] bool uses_wall_clock() const;
  [[nodiscard]] std::string place_of(RankId rank, CallSiteId site);
  [[nodiscard]] bool threads_may_run() const;
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
  void take_last(Rank& rank, events::Event& event);
  void tick_recording();
  void finish_recording();
  void discard_recording();
  void tell_source_lines();
  [[nodiscard]] report::Recording recording_summary() const;
  void write_results();
  /// Says in the result folder why there are no results.
  void leave_trouble(const Error& error) const;
  /// The name of a process's executable.
  [[nodiscard]] static std::string program_of(std::int32_t pid);
  [[nodiscard]] std::string choose_output(std::int32_t pid) const;
  [[nodiscard]] std::string transport_used() const;
  [[nodiscard]] std::string network_name() const;
  [[nodiscard]] report::RunSummary summary() const;
  [[nodiscard]] patterns::Patterns communication_patterns() const;

  Settings settings_;
  NetworkMaker make_network_;
  std::unique_ptr<netmodel::NetworkModel> network_;  // once a rank has said how many there are
  netmodel::Selection collectives_;
  TestDelay test_delay_;
  int epoll_ = -1;
  int wake_ = -1;
  int unix_listener_ = -1;
  int tcp_listener_ = -1;
  int input_ = -1;
  bool job_over_ = false;
  int memory_ = -1;
  transport::Segment segment_;
  std::vector<Guest> guests_;
  std::vector<Rank> ranks_;
  int started_ = 0;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Translator> translator_;
  std::unique_ptr<patterns::MessageStatistics> statistics_;
  events::SinkList sinks_;                             // what counts every call
  events::SinkList definitions_;                       // these, and the recording
  std::unique_ptr<events::recording::Writer> writer_;  // null where nothing is recorded
  std::unique_ptr<engine::Recorder> recorder_;
  bool recording_trouble_said_ = false;
  std::unique_ptr<patterns::Timeline> timeline_;
  std::unique_ptr<events::EventSink> native_sink_;  // of native recordings, null in others
  std::unique_ptr<NativeStream> native_;            // likewise
  std::unique_ptr<Watch> watch_;
  std::vector<std::uint64_t> events_per_rank_;
  std::vector<std::string> notes_;
  bool deadlock_said_ = false;
  std::optional<std::chrono::steady_clock::time_point> all_blocked_since_;
  SourceLines source_lines_;
  std::string application_;
  std::chrono::steady_clock::time_point begin_;
  double wall_time_s_ = 0;
  double hashing_s_ = 0;                  // of all ranks
  int working_threads_ = 0;               // of all ranks, that compute and never call MPI
  std::uint64_t system_clock_reads_ = 0;  // by ranks that never ask for MPI_Wtime
};

}  // namespace nplus1::simnode::node
