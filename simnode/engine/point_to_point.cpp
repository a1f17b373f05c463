// Sends, receives and their matches. Matching never looks at arrival times except for any-source decisions,
// so a network that learns arrivals later than the send has one place to hook into: transferred().
#include <algorithm>
#include <utility>

#include "events/meeting.hpp"
#include "simnode/engine/core.hpp"

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

/// Asks for a rank that a message will go to; its tables can be asked for when it is there (approach_tables).
void Core::approach(const Rank& rank) const {
  prefetch_lines<4>(&rank);
  prefetch_lines<1>(&lanes_[static_cast<std::size_t>(&rank - ranks_.data())]);
}

void Core::approach_tables(RankId rank, const Message& message) const {
  const Rank& r = ranks_[rank.index()];
  r.mailbox.approach(message.comm, message.source);
  r.requests.approach();
}

/// Which of the rank's messages to its destination this is.
inline std::uint64_t Core::number_of(Lane& lane, const Event& event) {
  if (numbered_ == 0) [[likely]]
    return rank_of(lane).sequences.next(event.peer_rank());
  return std::exchange(numbered_, 0) - 1;
}

bool Core::send(Lane& lane, const Event& event, Outcome& out) {
  const bool immediate = event.kind == EventKind::kIsend;
  const bool to_nobody = event.peer_rank() == kProcNull;
  if (!to_nobody) approach(rank_of(event.peer_rank()));  // must exist, before anything changes
  if (immediate) add_request(lane, event, Request::Kind::kSend);
  if (to_nobody) {
    if (immediate) complete_request(lane.rank, event.request, lane.entry, {});
    return true;
  }
  Message message{event.comm.value,       lane.rank, event.tag,           event.payload(),
                  number_of(lane, event), {},        event.request.value, false};
  out.answer.sequence = message.sequence;
  lane.poll.reset();
  if (contention_) {
    send_flow(lane, event, message, out);
    return false;
  }
  if (is_eager(network_, event)) {
    const semantics::EagerSend sent = semantics::send_eager(
        network_, lane.entry, lane.rank, event.peer_rank(), message.size, lane.interface_free);
    message.at = sent.arrival;
    out.exit = sent.sender_free;
    approach_tables(event.peer_rank(), message);
    if (immediate) complete_request(lane.rank, event.request, sent.sender_free, {});
    finish(lane, event, {}, out);  // told before its receive
    deliver(event.peer_rank(), message);
    return false;
  }
  message.rendezvous = true;
  message.at = out.exit = semantics::rendezvous_ready(network_, lane.entry, message.size);
  send_rendezvous(lane, event, message, out);
  return false;
}

/// The sender waits: in its call, or later for its request.
void Core::send_rendezvous(Lane& lane, const Event& event, Message& message, Outcome& out) {
  if (event.kind == EventKind::kIsend) {
    rank_of(lane).requests.find(event.request)->pending().sequence = message.sequence;
    finish(lane, event, {}, out);
  } else {
    message.user = kLaneToken | index_of(lane);
    block(lane, event, {});
    lane.current.aux = message.sequence;
  }
  deliver(event.peer_rank(), message);
}

void Core::deliver(RankId destination, const Message& message) {
  Rank& rank = rank_of(destination);
  if (rank.mailbox.visible(message) < rank.decided_until) ++counters_.order_inversions;
  if (const auto receive = rank.mailbox.arrive(message))
    matched(destination, *receive, message);
  else
    touch(destination);
}

bool Core::receive(Lane& lane, const Event& event, Outcome& out) {
  const bool immediate = event.kind == EventKind::kIrecv;
  if (immediate) add_request(lane, event, Request::Kind::kReceive);
  lane.poll.reset();
  // Whom one receives from, one often sends to.
  if (immediate && event.peer_rank().index() < ranks_.size()) approach(ranks_[event.peer_rank().index()]);
  if (event.peer_rank() == kProcNull) {
    describe_nobody(out.answer);
    if (immediate) complete_request(lane.rank, event.request, lane.entry, {});
    return true;
  }
  if (immediate)
    finish(lane, event, {}, out);  // told before its match
  else
    block(lane, event, {});
  if (event.has(events::kMatched)) {
    receive_taken(lane, event);
    return false;
  }
  const std::uint64_t id = immediate ? event.request.value : kLaneToken | index_of(lane);
  post(lane.rank, {event.comm.value, event.peer_rank(), event.tag, id, lane.entry});
  return false;
}

void Core::post(RankId receiver, const Receive& receive) {
  Rank& rank = rank_of(receiver);
  if (receive.source == kAnySource) {
    rank.mailbox.post_undecided(receive);
    touch(receiver);
  } else if (const auto message = rank.mailbox.post(receive)) {
    matched(receiver, receive, *message);
    touch(receiver);
  }
}

bool Core::is_of_probe(const Receive& receive) const {
  if ((receive.id & kLaneToken) == 0) return false;
  const Lane& lane = lanes_[static_cast<std::uint32_t>(receive.id & ~kLaneToken)];
  return lane.current.kind == EventKind::kProbe && lane.run == Run::kBlocked;
}

/// The receive of a message that a matching probe took. An unknown one counts as there already.
void Core::receive_taken(Lane& lane, const Event& event) {
  const bool immediate = event.kind == EventKind::kIrecv;
  auto& taken = rank_of(lane).taken;
  const auto it = taken.find({event.peer_rank(), event.aux});
  Message message{event.comm.value, event.peer_rank(), event.tag, event.payload(),
                  event.aux,        lane.entry,        0,         false};
  if (it != taken.end()) {
    message = it->second;
    taken.erase(it);
  } else {
    ++counters_.order_inversions;
  }
  const std::uint64_t id = immediate ? event.request.value : kLaneToken | index_of(lane);
  matched(lane.rank, {message.comm, message.source, message.tag, id, lane.entry}, message);
}

/// When the receive is complete, never before it was posted; frees a rendezvous sender.
Time Core::transferred(RankId receiver, const Receive& receive, const Message& message) {
  if (!message.rendezvous) return std::max(message.at, receive.posted);
  const Time end =
      semantics::rendezvous_end(network_, message.at, receive.posted, message.source, receiver, message.size);
  complete_token(message.source, message.user, end);
  return end;
}

void Core::matched(RankId receiver, const Receive& receive, const Message& message) {
  if (is_of_probe(receive)) return probed(receiver, receive, message);
  const bool handshake = needs_progress(message);
  if (handshake || contention_) report_meeting(receiver, receive, message);
  if (handshake) return shake_hands(receiver, receive, message);
  if (contention_) return transfer(receiver, receive, message);
  arrived(receiver, receive, message, transferred(receiver, receive, message));
}

/// `receive` has its message, at `at`.
void Core::arrived(RankId receiver, const Receive& receive, const Message& message, Time at,
                   Duration held_up) {
  const Duration overhead = network_.receive_overhead(message.size);
  if ((receive.id & kLaneToken) == 0) {
    const RequestId id{static_cast<std::uint32_t>(receive.id)};
    const Request* request = rank_of(receiver).requests.find(id);
    if (request != nullptr && (request->report_match || options_.report_all_matches))
      report_match(receiver, ThreadId{request->thread}, request->report_match, id, message, at);
    return complete_request(receiver, id, at, overhead, held_up);
  }
  Lane& lane = lanes_[static_cast<std::uint32_t>(receive.id & ~kLaneToken)];
  if (lane.run != Run::kBlocked) return;
  if (lane.current.has(events::kReportMatch))
    report_match(receiver, lane.thread, true, lane.current.request, message, at);
  waking_.reset();
  describe(message, waking_.answer);
  waking_.answer.request = lane.current.request;
  waking_.answer.aux = static_cast<std::uint64_t>(held_up.count());
  waking_.exit = std::max(lane.entry, at) + overhead;
  resume(lane, waking_);
}

void Core::report_match(RankId receiver, ThreadId thread, bool asked, RequestId request,
                        const Message& message, Time at) {
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
void Core::report_meeting(RankId receiver, const Receive& receive, const Message& message) {
  events::Answer answer;
  answer.kind = events::AnswerKind::kMatch;
  answer.flag = events::kOnItsWay;
  describe(message, answer);
  if ((receive.id & kLaneToken) == 0) {
    answer.request = RequestId{static_cast<std::uint32_t>(receive.id)};
    const Request* request = rank_of(receiver).requests.find(answer.request);
    if (request == nullptr || !request->report_match) return;
    answer.thread = ThreadId{request->thread};
  } else {
    const Lane& lane = lanes_[static_cast<std::uint32_t>(receive.id & ~kLaneToken)];
    if (lane.run != Run::kBlocked || !lane.current.has(events::kReportMatch)) return;
    answer.request = lane.current.request;
    answer.thread = lane.thread;
  }
  listener_.on_meeting(receiver, answer);
}

/// A rendezvous send or a member's part of a collective, by its token.
void Core::complete_token(RankId rank, std::uint64_t token, Time at, Duration held_up) {
  if ((token & kLaneToken) == 0)
    return complete_request(rank, RequestId{static_cast<std::uint32_t>(token)}, at, {}, held_up);
  Lane& lane = lanes_[static_cast<std::uint32_t>(token & ~kLaneToken)];
  waking_.reset();
  waking_.exit = at;
  waking_.answer.aux = static_cast<std::uint64_t>(held_up.count());
  if (lane.current.kind == EventKind::kSend) std::swap(waking_.answer.sequence, lane.current.aux);
  resume(lane, waking_);
}

/// What the mailbox matched when a decision or a cancellation let held receives go.
void Core::settle(RankId receiver) {
  for (std::size_t i = 0; i < settled_.size(); ++i) {
    const semantics::Match match = settled_[i];
    matched(receiver, match.receive, match.message);
  }
  settled_.clear();
  touch(receiver);
}

bool Core::cancelled(Lane& lane, const Event& event, Outcome& out) {
  out.exit = lane.entry;
  const Request* known = rank_of(lane).requests.find(event.request);
  if (known != nullptr && known->kind == Request::Kind::kSend) {
    if (!rank_of(event.peer_rank()).mailbox.take(event.comm.value, lane.rank, event.aux))
      ++counters_.order_inversions;
    complete_request(lane.rank, event.request, lane.entry, {});
    touch(event.peer_rank());
    return true;
  }
  if (rank_of(lane).mailbox.cancel(event.request.value, settled_))
    complete_request(lane.rank, event.request, lane.entry, {});
  else if (const Request* request = rank_of(lane).requests.find(event.request); request != nullptr)
    ++counters_.order_inversions;  // the engine had matched it already
  settle(lane.rank);
  return true;
}

}  // namespace nplus1::simnode::engine
