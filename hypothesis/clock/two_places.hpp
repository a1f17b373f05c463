// For tests: a program that computes between calls from two places in turn.
#pragma once

#include <cmath>
#include <cstdint>

#include "events/event.hpp"
#include "support/ids.hpp"

namespace nplus1::hypothesis::clock {

inline constexpr std::uint32_t kHere = 1, kThere = 2;
inline constexpr int kRanks = 8, kSteps = 200;
inline constexpr double kMicrosecond = 1e6;  // in picoseconds

/// The call that ends a rank's `step`-th stretch.
inline events::Event event_of(int step, double compute_ps) {
  events::Event e;
  e.kind = events::EventKind::kCollective;
  e.site = CallSiteId{step % 2 == 0 ? kHere : kThere};
  e.compute_ps = std::llround(compute_ps);
  return e;
}

}  // namespace nplus1::hypothesis::clock
