#include "hypothesis/waitstates/collectives.hpp"

#include <algorithm>
#include <optional>

namespace nplus1::hypothesis {
namespace {

using events::EventKind;

const Partner kNobody{};

template <class Member>
Partner partner_of(WaitState state, const Member& late) {
  Partner partner;
  partner.state = state;
  partner.rank = late.rank;
  partner.at = partner.done = late.entry;
  partner.path = late.path;
  return partner;
}

/// Who of the members that `counts` came last; null if none counts.
template <class Member, class Counts>
const Member* last_of(const std::vector<Member>& members, Counts counts) {
  const Member* last = nullptr;
  for (const Member& member : members)
    if (counts(member) && (last == nullptr || member.entry > last->entry)) last = &member;
  return last;
}

template <class Member>
const Member* root_of(const std::vector<Member>& members, bool between_groups) {
  if (!between_groups) {
    const std::int32_t root = members.front().peer;
    return root >= 0 && static_cast<std::size_t>(root) < members.size()
               ? &members[static_cast<std::size_t>(root)]
               : nullptr;
  }
  for (const Member& member : members)
    if (member.peer == events::kIntercommRoot) return &member;
  return nullptr;
}

template <class Member, class Tell>
void settle_from_root(const std::vector<Member>& members, const Member& root, const Tell& tell) {
  const Partner partner = partner_of(WaitState::kLateBroadcast, root);
  for (const Member& member : members)
    tell(member.waiter, &member != &root && member.peer != kProcNull.value ? partner : kNobody);
}

template <class Member, class Tell>
void settle_to_root(const std::vector<Member>& members, const Member& root, const Tell& tell) {
  const auto contributes = [&](const Member& m) { return &m != &root && m.peer != kProcNull.value; };
  const Member* last = last_of(members, contributes);
  for (const Member& member : members)
    if (&member != &root || last == nullptr) tell(member.waiter, kNobody);
  if (last == nullptr) return;
  Partner partner = partner_of(WaitState::kEarlyReduce, *last);
  partner.first = last->entry;
  for (const Member& member : members)
    if (contributes(member)) partner.first = std::min(partner.first, member.entry);
  tell(root.waiter, partner);
}

template <class Member, class Tell>
void settle_prefix(const std::vector<Member>& members, const Tell& tell) {
  const Member* last = &members.front();
  for (const Member& member : members) {
    if (member.entry > last->entry) last = &member;
    tell(member.waiter, partner_of(WaitState::kEarlyScan, *last));
  }
}

template <class Member, class Tell>
void settle_neighbors(const std::vector<Member>& members, const Tell& tell) {
  for (const Member& member : members) {
    const Member* last = nullptr;
    for (const std::uint32_t source : member.sources)
      if (source < members.size() && (last == nullptr || members[source].entry > last->entry))
        last = &members[source];
    tell(member.waiter, last != nullptr ? partner_of(WaitState::kWaitAtNxN, *last) : kNobody);
  }
}

template <class Member, class Tell>
void settle_all(const std::vector<Member>& members, WaitState state, const Tell& tell) {
  Partner partner = partner_of(state, *last_of(members, [](const Member&) { return true; }));
  Time leaving = kNever;
  for (const Member& member : members) leaving = std::min(leaving, member.exit);
  partner.leaving = std::max(leaving, partner.at);
  for (const Member& member : members) tell(member.waiter, partner);
}

}  // namespace

enum class CollectiveCalls::Shape : std::uint8_t {
  kBarrier,
  kFence,
  kFromRoot,
  kToRoot,
  kPrefix,
  kNeighbors,
  kAll
};

CollectiveCalls::Shape CollectiveCalls::shape_of(const events::Event& event) {
  if (event.kind == EventKind::kWindowSync) return Shape::kFence;
  switch (event.collective()) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSynchronize:
      return Shape::kBarrier;
    case CollectiveKind::kBcast:
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterv:
      return Shape::kFromRoot;
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherv:
      return Shape::kToRoot;
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return Shape::kPrefix;
    case CollectiveKind::kNeighborAllgather:
    case CollectiveKind::kNeighborAlltoall:
      return Shape::kNeighbors;
    default:
      return Shape::kAll;
  }
}

CollectiveCalls::CollectiveCalls(std::size_t ranks) : communicators_(1) {
  communicators_[0].size = ranks;
  communicators_[0].calls.resize(ranks);
}

void CollectiveCalls::define(const events::Communicator& definition) {
  if (definition.id.value == 0) return;
  if (definition.id.index() >= communicators_.size()) communicators_.resize(definition.id.index() + 1);
  Communicator& communicator = communicators_[definition.id.index()];
  if (communicator.size != 0) return;  // told again
  communicator.size = definition.members.size();
  communicator.between_groups = definition.first_group != 0;
  communicator.calls.resize(communicator.size);
  for (std::size_t m = 0; m < communicator.size; ++m)
    communicator.index[definition.members[m].value] = static_cast<std::uint32_t>(m);
}

CollectiveCalls::Call& CollectiveCalls::next_call(Communicator& communicator, std::size_t member) {
  const std::uint64_t place = communicator.calls[member]++ - communicator.first_call;
  while (place >= communicator.in_progress.size()) {
    communicator.in_progress.emplace_back();
    communicator.in_progress.back().members.resize(communicator.size);
  }
  return communicator.in_progress[place];
}

bool CollectiveCalls::enter(const events::TimedEvent& timed, const Path& path, const Waiter& waiter,
                            const Tell& tell) {
  const events::Event& event = timed.event;
  if (event.comm.index() >= communicators_.size()) return false;
  Communicator& communicator = communicators_[event.comm.index()];
  std::size_t me = timed.rank.index();
  if (!communicator.index.empty()) {
    const auto found = communicator.index.find(timed.rank.value);
    if (found == communicator.index.end()) return false;
    me = found->second;
  }
  if (me >= communicator.size) return false;
  Call& call = next_call(communicator, me);
  Member& member = call.members[me];
  member = {
      true, event.peer, timed.rank, event.entry(), event.kind == EventKind::kCollective ? timed.exit : kNever,
      path, waiter,     {}};
  call.shape = shape_of(event);
  if (call.shape == Shape::kNeighbors && timed.extension.words.size() >= 2) {
    const auto words = timed.extension.words.subspan(2);
    member.sources.assign(
        words.begin(), words.begin() + std::min<std::ptrdiff_t>(timed.extension.words[0], std::ssize(words)));
  }
  if (++call.present < communicator.size) return true;
  settle(communicator, call, tell);
  call.members.clear();
  while (!communicator.in_progress.empty() && communicator.in_progress.front().present == communicator.size) {
    communicator.in_progress.pop_front();
    ++communicator.first_call;
  }
  return true;
}

void CollectiveCalls::settle(const Communicator& communicator, const Call& call, const Tell& tell) {
  const std::vector<Member>& members = call.members;
  Shape shape = call.shape;
  const bool rooted = shape == Shape::kFromRoot || shape == Shape::kToRoot;
  if (communicator.between_groups && !rooted) shape = Shape::kAll;  // priced as a synchronisation of both
  const Member* root = rooted ? root_of(members, communicator.between_groups) : nullptr;
  if (rooted && root == nullptr) {
    for (const Member& member : members) tell(member.waiter, kNobody);
    return;
  }
  switch (shape) {
    case Shape::kFromRoot:
      return settle_from_root(members, *root, tell);
    case Shape::kToRoot:
      return settle_to_root(members, *root, tell);
    case Shape::kPrefix:
      return settle_prefix(members, tell);
    case Shape::kNeighbors:
      return settle_neighbors(members, tell);
    case Shape::kFence:
      return settle_all(members, WaitState::kWaitAtFence, tell);
    case Shape::kBarrier:
      return settle_all(members, WaitState::kWaitAtBarrier, tell);
    case Shape::kAll:
      return settle_all(members, WaitState::kWaitAtNxN, tell);
  }
}

}  // namespace nplus1::hypothesis
