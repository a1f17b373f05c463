#include "simnode/engine/threads.hpp"

#include <algorithm>
#include <optional>

#include "events/thread_change.hpp"
#include "simnode/engine/calls.hpp"
#include "simnode/engine/lanes.hpp"

namespace nplus1::simnode::engine {

using events::ThreadChange;

namespace {

bool is_idle(const Lane& lane) {
  return lane.run == Run::kBlocked && events::is_thread_change(lane.current, ThreadChange::kIdle);
}

/// When what the event waits for has come; none: not yet.
std::optional<Time> end_of(const Lane& joined, const events::Event& event) {
  if (event.aux > 0 && joined.idles >= event.aux) return joined.idle_since;
  if (joined.run == Run::kGone) return joined.clock;
  return std::nullopt;
}

}  // namespace

/// Another thread of the lane's rank; null where there is none of that number.
Lane* Threads::named_by(const Lane& lane, const events::Event& event) {
  Lane* const named = event.tag < 0 ? nullptr : lanes_.find(lane.rank, static_cast<std::size_t>(event.tag));
  return named == &lane ? nullptr : named;
}

Lane* Threads::creator_of(const Lane& lane, const events::Event& event) {
  return named_by(lane, event);
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

bool Threads::change(Lane& lane, const events::Event& event, Outcome& out) {
  switch (static_cast<ThreadChange>(event.operation)) {
    case ThreadChange::kJoin:
      return join(lane, event, out);
    case ThreadChange::kIdle:
      return idle(lane, event, out);
    case ThreadChange::kFork:
      fork(lane, event);
      return true;
    default:  // it has begun; or no change of threads at all
      return true;
  }
}

bool Threads::join(Lane& lane, const events::Event& event, Outcome& out) {
  const Lane* const joined = named_by(lane, event);
  if (joined == nullptr) return true;
  const auto end = end_of(*joined, event);
  if (end)
    out.exit = std::max(lane.entry, *end);
  else
    calls_.block(lane, event, {});
  return end.has_value();
}

bool Threads::idle(Lane& lane, const events::Event& event, Outcome& out) {
  ++lane.idles;
  lane.idle_since = lane.entry;
  release_joiners(lane);
  if (lane.forks > 0) {
    --lane.forks;
    out.exit = std::max(lane.entry, lane.forked);
    return true;
  }
  if (!lane.backlog.empty() && ends_idling(lane, lane.backlog.front())) return true;
  calls_.block(lane, event, {});
  return false;
}

void Threads::fork(Lane& forker, const events::Event& event) {
  Lane* const forked = named_by(forker, event);
  if (forked == nullptr || forked->run == Run::kGone) return;
  if (!is_idle(*forked)) {
    ++forked->forks;
    forked->forked = std::max(forked->forked, forker.entry);
    return;
  }
  Outcome& waking = calls_.waking();
  waking.exit = std::max(forked->entry, forker.entry);
  calls_.resume(*forked, waking);
}

bool Threads::ends_idling(const Lane& lane, const events::Event& event) {
  return event.kind == events::EventKind::kFinalize ||
         (events::is_thread_change(event, ThreadChange::kFork) && event.tag == lane.thread.value);
}

void Threads::end_idling(Lane& lane, const events::Event& event) {
  // With calls that are kept its turn comes when it is forked.
  if (!is_idle(lane) || !lane.backlog.empty() || !ends_idling(lane, event)) return;
  Outcome& waking = calls_.waking();
  waking.exit = lane.entry;
  calls_.resume(lane, waking);
}

void Threads::dismiss(const Lane& main) {
  const std::vector<std::uint32_t> lanes = lanes_.rank_of(main).lanes;
  for (const std::uint32_t i : lanes) {
    if (i == kNoLane || !is_idle(lanes_[i])) continue;
    Outcome& waking = calls_.waking();
    waking.exit = lanes_[i].entry;
    calls_.resume(lanes_[i], waking);
  }
}

/// By who has ended, or is idle.
void Threads::release_joiners(const Lane& ended) {
  const std::vector<std::uint32_t> lanes = lanes_.rank_of(ended).lanes;
  for (const std::uint32_t i : lanes) {
    if (i == kNoLane || lanes_[i].run != Run::kBlocked || lanes_[i].current.tag != ended.thread.value ||
        !events::is_thread_change(lanes_[i].current, ThreadChange::kJoin))
      continue;
    const auto end = end_of(ended, lanes_[i].current);
    if (!end) continue;
    Outcome& waking = calls_.waking();
    waking.exit = std::max(lanes_[i].entry, *end);
    calls_.resume(lanes_[i], waking);
  }
}

}  // namespace nplus1::simnode::engine
