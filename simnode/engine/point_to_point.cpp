#include "simnode/engine/point_to_point.hpp"

#include <algorithm>
#include <utility>

#include "events/meeting.hpp"
#include "semantics/timing.hpp"
#include "simnode/engine/agenda.hpp"
#include "simnode/engine/calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/flow_transfers.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/probes.hpp"
#include "simnode/engine/progress.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;
using events::SendMode;

namespace {

void describe(const semantics::Message& message, events::Answer& answer) {
  answer.source = message.source.value;
  answer.tag = message.tag;
  answer.sequence = message.sequence;
  answer.size = count(message.size);
}

void describe_nobody(events::Answer& answer) {
  answer.source = kProcNull.value;
  answer.tag = kAnyTag;
}

}  // namespace

PointToPoint::PointToPoint(const Parts& parts)
    : network_{parts.network},
      lanes_{parts.lanes},
      agenda_{parts.agenda},
      calls_{parts.calls},
      completions_{parts.completions},
      probes_{parts.probes},
      progress_{parts.progress},
      flows_{parts.flows},
      listener_{parts.listener},
      counters_{parts.counters},
      contention_{parts.contention != nullptr},
      report_all_matches_{parts.options.report_all_matches} {}

std::uint32_t PointToPoint::lane_of(RankId rank, Token token) {
  if (is_of_lane(token)) return lane_in(token);
  const Request* request = lanes_.rank_of(rank).requests.find(request_in(token));
  return lanes_.index_of(lanes_.of(rank, ThreadId{request == nullptr ? std::uint16_t{0} : request->thread}));
}

/// Which of the rank's messages to its destination this is.
inline std::uint64_t PointToPoint::number_of(Lane& lane, const events::Event& event) {
  if (numbered_ == 0) [[likely]]
    return lanes_.rank_of(lane).sequences.next(event.peer_rank());
  return std::exchange(numbered_, 0) - 1;
}

bool PointToPoint::send(Lane& lane, const events::Event& event, Outcome& out) {
  const bool immediate = event.kind == EventKind::kIsend;
  const bool to_nobody = event.peer_rank() == kProcNull;
  if (!to_nobody) {
    lanes_.rank_of(event.peer_rank());  // must exist, before anything changes
    lanes_.approach(event.peer_rank());
  }
  if (immediate) completions_.add(lane, event, Request::Kind::kSend);
  if (to_nobody) {
    if (immediate) completions_.complete(lane.rank, event.request, lane.entry, {});
    return true;
  }
  semantics::Message message{event.comm.value,       lane.rank, event.tag,           event.payload(),
                             number_of(lane, event), {},        event.request.value, false};
  out.answer.sequence = message.sequence;
  lane.poll.reset();
  if (contention_) {
    flows_.send(lane, event, message, out);
    return false;
  }
  if (is_eager(network_, event)) {
    const semantics::EagerSend sent = semantics::send_eager(
        network_, lane.entry, lane.rank, event.peer_rank(), message.size, lane.interface_free);
    message.at = sent.arrival;
    out.exit = sent.sender_free;
    lanes_.approach_tables(event.peer_rank(), message);
    if (immediate) completions_.complete(lane.rank, event.request, sent.sender_free, {});
    calls_.finish(lane, event, {}, out);  // told before its receive
    deliver(event.peer_rank(), message);
    return false;
  }
  message.rendezvous = true;
  message.at = out.exit = semantics::rendezvous_ready(network_, lane.entry, message.size);
  send_rendezvous(lane, event, message, out);
  return false;
}

void PointToPoint::send_rendezvous(Lane& lane, const events::Event& event, semantics::Message& message,
                                   Outcome& out) {
  if (event.kind == EventKind::kIsend) {
    lanes_.rank_of(lane).requests.find(event.request)->pending().sequence = message.sequence;
    calls_.finish(lane, event, {}, out);
  } else {
    message.user = token_of_lane(lanes_.index_of(lane));
    calls_.block(lane, event, {});
    lane.current.aux = message.sequence;
  }
  deliver(event.peer_rank(), message);
}

void PointToPoint::deliver(RankId destination, const semantics::Message& message) {
  Rank& rank = lanes_.rank_of(destination);
  if (rank.mailbox.visible(message) < rank.decided_until) ++counters_.order_inversions;
  if (const auto receive = rank.mailbox.arrive(message))
    matched(destination, *receive, message);
  else
    agenda_.touch(destination);
}

bool PointToPoint::receive(Lane& lane, const events::Event& event, Outcome& out) {
  const bool immediate = event.kind == EventKind::kIrecv;
  if (immediate) completions_.add(lane, event, Request::Kind::kReceive);
  lane.poll.reset();
  // Whom one receives from, one often sends to.
  if (immediate) lanes_.approach(event.peer_rank());
  if (event.peer_rank() == kProcNull) {
    describe_nobody(out.answer);
    if (immediate) completions_.complete(lane.rank, event.request, lane.entry, {});
    return true;
  }
  if (immediate)
    calls_.finish(lane, event, {}, out);  // told before its match
  else
    calls_.block(lane, event, {});
  if (event.has(events::kMatched)) {
    receive_taken(lane, event);
    return false;
  }
  const std::uint64_t id = immediate ? event.request.value : token_of_lane(lanes_.index_of(lane));
  post(lane.rank, {event.comm.value, event.peer_rank(), event.tag, id, lane.entry});
  return false;
}

void PointToPoint::post(RankId receiver, const semantics::Receive& receive) {
  Rank& rank = lanes_.rank_of(receiver);
  if (receive.source == kAnySource) {
    rank.mailbox.post_undecided(receive);
    agenda_.touch(receiver);
  } else if (const auto message = rank.mailbox.post(receive)) {
    matched(receiver, receive, *message);
    agenda_.touch(receiver);
  }
}

bool PointToPoint::is_of_probe(const semantics::Receive& receive) const {
  if (!is_of_lane(receive.id)) return false;
  const Lane& lane = lanes_[lane_in(receive.id)];
  return lane.current.kind == EventKind::kProbe && lane.run == Run::kBlocked;
}

/// The receive of a message that a matching probe took. An unknown one counts as there already.
void PointToPoint::receive_taken(Lane& lane, const events::Event& event) {
  const bool immediate = event.kind == EventKind::kIrecv;
  auto& taken = lanes_.rank_of(lane).taken;
  const auto it = taken.find({event.peer_rank(), event.aux});
  semantics::Message message{event.comm.value, event.peer_rank(), event.tag, event.payload(),
                             event.aux,        lane.entry,        0,         false};
  if (it != taken.end()) {
    message = it->second;
    taken.erase(it);
  } else {
    ++counters_.order_inversions;
  }
  const std::uint64_t id = immediate ? event.request.value : token_of_lane(lanes_.index_of(lane));
  matched(lane.rank, {message.comm, message.source, message.tag, id, lane.entry}, message);
}

Time PointToPoint::transferred(RankId receiver, const semantics::Receive& receive,
                               const semantics::Message& message) {
  if (!message.rendezvous) return std::max(message.at, receive.posted);
  const Time end =
      semantics::rendezvous_end(network_, message.at, receive.posted, message.source, receiver, message.size);
  complete(message.source, message.user, end);
  return end;
}

void PointToPoint::matched(RankId receiver, const semantics::Receive& receive,
                           const semantics::Message& message) {
  if (is_of_probe(receive)) return probes_.matched(receiver, receive, message);
  const bool handshake = progress_.needed_by(message);
  if (handshake || contention_) report_meeting(receiver, receive, message);
  if (handshake) return progress_.shake_hands(receiver, receive, message);
  if (contention_) return flows_.start(receiver, receive, message);
  arrived(receiver, receive, message, transferred(receiver, receive, message));
}

void PointToPoint::arrived(RankId receiver, const semantics::Receive& receive,
                           const semantics::Message& message, Time at, Duration held_up) {
  const Duration overhead = network_.receive_overhead(message.size);
  if (!is_of_lane(receive.id)) {
    const RequestId id{static_cast<std::uint32_t>(receive.id)};
    const Request* request = lanes_.rank_of(receiver).requests.find(id);
    if (request != nullptr && (request->report_match || report_all_matches_))
      report_match(receiver, ThreadId{request->thread}, request->report_match, id, message, at);
    return completions_.complete(receiver, id, at, overhead, held_up);
  }
  Lane& lane = lanes_[lane_in(receive.id)];
  if (lane.run != Run::kBlocked) return;
  if (lane.current.has(events::kReportMatch))
    report_match(receiver, lane.thread, true, lane.current.request, message, at);
  Outcome& waking = calls_.waking();
  describe(message, waking.answer);
  waking.answer.request = lane.current.request;
  waking.answer.aux = static_cast<std::uint64_t>(held_up.count());
  waking.exit = std::max(lane.entry, at) + overhead;
  calls_.resume(lane, waking);
}

void PointToPoint::report_match(RankId receiver, ThreadId thread, bool asked, RequestId request,
                                const semantics::Message& message, Time at) {
  events::Answer answer;
  answer.flag = asked ? 1 : 0;
  answer.kind = events::AnswerKind::kMatch;
  answer.thread = thread;
  answer.request = request;
  answer.exit_ps = at.time_since_epoch().count();
  describe(message, answer);
  listener_.on_match(receiver, answer);
}

/// The rank posts the receive natively from here on: messages of one source must be received in their order, also where
/// a later one arrives first.
void PointToPoint::report_meeting(RankId receiver, const semantics::Receive& receive,
                                  const semantics::Message& message) {
  events::Answer answer;
  answer.kind = events::AnswerKind::kMatch;
  answer.flag = events::kOnItsWay;
  describe(message, answer);
  if (!is_of_lane(receive.id)) {
    answer.request = request_in(receive.id);
    const Request* request = lanes_.rank_of(receiver).requests.find(answer.request);
    if (request == nullptr || !request->report_match) return;
    answer.thread = ThreadId{request->thread};
  } else {
    const Lane& lane = lanes_[lane_in(receive.id)];
    if (lane.run != Run::kBlocked || !lane.current.has(events::kReportMatch)) return;
    answer.request = lane.current.request;
    answer.thread = lane.thread;
  }
  listener_.on_meeting(receiver, answer);
}

void PointToPoint::complete(RankId rank, Token token, Time at, Duration held_up) {
  if (!is_of_lane(token)) return completions_.complete(rank, request_in(token), at, {}, held_up);
  Lane& lane = lanes_[lane_in(token)];
  Outcome& waking = calls_.waking();
  waking.exit = at;
  waking.answer.aux = static_cast<std::uint64_t>(held_up.count());
  if (lane.current.kind == EventKind::kSend) std::swap(waking.answer.sequence, lane.current.aux);
  calls_.resume(lane, waking);
}

void PointToPoint::decide(RankId receiver) {
  Rank& rank = lanes_.rank_of(receiver);
  rank.mailbox.decide(*rank.candidate, settled_);
  keep_order(receiver);
  settle(receiver);
}

/// A message that its sender sent after a longer one may be there earlier, but is received after it. It meets its receive
/// when that one has: its sender would else go on at a time before which everything has been decided. Between threads
/// there is no such order: which of two threads' receives was decided first may be the machine's.
void PointToPoint::keep_order(RankId receiver) {
  for (semantics::Match& match : settled_) {
    const Time decided = lanes_[lane_of(receiver, match.receive.id)].decided_until;
    if (lanes_.rank_of(receiver).mailbox.visible(match.message) < decided)
      match.receive.posted = std::max(match.receive.posted, decided);
  }
}

/// What the mailbox matched when a decision or a cancellation let held receives go.
void PointToPoint::settle(RankId receiver) {
  for (std::size_t i = 0; i < settled_.size(); ++i) {
    const semantics::Match match = settled_[i];
    matched(receiver, match.receive, match.message);
  }
  settled_.clear();
  agenda_.touch(receiver);
}

bool PointToPoint::cancelled(Lane& lane, const events::Event& event, Outcome& out) {
  out.exit = lane.entry;
  const Request* known = lanes_.rank_of(lane).requests.find(event.request);
  if (known != nullptr && known->kind == Request::Kind::kSend) {
    if (!lanes_.rank_of(event.peer_rank()).mailbox.take(event.comm.value, lane.rank, event.aux))
      ++counters_.order_inversions;
    completions_.complete(lane.rank, event.request, lane.entry, {});
    agenda_.touch(event.peer_rank());
    return true;
  }
  if (lanes_.rank_of(lane).mailbox.cancel(event.request.value, settled_))
    completions_.complete(lane.rank, event.request, lane.entry, {});
  else if (const Request* request = lanes_.rank_of(lane).requests.find(event.request); request != nullptr)
    ++counters_.order_inversions;  // the engine had matched it already
  settle(lane.rank);
  return true;
}

}  // namespace nplus1::simnode::engine
