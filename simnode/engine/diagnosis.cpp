// What the engine tells about itself: its state, who waits for whom, and what it counted.
#include <algorithm>

#include "simnode/engine/core.hpp"

namespace nplus1::simnode::engine {

using events::CompletionMode;
using events::EventKind;

State Core::state() {
  refresh();
  if (active_ + blocked_ == 0) return State::kFinished;
  if (waits_for_time()) return State::kWaiting;
  return active_ == 0 ? State::kAllBlocked : State::kRunning;
}

/// Whether something is decided when virtual time has come so far.
bool Core::waits_for_time() const {
  return !decisions_.empty() || !progress_.asleep.empty() || windows_.next_due() != kNever ||
         (contention_ && !contention_->idle());
}

std::optional<RankId> Core::awaited() {
  refresh();
  if (!waits_for_time() || running_bound() == kNever) return std::nullopt;
  return lanes_[running_.top().item].rank;
}

ThreadId Core::awaited_thread() {
  return awaited() ? lanes_[running_.top().item].thread : ThreadId{0};
}

std::size_t Core::outside_or_withdrawn() const {
  return outside_ + withdrawn_;
}

std::vector<BlockedThread> Core::blocked() {
  std::vector<BlockedThread> all;
  for (Lane& lane : lanes_)
    if (lane.run == Run::kBlocked) all.push_back(explain(lane));
  std::sort(all.begin(), all.end(), [](const BlockedThread& a, const BlockedThread& b) {
    return std::pair{a.rank, a.thread} < std::pair{b.rank, b.thread};
  });
  return all;
}

std::vector<BlockedThread> Core::outside() const {
  std::vector<BlockedThread> all;
  for (const Lane& lane : lanes_)
    if (lane.run == Run::kOutside) all.push_back({lane.rank, lane.thread, lane.current, {}, false, false});
  return all;
}

BlockedThread Core::explain(Lane& lane) {
  BlockedThread blocked{lane.rank, lane.thread, lane.current, {}, false, false};
  switch (lane.current.kind) {
    case EventKind::kSend:
      blocked.event.aux = 0;
      blocked.awaits.push_back(lane.current.peer_rank());
      blocked.rendezvous = lane.current.send_mode() != events::SendMode::kSynchronous;
      break;
    case EventKind::kRecv:
    case EventKind::kProbe:
    case EventKind::kIprobe:
      blocked.any_source = lane.current.peer_rank() == kAnySource;
      if (!blocked.any_source) blocked.awaits.push_back(lane.current.peer_rank());
      break;
    case EventKind::kCollective:
      blocked.awaits = collectives_.awaited(lane.current.comm, lane.rank, kLaneToken | index_of(lane));
      break;
    case EventKind::kWindowSync:
      blocked.awaits = window_awaits(lane);
      break;
    default:
      explain_requests(lane, blocked);
  }
  return blocked;
}

void Core::explain_requests(Lane& lane, BlockedThread& blocked) {
  for (const std::uint32_t id : lane.words) {
    Request* request = rank_of(lane).requests.find(RequestId{id});
    if (request == nullptr || request->known) continue;
    if (request->kind == Request::Kind::kCollective) {
      for (const RankId r : collectives_.awaited(request->pending().comm, lane.rank, id))
        blocked.awaits.push_back(r);
      continue;
    }
    if (request->kind == Request::Kind::kSend && !request->synchronous) blocked.rendezvous = true;
    if (request->pending().peer == kAnySource.value)
      blocked.any_source = true;
    else
      blocked.awaits.push_back(RankId{request->pending().peer});
  }
  std::sort(blocked.awaits.begin(), blocked.awaits.end());
  blocked.awaits.erase(std::unique(blocked.awaits.begin(), blocked.awaits.end()), blocked.awaits.end());
}

/// The earliest unmatched send that this blocked lane waits for and that a larger eager threshold would free.
std::optional<Core::Stuck> Core::stuck_send(Lane& lane) {
  std::optional<Stuck> earliest;
  const auto consider = [&](CommId comm, RankId destination, std::uint64_t sequence) {
    const Message* message = rank_of(destination).mailbox.find(comm.value, lane.rank, sequence);
    if (message == nullptr) return;
    const Stuck stuck{*message, destination, index_of(lane)};
    if (!earliest || stuck.before(*earliest)) earliest = stuck;
  };
  if (lane.current.kind == EventKind::kSend) {
    if (lane.current.send_mode() != events::SendMode::kSynchronous)
      consider(lane.current.comm, lane.current.peer_rank(), lane.current.aux);
    return earliest;
  }
  if (lane.current.kind != EventKind::kWait) return earliest;
  for (const std::uint32_t id : lane.words) {
    Request* request = rank_of(lane).requests.find(RequestId{id});
    if (request != nullptr && !request->known && request->kind == Request::Kind::kSend &&
        !request->synchronous)
      consider(request->pending().comm, RankId{request->pending().peer}, request->pending().sequence);
  }
  return earliest;
}

Counters Core::counters() const {
  Counters counters = counters_;
  if (contention_) counters.order_inversions += contention_->late();
  for (const Rank& rank : ranks_) {
    counters.unmatched_messages += rank.mailbox.waiting_messages();
    counters.unmatched_receives += rank.mailbox.waiting_receives();
  }
  return counters;
}

}  // namespace nplus1::simnode::engine
