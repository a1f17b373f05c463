// Who a call waited for: ties sends to receives by (source, destination, sequence), requests to the calls
// that complete them, and members of a collective to each other.
#include <algorithm>

#include "support/time_sum.hpp"

#include "hypothesis/waitstates/search.hpp"

namespace nplus1::hypothesis {
namespace {

using events::EventKind;

constexpr std::size_t kMostPolls = 1024;
constexpr std::size_t kMostLateReceives = 256;

// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::uint64_t pair_of(std::int32_t high, std::uint32_t low) {
  return std::uint64_t{static_cast<std::uint32_t>(high)} << 32U | low;
}

}  // namespace

std::size_t WaitStates::Hash::operator()(const MessageKey& key) const {
  return mixed(pair_of(key.source, static_cast<std::uint32_t>(key.destination)) * 0x9e3779b97f4a7c15U +
               key.sequence);
}

std::size_t WaitStates::Hash::operator()(const RequestKey& key) const {
  return mixed(pair_of(key.rank, key.request));
}

/// A long loop of tests is kept in fewer and fewer parts.
void WaitStates::Polls::add(const Part& part) {
  if (!parts.empty() && parts.back().end == part.begin && parts.back().row == part.row) {
    parts.back().end = part.end;
    parts.back().polled += part.polled;
    return;
  }
  if (parts.size() >= kMostPolls) {
    for (std::size_t i = 0; i < kMostPolls / 2; ++i) {
      const Part &first = parts[2 * i], &second = parts[2 * i + 1];
      parts[i] = {first.begin, second.end, first.polled + second.polled, first.row};
    }
    parts.resize(kMostPolls / 2);
  }
  parts.push_back(part);
}

void WaitStates::find_partners(const events::TimedEvent& timed, Lane& lane, Call& call, std::uint32_t place) {
  switch (timed.event.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      return send(timed, lane, call, place);
    case EventKind::kRecv:
      return receive(timed, lane, call, place);
    case EventKind::kIrecv:
      return post_receive(timed, lane);
    case EventKind::kProbe:
    case EventKind::kIprobe:
      return probe(timed, lane, call);
    case EventKind::kWait:
      return complete(timed, call, place);
    case EventKind::kTest:
      return timed.answer.flag == 0 ? poll(timed, call) : complete(timed, call, place);
    case EventKind::kCollective:
    case EventKind::kIcollective:
      return collective(timed, lane, call, place);
    case EventKind::kWindowSync:
      return synchronize_window(timed, lane, call, place);
    default:
      return;
  }
}

bool WaitStates::never_waits(const events::Event& send) const {
  if (send.send_mode() == events::SendMode::kBuffered) return true;
  return network_ != nullptr && send.send_mode() != events::SendMode::kSynchronous &&
         network_->eager(send.payload());
}

std::uint32_t WaitStates::new_request(const events::TimedEvent& timed) {
  const std::uint32_t place = requests_.take();
  request_places_[{timed.rank.value, timed.event.request.value}] = place;
  return place;
}

void WaitStates::send(const events::TimedEvent& timed, const Lane& lane, Call& call, std::uint32_t place) {
  const events::Event& event = timed.event;
  if (event.peer < 0) return;
  const MessageKey key{timed.rank.value, event.peer, timed.answer.sequence};
  Message& message = messages_[key];
  message.sent = true;
  message.send = call.entry;
  message.send_path = lane.path;
  if (event.kind == EventKind::kIsend && !never_waits(event)) {
    message.sender = {Waiter::Kind::kRequest, new_request(timed)};
    Request& request = requests_[message.sender.place];
    request.is_send = true;
    request.message = key;
  } else if (event.kind == EventKind::kSend && place != kNoPlace) {
    message.sender = {Waiter::Kind::kCall, place};
    ++call.unresolved;
  }
  if (message.received) settle(key);
}

void WaitStates::receive(const events::TimedEvent& timed, const Lane& lane, Call& call, std::uint32_t place) {
  if (timed.answer.source < 0) return;
  const MessageKey key{timed.answer.source, timed.rank.value, timed.answer.sequence};
  Message& message = messages_[key];
  message.received = true;
  message.posted = call.entry;
  message.done = call.entry + call.waiting;
  message.receive_path = lane.path;
  if (place != kNoPlace) {
    message.receiver = {Waiter::Kind::kCall, place};
    ++call.unresolved;
  }
  if (!message.sent) return;
  note_received(call, message.send);
  settle(key);
}

void WaitStates::post_receive(const events::TimedEvent& timed, const Lane& lane) {
  if (timed.event.peer_rank() == kProcNull) return;
  Request& request = requests_[new_request(timed)];
  request.is_receive = true;
  request.posted = timed.event.entry();
  request.path = lane.path;
}

/// A match that no kIrecv asked for is a blocking receive's, which will say it all itself.
void WaitStates::on_match(RankId receiver, const events::Answer& match) {
  own_.on_match(receiver, match);
  const RequestKey key{receiver.value, match.request.value};
  const auto place = request_places_.find(key);
  if (place == request_places_.end() || match.source < 0) return;
  Request& request = requests_[place->second];
  if (!request.is_receive || request.matched) return;
  const MessageKey name{match.source, receiver.value, match.sequence};
  Message& message = messages_[name];
  request.matched = true;
  message.received = true;
  message.posted = request.posted;
  message.done = match.exit();
  message.receive_path = std::move(request.path);
  message.receiver = {Waiter::Kind::kRequest, place->second};
  if (request.waiter.kind != Waiter::Kind::kNobody || request.abandoned) request_places_.erase(place);
  if (message.sent) settle(name);
}

/// Both ends are known: tells each of the other, and is done with the message.
void WaitStates::settle(const MessageKey& key) {
  const auto settled = messages_.find(key);
  const Message message = std::move(settled.value());
  messages_.erase(settled);
  if (message.receiver.kind != Waiter::Kind::kNobody)
    tell(message.receiver,
         {WaitState::kLateSender, RankId{key.source}, message.send, message.done, {}, {}, message.send_path});
  if (message.sender.kind != Waiter::Kind::kNobody)
    tell(message.sender, {WaitState::kLateReceiver,
                          RankId{key.destination},
                          message.posted,
                          message.done,
                          {},
                          {},
                          message.receive_path});
}

void WaitStates::tell(const Waiter& waiter, const Partner& partner) {
  if (waiter.kind == Waiter::Kind::kCall) {
    Call& call = calls_[waiter.place];
    if (call.after && partner.state == WaitState::kLateSender && partner.rank.value >= 0)
      note_received(call, partner.at);
    consider(call, partner);
    if (--call.unresolved > 0) return;
    conclude(call, nullptr);
    calls_.give(waiter.place);
  } else if (waiter.kind == Waiter::Kind::kRequest) {
    Request& request = requests_[waiter.place];
    request.resolved = true;
    const Waiter next = request.waiter;
    if (next.kind == Waiter::Kind::kNobody && !request.abandoned) {
      request.partner = partner;
      return;
    }
    requests_.give(waiter.place);
    tell(next, partner);
  }
}

/// What came last decided when the call returned. A send whose receive came later than that was not waited
/// for: it was eager.
void WaitStates::consider(Call& call, const Partner& partner) {
  if (partner.rank.value < 0 || partner.at > call.exit) return;
  const bool is_send = partner.state == WaitState::kLateReceiver;
  if (is_send && partner.done > call.exit) return;
  const bool tie = partner.done == call.partner.done && call.partner.state == WaitState::kLateReceiver;
  if (call.has_partner && !(partner.done > call.partner.done || (tie && !is_send))) return;
  call.partner = partner;
  call.has_partner = true;
}

/// Late senders whose message was sent after this one, which was received later: messages in wrong order. The
/// list is sorted by when they were sent.
void WaitStates::note_received(const Call& call, Time sent) {
  std::vector<LateReceive>& late = ranks_[call.rank.index()].late;
  for (; !late.empty() && late.back().sent > sent; late.pop_back()) {
    if (late.back().call >= call.number) continue;
    sum_up(rows_[late.back().row].wrong_order, late.back().late);
    sum_up(rank_tallies_[call.rank.index()].wrong_order, late.back().late);
  }
}

void WaitStates::note_late_sender(const Call& call, Duration waited) {
  std::vector<LateReceive>& late = ranks_[call.rank.index()].late;
  if (!late.empty() && late.back().sent > call.partner.at) return;  // told late: its order is not known
  if (late.size() >= kMostLateReceives) late.erase(late.begin(), late.begin() + kMostLateReceives / 2);
  late.push_back({call.partner.at, call.number, waited, call.row});
}

void WaitStates::probe(const events::TimedEvent& timed, Lane& lane, Call& call) {
  if (timed.event.kind == EventKind::kIprobe && timed.answer.flag == 0) {
    lane.probes.add({call.entry, call.exit, call.exit - call.entry, call.row});
    return;
  }
  call.polls = std::move(lane.probes.parts);
  lane.probes.parts.clear();
  if (timed.answer.source < 0) return;
  const auto found = messages_.find({timed.answer.source, timed.rank.value, timed.answer.sequence});
  if (found == messages_.end() || !found->second.sent) return;
  const Message& message = found->second;
  const Time done = std::max(message.send, call.entry + call.waiting);
  consider(
      call,
      {WaitState::kLateSender, RankId{timed.answer.source}, message.send, done, {}, {}, message.send_path});
}

void WaitStates::collective(const events::TimedEvent& timed, const Lane& lane, Call& call,
                            std::uint32_t place) {
  if (timed.event.kind == EventKind::kIcollective) {
    const std::uint32_t request = new_request(timed);
    if (!collectives_.enter(timed, lane.path, {Waiter::Kind::kRequest, request}, tell_))
      forget({timed.rank.value, timed.event.request.value}, true);
    return;
  }
  if (place != kNoPlace) ++call.unresolved;
  const Waiter waiter{place == kNoPlace ? Waiter::Kind::kNobody : Waiter::Kind::kCall, place};
  if (!collectives_.enter(timed, lane.path, waiter, tell_) && place != kNoPlace) --call.unresolved;
}

void WaitStates::synchronize_window(const events::TimedEvent& timed, const Lane& lane, Call& call,
                                    std::uint32_t place) {
  using events::WindowSync;
  const bool waits = place != kNoPlace;
  const Waiter waiter{waits ? Waiter::Kind::kCall : Waiter::Kind::kNobody, place};
  switch (timed.event.window_sync()) {
    case WindowSync::kFence:
      return collective(timed, lane, call, place);
    case WindowSync::kPost:
    case WindowSync::kComplete:
      return windows_.give_notices(timed, lane.path, tell_);
    case WindowSync::kTest:
      if (timed.answer.flag == 0) return;
      [[fallthrough]];
    case WindowSync::kStart:
    case WindowSync::kWait:
      if (waits) ++call.unresolved;
      if (!windows_.take_notices(timed, waiter, tell_) && waits) --call.unresolved;
      return;
    case WindowSync::kLock:
    case WindowSync::kLockAll:
      if (!waits || timed.answer.aux == 0) return;  // nobody held it
      ++call.unresolved;
      return windows_.await_release(timed, waiter, tell_);
    default:
      return;  // for transfers of its own
  }
}

void WaitStates::complete(const events::TimedEvent& timed, Call& call, std::uint32_t place) {
  const auto ids = timed.extension.words;
  if (timed.event.has(events::kKeepsRequests)) return;
  if (timed.event.completion_mode() == events::CompletionMode::kAll) {
    for (const std::uint32_t id : ids) complete_one({timed.rank.value, id}, call, place);
    return;
  }
  for (const std::uint32_t position : timed.completed)
    if (position < ids.size()) complete_one({timed.rank.value, ids[position]}, call, place);
}

void WaitStates::complete_one(RequestKey key, Call& call, std::uint32_t place) {
  const auto found = request_places_.find(key);
  if (found == request_places_.end()) return;
  const std::uint32_t at = found->second;
  Request& request = requests_[at];
  const bool match_will_come = request.is_receive && !request.matched && !request.resolved;
  if (request.polls) {
    call.polls.insert(call.polls.end(), request.polls->parts.begin(), request.polls->parts.end());
    request.polls.reset();
  }
  if (request.resolved) {
    if (request.is_receive && request.partner.rank.value >= 0) note_received(call, request.partner.at);
    consider(call, request.partner);
    requests_.give(at);
  } else if (place != kNoPlace) {
    request.waiter = {Waiter::Kind::kCall, place};
    ++call.unresolved;
  } else {
    request.abandoned = true;
  }
  if (!match_will_come) request_places_.erase(found);
}

/// A failed test speaks for the first request that it asked for.
void WaitStates::poll(const events::TimedEvent& timed, const Call& call) {
  for (const std::uint32_t id : timed.extension.words) {
    const auto place = request_places_.find({timed.rank.value, id});
    if (place == request_places_.end()) continue;
    Request& request = requests_[place->second];
    if (!request.polls) request.polls = std::make_unique<Polls>();
    request.polls->add({call.entry, call.exit, call.exit - call.entry, call.row});
    return;
  }
}

/// The application gave the request up. A cancelled one never meets its partner.
void WaitStates::forget(RequestKey key, bool cancelled) {
  const auto found = request_places_.find(key);
  if (found == request_places_.end()) return;
  const std::uint32_t place = found->second;
  Request& request = requests_[place];
  if (request.resolved || (cancelled && !request.matched)) {
    if (request.is_send && cancelled) messages_.erase(request.message);
    requests_.give(place);
  } else {
    request.abandoned = true;
    if (request.is_receive && !request.matched) return;  // its match will come, by this key
  }
  request_places_.erase(found);
}

}  // namespace nplus1::hypothesis
