// The efficiencies of the POP project (Performance Optimisation and Productivity, pop-coe.eu, "POP standard
// metrics for parallel performance analysis"): factors of 0 to 1 that multiply up to the parallel efficiency.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/sink.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::hypothesis {

/// parallel = load_balance * communication; communication = serialisation * transfer.
struct Efficiencies {
  double parallel = 0;                  // mean computing time / run time
  double load_balance = 0;              // mean / largest computing time
  double communication = 0;             // largest computing time / run time
  std::optional<double> serialisation;  // largest computing time / run time on an ideal network
  std::optional<double> transfer;       // run time on an ideal network / run time
  std::optional<Duration> ideal_time;
  std::string note;  // why the last three are not known, or what they leave out
};

/// `compute`: of each rank, or of each thread that calls MPI where ranks have several; `ideal_time`: of the run on a network without latency and with infinite
/// bandwidth.
[[nodiscard]] Efficiencies efficiencies(const std::vector<Duration>& compute, Duration run_time,
                                        std::optional<Duration> ideal_time);

/// Replays events as they come on an ideal network: messages take no time, calls cost nothing. Successful
/// tests become waits for what they completed, failed ones nothing: what is left is computing, and waiting
/// for others. Give it a whole stream, in an order in which it may have happened. One thread.
class IdealReplay : public events::EventSink {
 public:
  /// Files stay where they are: the storage is as it was.
  explicit IdealReplay(std::size_t ranks, const netmodel::StorageModel& storage = {});
  ~IdealReplay() override;
  IdealReplay(const IdealReplay&) = delete;
  IdealReplay& operator=(const IdealReplay&) = delete;

  void on_event(const events::TimedEvent& event) override;
  void on_communicator(const events::Communicator& communicator) override;

  /// When the last rank ends; nothing if some are blocked for ever or never finalized, or the events contradict each other.
  [[nodiscard]] std::optional<Duration> time();

 private:
  class Ends;
  /// What the engine does; unfinished_ if it finds a contradiction.
  template <class Step>
  void in_engine(const Step& step);
  std::unique_ptr<netmodel::NetworkModel> network_;
  std::unique_ptr<Ends> ends_;
  std::unique_ptr<simnode::engine::Engine> engine_;
  std::uint64_t pushed_ = 0;
  bool unfinished_ = false;
  std::vector<bool> defined_;
};

}  // namespace nplus1::hypothesis
