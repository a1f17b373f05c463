#include "hypothesis/clock/warm_clock.hpp"

#include <utility>

#include "events/limits.hpp"

namespace nplus1::hypothesis::clock {

WarmClock::WarmClock(std::shared_ptr<const Stretches> stretches, Estimate estimate)
    : stretches_{std::move(stretches)}, estimate_{estimate} {}

void WarmClock::change(RankId rank, std::uint64_t ordinal, transform::Call& call) {
  const Place place = follower_.before(rank, call.event);
  if (call.event.compute_ps <= 0) return;
  const auto cold = static_cast<double>(call.event.compute_ps);
  call.event.compute_ps =
      events::rounded_within(stretches_->warm(place, rank, ordinal, cold, estimate_)).count();
}

}  // namespace nplus1::hypothesis::clock
