// Real time (CLOCK_REALTIME) of time stamp counter readings, for recordings: a multiplication each, and a
// system call every 10 ms. One per thread. Never runs backwards, also where the system's clock is set back.
#pragma once

#include <cstdint>

namespace nplus1::stubs {

class WallClock {
 public:
  /// Nanoseconds since 1970 at `tick` (ticks(), a recent one).
  [[nodiscard]] std::int64_t at(std::int64_t tick);

 private:
  void anchor();

  std::int64_t first_tick_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t anchor_tick_ = 0;
  std::int64_t anchor_ns_ = 0;
  std::int64_t last_ = 0;
  double rate_ = 0;  // nanoseconds per tick
};

}  // namespace nplus1::stubs
