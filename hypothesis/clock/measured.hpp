// What is known of a single stretch.
#pragma once

#include <cstdint>

namespace nplus1::hypothesis::clock {

/// Whether somebody else had a part of it.
enum class Core : std::uint8_t { kUnknown, kOwn, kShared };

/// Of all times that a core was looked at, the share in which somebody else had a part of it, where that is always so.
inline constexpr double kAlwaysShared = 0.85;

/// A stretch as it was recorded. `step`: how many of its kind its rank had before.
struct Recorded {
  std::uint32_t rank = 0, step = 0;
  float log_time = 0;           // natural logarithm of picoseconds
  Core core = Core::kUnknown;   // where it ended
  Core began = Core::kUnknown;  // when its rank's core was looked at last before that
};

/// A stretch that a twin has measured.
struct Measured {
  Recorded recorded;
  double log_warm = 0;    // of what the twin took
  bool rough = false;     // or rather less
  bool shared = false;    // because somebody else had a part of the core: much less
  double log_shared = 0;  // how much longer loads took there than on a core for oneself
};

}  // namespace nplus1::hypothesis::clock
