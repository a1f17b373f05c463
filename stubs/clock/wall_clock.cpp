#include "stubs/clock/wall_clock.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs {
namespace {

constexpr double kAnchorEveryNs = 10e6;
/// Over a second the system's clock gives a better rate than the start's short calibration.
constexpr double kRateNeedsNs = 1e9;
/// A greater change means that somebody has set the system's clock.
constexpr double kBelievable = 1e-3;

}  // namespace

void WallClock::anchor() {
  const TimePair now = time_pair_of([] { return reading_of(CLOCK_REALTIME); });
  anchor_ns_ = now.ns;
  anchor_tick_ = now.tick;
  if (first_ns_ == 0) {
    first_ns_ = anchor_ns_;
    first_tick_ = anchor_tick_;
    rate_ = nanoseconds_per_tick();
  }
  const auto elapsed = static_cast<double>(anchor_ns_ - first_ns_);
  if (elapsed < kRateNeedsNs) return;
  const double rate = elapsed / static_cast<double>(anchor_tick_ - first_tick_);
  if (std::abs(rate / nanoseconds_per_tick() - 1) < kBelievable) rate_ = rate;
}

std::int64_t WallClock::at(std::int64_t tick) {
  if (first_ns_ == 0 || static_cast<double>(tick - anchor_tick_) * rate_ > kAnchorEveryNs) anchor();
  const auto ns = anchor_ns_ + static_cast<std::int64_t>(static_cast<double>(tick - anchor_tick_) * rate_);
  last_ = std::max(last_, ns);
  return last_;
}

}  // namespace nplus1::stubs
