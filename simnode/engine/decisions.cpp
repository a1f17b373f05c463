// What depends on who is first: decided in virtual time, earliest first, once nobody can still act before it.
#include <algorithm>

#include "simnode/engine/core.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

namespace {

/// One that looks at what waits; MPI_Mprobe waits among the receives.
bool is_probe(const events::Event& event) {
  return event.kind == EventKind::kIprobe || (event.kind == EventKind::kProbe && !waits_for_its_own(event));
}

}  // namespace

/// Among equal times: any-source matches first, then lanes, both by rank.
std::uint64_t Core::tie_of(const Lane& lane) const {
  return (std::uint64_t{1} << 48U) | (std::uint64_t{lane.rank.index()} << 16U) | lane.thread.value;
}

/// The mailbox of `rank` changed: what is decided there has to be computed anew.
void Core::touch(RankId rank) {
  Rank& r = rank_of(rank);
  const bool matters = r.mailbox.has_undecided() || r.candidate || r.probing != 0;
  if (r.dirty || !matters) return;
  r.dirty = true;
  dirty_.push_back(rank);
}

void Core::refresh() {
  while (!dirty_.empty()) {
    for (std::size_t i = 0; i < dirty_.size(); ++i) refresh_rank(dirty_[i]);
    dirty_.clear();
    drain();
  }
}

void Core::refresh_rank(RankId rank) {
  Rank& r = rank_of(rank);
  r.dirty = false;
  r.candidate.reset();
  if (r.mailbox.has_undecided()) r.candidate = r.mailbox.candidate();
  const auto decision = static_cast<std::uint32_t>(rank.index());
  if (r.candidate)
    decisions_.set(decision, r.candidate->at, rank.index());
  else
    decisions_.erase(decision);
  if (r.probing == 0) return;
  for (const std::uint32_t i : r.lanes)
    if (i != kNoLane && lanes_[i].run == Run::kBlocked && is_probe(lanes_[i].current)) reconsider(lanes_[i]);
}

/// A blocked wait, test or probe knows more than before.
void Core::reconsider(Lane& lane) {
  if (lane.run != Run::kBlocked) return;
  bool certain = false;
  const std::optional<Time> when = is_probe(lane.current)
                                       ? probe_decision_time(lane, lane.current, certain)
                                       : decision_time(lane, lane.current, lane.tally, certain);
  if (certain) return decide_lane(lane);
  if (when)
    decisions_.set(decision_of(lane), *when, tie_of(lane));
  else
    decisions_.erase(decision_of(lane));
}

void Core::decide_lane(Lane& lane) {
  decisions_.erase(decision_of(lane));
  waking_.reset();
  if (is_probe(lane.current)) {
    --rank_of(lane).probing;
    conclude_probe(lane, lane.current, waking_);
  } else {
    conclude(lane, lane.current, lane.words, waking_);
  }
  resume(lane, waking_);
}

/// No running lane acts before this; kNever if none runs. Entries are brought up to date only when they
/// matter.
Time Core::running_bound() {
  while (!running_.empty()) {
    const IndexedHeap::Entry top = running_.top();
    const Lane& lane = lanes_[top.item];
    const Rank& rank = rank_of(lane);
    if (lane.run != Run::kRunning || rank.withdrawn) {
      running_.erase(top.item);
      continue;
    }
    const Time bound = std::max(lane.clock, lane.bound);
    if (bound == top.time) return bound;
    running_.set(top.item, bound, 0);
  }
  return kNever;
}

bool Core::safe(const IndexedHeap::Entry& decision) {
  const Time bound = running_bound();
  if (bound == kNever) return true;
  if (bound + latency_ <= decision.time) return false;
  // The rank's own threads post receives and probe without any latency: they must have come this far.
  const Rank& rank = ranks_[rank_of_decision(decision).index()];
  return std::all_of(rank.lanes.begin(), rank.lanes.end(), [&](std::uint32_t i) {
    if (i == kNoLane || lanes_[i].run != Run::kRunning || rank.withdrawn) return true;
    return std::max(lanes_[i].clock, lanes_[i].bound) >= decision.time;
  });
}

RankId Core::rank_of_decision(const IndexedHeap::Entry& decision) const {
  if (decision.item < ranks_.size()) return RankId{static_cast<std::int32_t>(decision.item)};
  return lanes_[decision.item - ranks_.size()].rank;
}

void Core::decide() {
  for (refresh();; refresh()) {
    if (contention_ && advance_flows()) continue;
    if (decide_one_sided()) continue;
    if (wake_handshake()) continue;
    if (decisions_.empty() || !safe(decisions_.top())) {
      if (let_go_out_of_turn()) continue;
      return;
    }
    const IndexedHeap::Entry decision = decisions_.top();
    if (outside_or_withdrawn() != 0) ++counters_.forced_decisions;
    make(decision);
    drain();
  }
}

void Core::make(const IndexedHeap::Entry& decision) {
  const bool match = decision.item < ranks_.size();
  const RankId rank = rank_of_decision(decision);
  Rank& r = rank_of(rank);
  Lane& lane = lanes_[match ? lane_of_token(rank, r.candidate->receive_id) : decision.item - ranks_.size()];
  r.decided_until = std::max(r.decided_until, decision.time);
  lane.decided_until = std::max(lane.decided_until, decision.time);
  if (!match) {
    decide_lane(lane);
    return touch(rank);
  }
  decisions_.erase(decision.item);
  r.mailbox.decide(*r.candidate, settled_);
  keep_order(rank);
  settle(rank);
}

/// A message that its sender sent after a longer one may be there earlier, but is received after it. It meets its receive
/// when that one has: its sender would else go on at a time before which everything has been decided. Between threads
/// there is no such order: which of two threads' receives was decided first may be the machine's.
void Core::keep_order(RankId receiver) {
  for (semantics::Match& match : settled_) {
    const Time decided = lanes_[lane_of_token(receiver, match.receive.id)].decided_until;
    if (rank_of(receiver).mailbox.visible(match.message) < decided)
      match.receive.posted = std::max(match.receive.posted, decided);
  }
}

/// The earliest unmatched send that only the network model's rendezvous holds back goes through as if eager.
bool Core::release_rendezvous(bool whatever_runs) {
  if (!whatever_runs && state() != State::kAllBlocked) return false;
  std::optional<Stuck> earliest;
  for (Lane& lane : lanes_) {
    if (lane.run != Run::kBlocked) continue;
    const std::optional<Stuck> stuck = stuck_send(lane);
    if (stuck && (!earliest || stuck->before(*earliest))) earliest = stuck;
  }
  if (!earliest) return false;
  ++counters_.relies_on_buffering;
  Message message = earliest->message;
  const Time ready = message.at;
  const std::uint64_t token = message.user;
  Lane& lane = lanes_[earliest->lane];
  if (contention_) {
    message.user = 0;  // it travels when it meets its receive, and nobody waits for that
  } else {
    message.rendezvous = false;
    const Time entry = ready - network_.send_overhead(message.size);
    message.at = semantics::send_eager(network_, entry, message.source, earliest->destination, message.size,
                                       lane.interface_free)
                     .arrival;
  }
  rank_of(earliest->destination).mailbox.update(message);
  complete_token(message.source, token, ready);
  touch(earliest->destination);
  drain();
  return true;
}

}  // namespace nplus1::simnode::engine
