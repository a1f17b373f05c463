#include "stubs/runtime/requests/collective_ends.hpp"

#include <algorithm>
#include <utility>

namespace nplus1::stubs {
namespace {

/// Never 0, which is in the memory at first.
std::uint64_t name_of(std::uint64_t key, std::uint64_t number) {
  std::uint64_t name = (key + 0x9e3779b97f4a7c15U * (number + 1)) * 0xbf58476d1ce4e5b9U;
  name ^= name >> 31U;
  return name == 0 ? 1 : name;
}

}  // namespace

void CollectiveEnds::begin(const netmodel::NetworkModel& network, netmodel::Selection selection, RankId me,
                           const transport::Segment& segment) {
  network_ = &network;
  selection_ = std::move(selection);
  me_ = me;
  segment_ = segment;
}

void CollectiveEnds::enter(std::uint64_t key, std::uint64_t number, std::span<const std::int32_t> members,
                           netmodel::CollectiveCall call, Time entry) {
  call_ = name_of(key, number);
  entry_ = entry;
  transport::CollectiveSlot& mine = slot(me_.value);
  mine.entry_ps.store(entry.time_since_epoch().count(), std::memory_order_relaxed);
  mine.call.store(call_, std::memory_order_seq_cst);
  if (all_have_entered(members)) tell_all(members, call);
}

/// At least the last sees all: each says that it has come before it looks. Two may, and then say the same.
bool CollectiveEnds::all_have_entered(std::span<const std::int32_t> members) const {
  return std::all_of(members.begin(), members.end(), [this](std::int32_t rank) {
    return slot(rank).call.load(std::memory_order_seq_cst) == call_;
  });
}

/// Nobody leaves before this member has entered MPI's form, so what the others have said stands.
void CollectiveEnds::tell_all(std::span<const std::int32_t> members, netmodel::CollectiveCall call) {
  ranks_.clear();
  for (const std::int32_t rank : members) ranks_.push_back(RankId{rank});
  lanes_.resize(members.size());
  transfers_.clear(members.size());
  runnable_.clear();
  call.members = static_cast<std::int32_t>(members.size());
  for (call.me = 0; call.me < call.members; ++call.me) {
    semantics::ScheduleLane& lane = lanes_[static_cast<std::size_t>(call.me)];
    lane.steps.clear();
    lane.sent = lane.done = false;
    netmodel::append_steps(call, selection_, lane.steps);
    const std::int64_t entry =
        slot(members[static_cast<std::size_t>(call.me)]).entry_ps.load(std::memory_order_relaxed);
    lane.enter(Time{Duration{entry}} + selection_.copying(call));
    runnable_.push_back(call.me);
  }
  semantics::ScheduleLanes<semantics::ScheduleLane> lanes{*network_, &selection_, ranks_,
                                                          lanes_,    transfers_,  runnable_};
  while (!runnable_.empty()) {
    const std::int32_t next = runnable_.back();
    runnable_.pop_back();
    semantics::ScheduleLane& lane = lanes_[static_cast<std::size_t>(next)];
    lane.done = lane.done || lanes.advance(next);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!lanes_[i].done) continue;
    transport::CollectiveSlot& theirs = slot(members[i]);
    theirs.exit_ps.store(lanes_[i].clock.time_since_epoch().count(), std::memory_order_relaxed);
    theirs.told.store(call_, std::memory_order_release);
  }
}

/// What stands there is believed only as far as it can be true.
std::optional<Time> CollectiveEnds::exit() const {
  const transport::CollectiveSlot& mine = slot(me_.value);
  if (mine.told.load(std::memory_order_acquire) != call_) return std::nullopt;
  const Time exit{Duration{mine.exit_ps.load(std::memory_order_relaxed)}};
  return exit >= entry_ ? std::optional{exit} : std::nullopt;
}

}  // namespace nplus1::stubs
