#include "simnode/engine/decisions.hpp"

#include <algorithm>

#include "simnode/engine/calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/files.hpp"
#include "simnode/engine/flow_transfers.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/one_sided.hpp"
#include "simnode/engine/point_to_point.hpp"
#include "simnode/engine/probes.hpp"
#include "simnode/engine/progress.hpp"
#include "simnode/engine/turns.hpp"

namespace nplus1::simnode::engine {

void Decisions::refresh() {
  std::vector<RankId>& touched = agenda_.touched();
  while (!touched.empty()) {
    for (std::size_t i = 0; i < touched.size(); ++i) refresh(touched[i]);
    touched.clear();
    calls_.drain();
  }
}

void Decisions::refresh(RankId rank) {
  Rank& r = lanes_.rank_of(rank);
  r.dirty = false;
  r.candidate.reset();
  if (r.mailbox.has_undecided()) r.candidate = r.mailbox.candidate();
  if (r.candidate)
    agenda_.plan_match(rank, r.candidate->at);
  else
    agenda_.drop_match(rank);
  if (r.probing == 0) return;
  for (const std::uint32_t i : r.lanes)
    if (i != kNoLane && lanes_[i].run == Run::kBlocked && looks_at_messages(lanes_[i].current))
      reconsider(lanes_[i]);
}

void Decisions::reconsider(Lane& lane) {
  if (lane.run != Run::kBlocked) return;
  bool certain = false;
  const std::optional<Time> when = looks_at_messages(lane.current)
                                       ? probes_.decision_time(lane, lane.current, certain)
                                       : Completions::decision_time(lane, lane.current, lane.tally, certain);
  if (certain) return decide_lane(lane);
  if (when)
    agenda_.plan(lane, *when);
  else
    agenda_.drop(lane);
}

void Decisions::decide_lane(Lane& lane) {
  agenda_.drop(lane);
  Outcome& waking = calls_.waking();
  if (looks_at_messages(lane.current)) {
    --lanes_.rank_of(lane).probing;
    probes_.conclude(lane, lane.current, waking);
  } else {
    completions_.conclude(lane, lane.current, lane.words, waking);
  }
  calls_.resume(lane, waking);
}

void Decisions::decide() {
  do refresh();
  while (make_one());
}

/// Whatever comes first in virtual time. False: nothing stands yet.
bool Decisions::make_one() {
  if (contention_ && advance_flows()) return true;
  if (decide_one_sided() || serve_storage() || wake_handshake()) return true;
  if (agenda_.empty() || files_.next() < agenda_.next() || !agenda_.safe(agenda_.first())) {
    if (!turns_.let_one_go_out_of_turn()) return false;
    calls_.drain();
    return true;
  }
  const Agenda::Item decision = agenda_.first();
  if (lanes_.outside_or_withdrawn() != 0) ++counters_.forced_decisions;
  make(decision);
  calls_.drain();
  return true;
}

/// Flows go on up to the earliest lane or decision that may start another. True if some ended.
bool Decisions::advance_flows() {
  const Time until =
      std::min({lanes_.running_bound(), agenda_.next(), one_sided_.next(), files_.next(), progress_.next()});
  if (!flows_.advance(until)) return false;
  calls_.drain();
  return true;
}

/// What comes first in virtual time stands, if nobody can act before. False: that cannot be said yet, or something else
/// comes first.
bool Decisions::decide_one_sided() {
  const Time at = one_sided_.next();
  if (at == kNever || std::min({agenda_.next(), files_.next(), progress_.next()}) < at ||
      lanes_.may_act_until(at))
    return false;
  if (lanes_.outside_or_withdrawn() != 0) ++counters_.forced_decisions;
  one_sided_.decide_next();
  calls_.drain();
  return true;
}

/// The earliest request to the storage is served, if nobody can make one before, or at the same time: ties go by rank.
/// False: that cannot be said yet, or something else comes first.
bool Decisions::serve_storage() {
  const Time at = files_.next();
  if (at == kNever || std::min({agenda_.next(), one_sided_.next(), progress_.next()}) <= at ||
      lanes_.may_be_at(at))
    return false;
  if (lanes_.outside_or_withdrawn() != 0) ++counters_.forced_decisions;
  files_.serve_next();
  calls_.drain();
  return true;
}

/// The earliest blocked lane that something waits for is still in its call at that time, if nobody can let it go
/// before. False: that cannot be said yet, or a decision comes first.
bool Decisions::wake_handshake() {
  const Time at = progress_.next();
  if (at == kNever || std::min({agenda_.next(), one_sided_.next(), files_.next()}) < at ||
      lanes_.may_act_until(at))
    return false;
  progress_.wake();
  calls_.drain();
  return true;
}

void Decisions::make(const Agenda::Item& decision) {
  const RankId rank = agenda_.rank_of(decision);
  Rank& r = lanes_.rank_of(rank);
  const bool match = agenda_.is_match(decision);
  Lane& lane =
      match ? lanes_[point_to_point_.lane_of(rank, r.candidate->receive_id)] : agenda_.lane_of(decision);
  r.decided_until = std::max(r.decided_until, decision.time);
  lane.decided_until = std::max(lane.decided_until, decision.time);
  if (!match) {
    decide_lane(lane);
    return agenda_.touch(rank);
  }
  agenda_.drop_match(rank);
  point_to_point_.decide(rank);
}

}  // namespace nplus1::simnode::engine
