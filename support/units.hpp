// Units of simulated quantities. Simulated time is an exact integer count of picoseconds, so that two
// runs can be compared to the last digit; rates stay doubles and are rounded once, in netmodel/.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace nplus1 {

/// A span of virtual time, in picoseconds (range +-106 days).
using Duration = std::chrono::duration<std::int64_t, std::pico>;

/// The clock that virtual times are points of: zero is the end of MPI_Init.
struct VirtualClock {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
};

/// A point in virtual time.
using Time = std::chrono::time_point<VirtualClock, Duration>;

inline constexpr Time kTimeZero{};
/// Later than every event: what a rank that will never act again reports.
inline constexpr Time kNever{Duration{std::numeric_limits<std::int64_t>::max()}};

/// Message and buffer sizes, in bytes.
enum class Bytes : std::int64_t {};

[[nodiscard]] constexpr std::int64_t count(Bytes b) {
  return static_cast<std::int64_t>(b);
}
[[nodiscard]] constexpr Bytes bytes(std::int64_t n) {
  return static_cast<Bytes>(n);
}
constexpr Bytes operator+(Bytes a, Bytes b) {
  return bytes(count(a) + count(b));
}

/// Seconds as a double, for reports and for MPI_Wtime only.
[[nodiscard]] constexpr double seconds(Duration d) {
  return static_cast<double>(d.count()) * 1e-12;
}
[[nodiscard]] constexpr double seconds(Time t) {
  return seconds(t.time_since_epoch());
}

/// The nearest picosecond to `s` seconds; the one place where a rate becomes a time. What is longer than any time, or no
/// number, is the longest.
[[nodiscard]] constexpr Duration from_seconds(double s) {
  constexpr double kEnd = 0x1p63;
  const double ps = s * 1e12;
  if (!(ps < kEnd)) return Duration::max();
  if (ps <= -kEnd) return -Duration::max();
  return Duration{static_cast<std::int64_t>(ps < 0 ? ps - 0.5 : ps + 0.5)};
}

}  // namespace nplus1
