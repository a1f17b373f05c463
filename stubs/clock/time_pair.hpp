// The system's clock and the time stamp counter at the same moment, and with two of them the counter's rate.
//
// A process may lose its core between reading the one and the other, for milliseconds where there are more ranks than
// cores: a rate of 2 ms that is made of such a pair is wrong by a factor of two, or of twenty thousand. So the counter is read
// on both sides of the clock, and of a few readings the one counts that took least.
//
// Pure but for `read`.
#pragma once

#include <cstdint>

namespace nplus1::stubs {

struct TimePair {
  std::int64_t ns = 0, tick = 0;
};

/// The clock, and the counter before and behind.
struct Reading {
  std::int64_t tick_before = 0, ns = 0, tick_behind = 0;

  [[nodiscard]] std::int64_t ticks() const { return tick_behind - tick_before; }
};

/// `read()` gives a Reading of now. Some 200 ns, where the clock takes 50.
template <class Read>
[[nodiscard]] TimePair time_pair_of(Read&& read) {
  constexpr int kTimes = 4;
  Reading best = read();
  for (int time = 1; time < kTimes; ++time)
    if (const Reading reading = read(); reading.ticks() < best.ticks()) best = reading;
  return {best.ns, best.tick_before + best.ticks() / 2};
}

/// Nanoseconds per tick, over `over_ns` nanoseconds: exact to as many as a reading takes. Spins.
template <class Read>
[[nodiscard]] double rate_of(Read&& read, std::int64_t over_ns) {
  const TimePair from = time_pair_of(read);
  TimePair to = from;
  while (to.ns - from.ns < over_ns) to = time_pair_of(read);
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.tick - from.tick);
}

}  // namespace nplus1::stubs
