#include "hypothesis/replay/adapted_calls.hpp"

#include <utility>

namespace nplus1::hypothesis {

AdaptedCalls::Lane& AdaptedCalls::lane_of(Place place) {
  std::vector<Lane>& lanes = ranks_[place.rank.index()].lanes;
  if (place.thread >= lanes.size()) lanes.resize(place.thread + std::size_t{1});
  return lanes[place.thread];
}

void AdaptedCalls::take(RankId rank, RecordedCall& call) {
  const Place place{rank, call.event.thread.value};
  if (call.event.kind == events::EventKind::kIrecv && call.event.peer_rank() == kAnySource) {
    call.event.flags |= events::kReportMatch;
    ranks_[rank.index()].sources.emplace(call.event.request.value, std::nullopt);
  }
  Rank& r = ranks_[rank.index()];
  if (place.thread != 0 && !r.threaded) leave_to_engine(rank);
  Lane& lane = lane_of(place);
  if (r.threaded) {
    call.event.compute_ps += std::exchange(lane.carried_ps, 0);
    return make_(rank, call);
  }
  if (lane.busy || lane.again || !lane.waiting.empty()) {
    lane.waiting.push_back(call);
    return;
  }
  lane.current = call;
  begin(place);
  while (go_on()) {
  }
}

/// The calls of its first thread go on as they are.
void AdaptedCalls::leave_to_engine(RankId rank) {
  ranks_[rank.index()].threaded = true;
  Lane& first = lane_of({rank, 0});
  first.busy = false;
  if (first.again) make_(rank, *std::exchange(first.again, std::nullopt));
  Waiting waiting = std::exchange(first.waiting, {});
  for (RecordedCall& call : waiting) {
    call.event.compute_ps += std::exchange(first.carried_ps, 0);
    make_(rank, call);
  }
}

/// `current` has its turn.
void AdaptedCalls::begin(Place place) {
  Lane& lane = lane_of(place);
  if (!ranks_[place.rank.index()].adaptation.adapt(lane.current)) {
    lane.carried_ps += lane.current.event.compute_ps;
    return wake(place);
  }
  lane.current.event.compute_ps += std::exchange(lane.carried_ps, 0);
  lane.busy = true;
  make_(place.rank, lane.current);
}

void AdaptedCalls::wake(Place place) {
  Lane& lane = lane_of(place);
  if (lane.ready) return;
  lane.ready = true;
  ready_.push_back(place);
}

void AdaptedCalls::came_out(const events::TimedEvent& event) {
  const Place place{event.rank, event.event.thread.value};
  Lane& lane = lane_of(place);
  if (!lane.busy || ranks_[event.rank.index()].threaded) return;
  outcome_.flag = event.answer.flag != 0;
  outcome_.completed.assign(event.completed.begin(), event.completed.end());
  outcome_.source = event.answer.source;
  outcome_.tag = event.answer.tag;
  outcome_.size = event.answer.size;
  outcome_.sequence = event.answer.sequence;
  outcome_.took = event.exit - event.event.entry();
  lane.busy = false;
  lane.again = ranks_[event.rank.index()].adaptation.came_out(lane.current, outcome_);
  wake(place);
}

bool AdaptedCalls::go_on() {
  if (ready_.empty()) return false;
  const Place place = ready_.back();
  ready_.pop_back();
  Lane& lane = lane_of(place);
  lane.ready = false;
  if (lane.busy) return true;
  if (lane.again) {
    lane.current = *std::exchange(lane.again, std::nullopt);
    lane.busy = true;
    make_(place.rank, lane.current);
  } else if (!lane.waiting.empty()) {
    lane.current = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    begin(place);
  }
  return true;
}

void AdaptedCalls::met(RankId receiver, const events::Answer& match) {
  auto& sources = ranks_[receiver.index()].sources;
  const auto place = sources.find(match.request.value);
  if (place == sources.end()) return;
  if (!place->second) {
    place->second = match.source;
    return;
  }
  if (*place->second != match.source) ++other_matches_;
  sources.erase(place);
}

AdaptationCounts AdaptedCalls::counts() const {
  AdaptationCounts sum;
  for (const Rank& rank : ranks_) {
    sum += rank.adaptation.counts();
    sum.threaded_ranks += rank.threaded ? 1 : 0;
  }
  sum.other_message += other_matches_;
  return sum;
}

}  // namespace nplus1::hypothesis
