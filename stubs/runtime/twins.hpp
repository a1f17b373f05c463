// The runtime's side of `--compute warm`: which stretches between two MPI calls are measured by a twin (stubs/twin/),
// and what is told of it (EventKind::kWarmTime). What is done with the samples is decided from the recording
// (hypothesis/clock/): the clock of the run itself stays as measured.
//
// Which, stubs/twin/plan.hpp says. Exists where such a run was asked for and the process can have twins. Of the process's first
// thread; none is made once there are others, which nothing here is told of, since it has no lock.
#pragma once

#include <cstdint>

#include "events/event.hpp"
#include "stubs/clock/core_speed.hpp"
#include "stubs/clock/first_touch.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/twin/plan.hpp"

namespace nplus1::stubs {

class Twins {
 public:
  explicit Twins(Runtime& runtime);
  /// Whether this process is a twin.
  [[nodiscard]] static bool is_one_here() noexcept;
  /// The thread begins a call that has a clock, `stretch_ticks` after it left the last one; `given`: not all of the time before
  /// it was measured.
  void called(bool given, std::int64_t stretch_ticks) {
    if (!runtime_.threads.are_mine_alone()) return;
    if (given)
      speed_ = {};
    else if (stretch_ticks > long_ticks_)
      look_behind_long_one();
    if (warm_ticks_ == 0) return;
    if (given || ++calls_since_ > 1) warm_ticks_ = 0;
  }
  /// `event` has become part of the rank's stream.
  void told(const events::Event& event);
  /// The thread leaves MPI.
  void leave();

 private:
  void look_behind_long_one();
  void tell(ThreadId thread);
  void sample_if_alone();
  void sample();
  void plan_next();

  Runtime& runtime_;
  twin::Plan plan_;
  bool at_beginning_ = false;    // of a stretch
  bool tried_ = false;           // a twin was made of the stretch that the thread is in
  std::int64_t warm_ticks_ = 0;  // ... and measured it; 0: not sampled
  bool rough_ = false;           // how well it is known
  CoreSpeed warm_speed_;         // of the twin's core
  double warm_length_ = 0;
  CoreSpeed speed_;  // of the thread's, at the end of a long stretch
  FirstTouch first_touch_;
  PageFaults faults_;       // in that stretch
  std::uint64_t left_ = 0;  // times that the thread has left MPI
  std::int64_t long_ticks_;
  int calls_since_ = 0;
  int waited_ = 0;  // times that a twin was due since the last one, and somebody else had a part of the core
  std::int64_t next_tick_ = 0;  // before it no twin is affordable
  std::int64_t spent_ns_ = 0;
  std::int64_t pages_ns_ = 0;  // what a twin takes for the process's memory, as far as that was planned for
  std::int64_t began_cpu_ns_;
};

}  // namespace nplus1::stubs
