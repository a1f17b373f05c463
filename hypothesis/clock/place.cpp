#include "hypothesis/clock/place.hpp"

namespace nplus1::hypothesis::clock {

Place Follower::before(RankId rank, const events::Event& event) {
  Last& last = last_[thread_number(rank, event)];
  const Kind kind{last.site, event.site.value, last.size};
  const std::uint16_t after = last.call;
  last = {event.site.value, event.size, event.call};
  auto& how_many = how_many_[kind];
  if (how_many.size() <= rank.index()) how_many.resize(rank.index() + 1);
  return {kind, how_many[rank.index()]++, after};
}

}  // namespace nplus1::hypothesis::clock
