#include "events/exchange/untimed_events.hpp"

#include <algorithm>
#include <utility>

#include "events/limits.hpp"

namespace nplus1::events::exchange {
void UntimedEvents::compute(RankId id, Duration time) {
  Duration& computed = ranks_[id.index()].compute;
  computed = sum_within(computed, std::min(time, kBeyond));
}

Event UntimedEvents::transfer(EventKind kind, MpiCall call, std::int32_t peer, std::int32_t tag,
                              std::int64_t size) {
  Event event;
  event.kind = kind;
  event.call = static_cast<std::uint16_t>(call);
  event.peer = peer;
  event.tag = tag;
  event.size = size;
  return event;
}

void UntimedEvents::emit(RankId id, Event event, const Extension& extension, Answer answer) {
  Rank& rank = ranks_[id.index()];
  event.compute_ps = std::exchange(rank.compute, Duration{}).count();
  rank.clock = Time{sum_within(rank.clock.time_since_epoch(), event.compute())};
  event.entry_ps = rank.clock.time_since_epoch().count();
  answer.kind = AnswerKind::kExit;
  answer.exit_ps = event.entry_ps;
  sink_.on_event({id, event, extension, rank.clock, answer, {}, nullptr, rank.ordinal++});
}

void UntimedEvents::send(RankId rank, std::int32_t to, std::int32_t tag, std::int64_t size) {
  emit(rank, transfer(EventKind::kSend, MpiCall::MPI_Send, to, tag, size));
}

void UntimedEvents::receive(RankId rank, std::int32_t from, std::int32_t tag, std::int64_t size) {
  Answer answer;
  answer.source = from;
  answer.tag = tag;
  answer.size = size;
  emit(rank, transfer(EventKind::kRecv, MpiCall::MPI_Recv, from, tag, size), {}, answer);
}

std::uint32_t UntimedEvents::start_send(RankId rank, std::int32_t to, std::int32_t tag, std::int64_t size) {
  Event event = transfer(EventKind::kIsend, MpiCall::MPI_Isend, to, tag, size);
  event.request = RequestId{++ranks_[rank.index()].requests};
  emit(rank, event);
  return event.request.value;
}

std::uint32_t UntimedEvents::start_receive(RankId rank, std::int32_t from, std::int32_t tag,
                                           std::int64_t size) {
  Event event = transfer(EventKind::kIrecv, MpiCall::MPI_Irecv, from, tag, size);
  event.request = RequestId{++ranks_[rank.index()].requests};
  emit(rank, event);
  if (from >= 0) {
    Answer match;
    match.kind = AnswerKind::kMatch;
    match.request = event.request;
    match.source = from;
    match.tag = tag;
    match.size = size;
    match.exit_ps = ranks_[rank.index()].clock.time_since_epoch().count();
    sink_.on_match(rank, match);
  }
  return event.request.value;
}

void UntimedEvents::wait(RankId rank, const std::vector<std::uint32_t>& requests) {
  Event event =
      transfer(EventKind::kWait, requests.size() == 1 ? MpiCall::MPI_Wait : MpiCall::MPI_Waitall, 0, 0, 0);
  event.aux = requests.size();
  emit(rank, event, {requests, {}});
}

void UntimedEvents::test(RankId rank, std::uint32_t request) {
  Event event = transfer(EventKind::kTest, MpiCall::MPI_Test, 0, 0, 0);
  event.aux = 1;
  emit(rank, event, {{&request, 1}, {}});
}

void UntimedEvents::collective(RankId rank, MpiCall call, CollectiveKind kind, std::int64_t size,
                               std::int32_t root, const std::vector<std::int64_t>& sizes) {
  Event event = transfer(EventKind::kCollective, call, root, 0, size);
  event.operation = static_cast<std::uint8_t>(kind);
  event.aux = sizes.size();
  if (!sizes.empty()) event.flags = kHasBytesPerMember;
  emit(rank, event, {{}, sizes});
}

void UntimedEvents::finalize(RankId rank) {
  emit(rank, transfer(EventKind::kFinalize, MpiCall::MPI_Finalize, 0, 0, 0));
}

}  // namespace nplus1::events::exchange
