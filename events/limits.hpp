// How far times and sizes of events go, and arithmetic that stays there: what a file or a hypothesis claims may be anything.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "support/units.hpp"

namespace nplus1::events {

/// No message, vector or list entry is larger: more bytes than a process can address.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 47U;
/// Times and durations in picoseconds lie within this, which leaves room for adding one: 53 days.
inline constexpr std::int64_t kLatest = std::int64_t{1} << 62U;
/// What no event can have: it is refused where it comes to a CheckedSink or to the engine.
inline constexpr Duration kBeyond{kLatest + 1};

/// a + b, or what no event can have.
[[nodiscard]] constexpr Duration sum_within(Duration a, Duration b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) return a < Duration::zero() ? -kBeyond : kBeyond;
  return std::clamp(Duration{sum}, -kBeyond, kBeyond);
}
[[nodiscard]] constexpr Duration difference_within(Duration a, Duration b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a.count(), b.count(), &difference))
    return a < Duration::zero() ? -kBeyond : kBeyond;
  return std::clamp(Duration{difference}, -kBeyond, kBeyond);
}

/// The nearest picosecond, or what no event can have.
[[nodiscard]] inline Duration rounded_within(double picoseconds) {
  constexpr auto kEnd = static_cast<double>(kLatest);
  if (!(picoseconds <= kEnd)) return kBeyond;
  return picoseconds < -kEnd ? -kBeyond : Duration{std::llround(picoseconds)};
}

/// The nearest size that a message can have.
[[nodiscard]] inline std::int64_t rounded_size(double size) {
  return size < static_cast<double>(kMostBytes) ? std::llround(std::max(size, 0.0)) : kMostBytes;
}

}  // namespace nplus1::events
