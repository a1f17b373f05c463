#include "stubs/twin/places.hpp"

#include <algorithm>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/twin/twin.hpp"

namespace nplus1::stubs::twin {

Place::Place(std::span<std::atomic<std::int64_t>> places, double nanoseconds) {
  const std::int64_t now = ticks();
  const auto ticks_long = static_cast<std::int64_t>(nanoseconds / nanoseconds_per_tick());
  for (auto& place : places)
    if (std::int64_t until = place.load(std::memory_order_relaxed);
        until < now && place.compare_exchange_strong(until, now + ticks_long)) {
      place_ = &place;
      return;
    }
}

Place::~Place() {
  if (place_ != nullptr && !is_twin()) place_->store(0, std::memory_order_release);
}

QuietTime::QuietTime(transport::Quiet* quiet) : quiet_{quiet} {
  if (quiet_ != nullptr) place_.emplace(quiet_->until, kMostNs);
}

QuietTime::~QuietTime() {
  if (quiet_ == nullptr || is_twin()) return;
  place_.reset();
  quiet_->changes.fetch_add(1, std::memory_order_release);
  transport::futex_wake(quiet_->changes);
}

double QuietTime::cost_ns(std::int64_t cpu_ns, int cores) const {
  return static_cast<double>(cpu_ns) * (quiet_ == nullptr ? 1 : std::max(cores / 2.0, 1.0));
}

bool stand_aside(transport::Quiet& quiet) {
  for (bool waited = false;; waited = true) {
    const std::uint32_t changes = quiet.changes.load(std::memory_order_acquire);
    std::int64_t until = 0;
    for (const auto& place : quiet.until) until = std::max(until, place.load(std::memory_order_relaxed));
    if (until == 0) return waited;
    const std::int64_t left = until - ticks();
    if (left <= 0) return waited;
    transport::futex_wait(quiet.changes, changes,
                          static_cast<std::int64_t>(static_cast<double>(left) * nanoseconds_per_tick()));
  }
}

}  // namespace nplus1::stubs::twin
