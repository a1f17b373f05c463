#include "simnode/engine/lanes.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace nplus1::simnode::engine {
namespace {

/// Whether its rank sleeps until something is decided; a collective's last member speaks up by itself.
bool asks(const events::Event& event) {
  return event.has(events::kNeedsAnswer) && event.kind != events::EventKind::kCollective;
}

}  // namespace

Lanes::Lanes(int ranks, Duration latency, const semantics::PollCost& poll_cost)
    : latency_{latency}, poll_cost_{poll_cost} {
  const auto n = static_cast<std::size_t>(ranks);
  ranks_.reserve(n);
  lanes_.reserve(n);
  for (std::int32_t r = 0; r < ranks; ++r) {
    ranks_.emplace_back(latency_);
    add(RankId{r}, ThreadId{0});
  }
}

void Lanes::reject(RankId rank) const {
  throw std::invalid_argument("event names rank " + std::to_string(rank.value) + " of a world of " +
                              std::to_string(ranks_.size()));
}

Lane& Lanes::add(RankId rank, ThreadId thread) {
  const auto index = static_cast<std::uint32_t>(lanes_.size());
  Lane& lane = lanes_.emplace_back();
  lane.rank = rank;
  lane.thread = thread;
  lane.poll = poll_cost_;
  Rank& home = ranks_[rank.index()];
  std::vector<std::uint32_t>& lanes = home.lanes;
  if (!home.order && !lanes.empty()) {
    home.order = std::make_unique<StreamOrder>();
    const std::uint32_t first = lanes.front();
    lanes_[first].backlog.each([&](const events::Event& kept) { home.order->keep(first, kept); });
  }
  if (thread.index() >= lanes.size()) lanes.resize(thread.index() + 1, kNoLane);
  lanes[thread.index()] = index;
  ++active_;
  running_.set(index, lane.clock, 0);
  return lane;
}

Lane& Lanes::of_thread(RankId rank, ThreadId thread) {
  rank_of(rank);  // must exist
  Lane* const known = find(rank, thread.index());
  return known != nullptr ? *known : add(rank, thread);
}

void Lanes::set_run(Lane& lane, Run run) {
  if (lane.run == run) return;
  const auto counter = [this](Run r) -> std::size_t* {
    if (r == Run::kGone || r == Run::kSilent) return nullptr;
    return r == Run::kBlocked ? &blocked_ : &active_;
  };
  if (std::size_t* count = counter(lane.run)) --*count;
  if (std::size_t* count = counter(run)) ++*count;
  if (lane.run == Run::kOutside) --outside_;
  if (run == Run::kOutside) ++outside_;
  if (lane.run == Run::kBlocked && asks(lane.current)) --asking_;
  if (run == Run::kBlocked && asks(lane.current)) ++asking_;
  lane.run = run;
  // A stale entry of a lane that was blocked meanwhile is early, never late: it may stay.
  if (run == Run::kRunning && !running_.contains(index_of(lane))) running_.set(index_of(lane), lane.clock, 0);
}

void Lanes::set_bound(RankId rank, Time time, ThreadId thread) {
  rank_of(rank);  // must exist
  Lane* lane = find(rank, thread.index());
  if (lane == nullptr && thread.value != 0) return;
  if (lane == nullptr) lane = &lanes_[rank.index()];
  lane->bound = std::max(lane->bound, time);
}

void Lanes::withdraw(RankId rank) {
  Rank& r = rank_of(rank);
  if (!r.withdrawn) ++withdrawn_;
  r.withdrawn = true;
  for (const std::uint32_t i : r.lanes)
    if (i != kNoLane && lanes_[i].unheard && lanes_[i].run == Run::kRunning) set_run(lanes_[i], Run::kSilent);
}

void Lanes::no_longer_withdrawn(Rank& rank) {
  if (rank.withdrawn) --withdrawn_;
  rank.withdrawn = false;
}

void Lanes::is_back(Rank& rank) {
  no_longer_withdrawn(rank);
  for (const std::uint32_t i : rank.lanes)
    if (i != kNoLane && lanes_[i].run == Run::kRunning) running_.set(i, lanes_[i].clock, 0);
}

/// Entries are brought up to date only when they matter.
Time Lanes::running_bound() {
  while (!running_.empty()) {
    const IndexedHeap::Entry top = running_.top();
    const Lane& lane = lanes_[top.item];
    if (lane.run != Run::kRunning || rank_of(lane).withdrawn) {
      running_.erase(top.item);
      continue;
    }
    const Time bound = std::max(lane.clock, lane.bound);
    if (bound == top.time) return bound;
    running_.set(top.item, bound, 0);
  }
  return kNever;
}

void Lanes::woke(const Lane& lane) {
  Rank& rank = rank_of(lane);
  rank.mailbox.approach();
  rank.sequences.approach();
  if (!rank.woken) woken_.push_back(lane.rank);
  rank.woken = true;
}

std::optional<RankId> Lanes::next_woken() {
  if (woken_.empty()) return std::nullopt;
  const RankId rank = woken_.back();
  woken_.pop_back();
  rank_of(rank).woken = false;
  return rank;
}

Time Lanes::clock(RankId rank) const {
  Time latest = kTimeZero;
  for (const std::uint32_t i : ranks_.at(rank.index()).lanes)
    if (i != kNoLane) latest = std::max(latest, lanes_[i].clock);
  return latest;
}

Time Lanes::clock(RankId rank, ThreadId thread) const {
  const std::vector<std::uint32_t>& lanes = ranks_.at(rank.index()).lanes;
  const bool known = thread.index() < lanes.size() && lanes[thread.index()] != kNoLane;
  return known ? lanes_[lanes[thread.index()]].clock : kTimeZero;
}

bool Lanes::ready(RankId rank) const {
  const auto takes_events = [](const Lane& lane) {
    return lane.run != Run::kBlocked && lane.run != Run::kGone && !lane.waits_turn;
  };
  if (takes_events(lanes_[rank.index()])) return true;  // thread 0
  const std::vector<std::uint32_t>& lanes = ranks_.at(rank.index()).lanes;
  return lanes.size() > 1 && std::any_of(lanes.begin() + 1, lanes.end(), [&](std::uint32_t i) {
           return i != kNoLane && takes_events(lanes_[i]);
         });
}

}  // namespace nplus1::simnode::engine
