// The runtime's side of `--compute warm`: which stretches between two MPI calls are measured by a twin (stubs/twin/),
// and what is told of it (EventKind::kWarmTime). What is done with the samples is decided from the recording
// (hypothesis/clock/): the clock of the run itself stays as measured.
//
// Stretches of one kind begin behind the same call path with a message of the same size. Those that the thread spends
// most of its time in come first, each kind the less often the more is known of it, and all twins together may use a
// twentieth of the process's CPU time. Exists where such a run was asked for and the process can have twins. Of the process's
// first thread; none is made while there are others.
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>

#include "events/event.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

class Twins {
 public:
  explicit Twins(Runtime& runtime);
  /// The thread begins a call that has a clock; `given`: not all of the time before it was measured.
  void called(bool given) {
    if (warm_ticks_ == 0) return;
    if (given || ++calls_since_ > 1) warm_ticks_ = 0;
  }
  /// `event` has become part of the rank's stream.
  void told(const events::Event& event);
  /// The thread leaves MPI.
  void leave();

 private:
  struct Kind {
    double total_ps = 0;  // of all such stretches so far
    std::uint32_t count = 0;
    std::uint32_t samples = 0;
    std::uint32_t failures = 0;
    [[nodiscard]] double need() const;
  };
  [[nodiscard]] bool is_due(const Kind& kind);
  void sample(Kind& kind);
  void plan_next();

  Runtime& runtime_;
  std::unordered_map<std::uint64_t, Kind> kinds_;
  std::uint64_t kind_ = 0;       // of the stretch that begins with the last event
  bool at_beginning_ = false;    // of it
  std::int64_t warm_ticks_ = 0;  // of the stretch that the thread is in; 0: not sampled
  bool rough_ = false;           // how well it is known
  int calls_since_ = 0;
  double most_needed_ = 0;
  std::int64_t next_tick_ = 0;  // before it no twin is affordable
  std::int64_t spent_ns_ = 0;
  std::minstd_rand random_;
};

}  // namespace nplus1::stubs
