#include "simnode/engine/threads.hpp"

#include <algorithm>

#include "events/thread_change.hpp"
#include "simnode/engine/calls.hpp"
#include "simnode/engine/lanes.hpp"

namespace nplus1::simnode::engine {

Lane* Threads::creator_of(const Lane& lane, const events::Event& event) {
  Lane* const creator = event.tag < 0 ? nullptr : lanes_.find(lane.rank, static_cast<std::size_t>(event.tag));
  return creator == &lane ? nullptr : creator;
}

Time Threads::start(Lane& lane, const events::Event& event, Time computed) {
  lane.fresh_clock = false;
  const Lane* creator = creator_of(lane, event);
  if (creator == nullptr) return std::max(computed, event.entry());
  const Time made = std::max(computed, creator->clock + Duration{static_cast<std::int64_t>(event.aux)});
  return trust_entry_ ? std::max(made, event.entry()) : made;
}

void Threads::bear(Lane& born, const events::Event& event) {
  if (born.run != Run::kBlocked) return;  // its rank died
  born.entry = calls_.entry_of(born, event);
  Outcome& waking = calls_.waking();
  waking.exit = born.entry;
  calls_.resume(born, waking);
}

bool Threads::join(Lane& lane, const events::Event& event, Outcome& out) {
  const Lane* const joined =
      event.tag < 0 ? nullptr : lanes_.find(lane.rank, static_cast<std::size_t>(event.tag));
  if (joined == nullptr || joined == &lane) return true;
  if (joined->run == Run::kGone) {
    out.exit = std::max(lane.entry, joined->clock);
    return true;
  }
  calls_.block(lane, event, {});
  return false;
}

void Threads::release_joiners(const Lane& ended) {
  const std::vector<std::uint32_t> lanes = lanes_.rank_of(ended).lanes;
  for (const std::uint32_t i : lanes) {
    if (i == kNoLane || lanes_[i].run != Run::kBlocked || lanes_[i].current.tag != ended.thread.value ||
        !events::is_thread_change(lanes_[i].current, events::ThreadChange::kJoin))
      continue;
    Outcome& waking = calls_.waking();
    waking.exit = std::max(lanes_[i].entry, ended.clock);
    calls_.resume(lanes_[i], waking);
  }
}

}  // namespace nplus1::simnode::engine
