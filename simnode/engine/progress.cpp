// Weak progress (Options::weak_progress). The transfer of a rendezvous message begins when the receiver, inside MPI,
// has answered it, and then the sender, inside MPI, has seen the answer; from there on the network moves the data. The
// announcement and the answer travel as long as an empty message does. A thread that is inside MPI when it is told
// costs nothing beyond what the network model says of a rendezvous; one that is not holds the transfer up until its next
// call. A thread is inside MPI in every call that the engine models but regions and pauses. Each request is moved by
// the thread that made it.
//
// Whether a thread that is blocked in a call is still in it at a later time is a decision like others: it stands
// once nobody can act early enough to let the thread go before (core.hpp).
#include <algorithm>
#include <optional>

#include "simnode/engine/core.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

/// Whether the transfer needs both ranks: not where the message is buffered or under way already.
bool Core::needs_progress(const Message& message) const {
  if (!options_.weak_progress || !message.rendezvous) return false;
  return !contention_ || (message.user != 0 && (message.user & kFlowToken) == 0);
}

/// The lane that a request, or a call of its own, belongs to.
std::uint32_t Core::lane_of_token(RankId rank, std::uint64_t token) {
  if ((token & kLaneToken) != 0) return static_cast<std::uint32_t>(token & ~kLaneToken);
  const Request* request = rank_of(rank).requests.find(RequestId{static_cast<std::uint32_t>(token)});
  return index_of(lane_of(rank, ThreadId{request == nullptr ? std::uint16_t{0} : request->thread}));
}

bool Core::waits_for(const Lane& lane, std::uint64_t token) {
  if ((token & kLaneToken) != 0) return true;
  if (lane.current.kind != EventKind::kWait || !lane.waits_for_all) return false;
  return std::find(lane.words.begin(), lane.words.end(), static_cast<std::uint32_t>(token)) !=
         lane.words.end();
}

/// The first time from `at` on at which the lane is inside MPI, if that is known.
std::optional<Time> Core::inside_from(std::uint32_t index, Time at, std::uint64_t token) {
  const std::vector<Inside>& calls = progress_.of(index).calls;
  const auto call =
      std::lower_bound(calls.begin(), calls.end(), at, [](const Inside& c, Time t) { return c.exit < t; });
  if (call != calls.end()) return std::max(call->entry, at);
  const Lane& lane = lanes_[index];
  if (lane.run == Run::kGone) return at;
  if (lane.run == Run::kOutside) return std::max(lane.clock, at);
  if (lane.run != Run::kBlocked) return std::nullopt;
  if (lane.entry >= at) return lane.entry;
  if (waits_for(lane, token)) return at;
  return std::nullopt;
}

void Core::shake_hands(RankId receiver, const Receive& receive, const Message& message) {
  const Time announced = message.at + network_.transit(message.source, receiver, Bytes{});
  Handshake handshake;
  handshake.receiver = receiver;
  handshake.receive = receive;
  handshake.message = message;
  handshake.begin = std::max(message.at, receive.posted);
  handshake.at = std::max(announced, receive.posted);
  go_on(handshake);
}

/// Whose turn it is was inside MPI at `when`.
void Core::shaken(Handshake& handshake, Time when) {
  if (when > handshake.at) handshake.begin = when;
  if (handshake.answered) return begin_transfer(handshake);
  handshake.answered = true;
  handshake.at = handshake.begin + network_.transit(handshake.receiver, handshake.message.source, Bytes{});
  go_on(handshake);
}

void Core::go_on(Handshake handshake) {
  const std::uint64_t token = handshake.answered ? handshake.message.user : handshake.receive.id;
  const RankId rank = handshake.answered ? handshake.message.source : handshake.receiver;
  handshake.lane = lane_of_token(rank, token);
  const std::optional<Time> when = inside_from(handshake.lane, handshake.at, token);
  if (!when) return park(handshake);
  shaken(handshake, *when);
}

void Core::park(const Handshake& handshake) {
  const std::uint32_t place = progress_.add(handshake);
  progress_.of(handshake.lane).waiting.push_back(place);
  if (lanes_[handshake.lane].run == Run::kBlocked) progress_.asleep.insert({handshake.at, place});
}

void Core::begin_transfer(Handshake& handshake) {
  handshake.message.at = handshake.begin;
  if (contention_) return transfer(handshake.receiver, handshake.receive, handshake.message);
  arrived(handshake.receiver, handshake.receive, handshake.message,
          transferred(handshake.receiver, handshake.receive, handshake.message));
}

/// A call of the lane has returned.
void Core::was_inside(const Lane& lane, EventKind kind, Time exit) {
  const std::uint32_t index = index_of(lane);
  Progress::OfLane& own = progress_.of(index);
  if (own.waiting.empty() && rank_of(lane).requests.size() == 0) own.calls.clear();
  if (events::is_modelled_call(kind)) own.calls.push_back({lane.entry, exit});
  if (!own.waiting.empty()) progress_.stirred.push_back(index);
}

/// The lane has entered a call that blocks.
void Core::is_inside(const Lane& lane) {
  const std::uint32_t index = index_of(lane);
  if (!progress_.of(index).waiting.empty()) progress_.stirred.push_back(index);
}

/// What waited for lanes that have moved on.
void Core::stir() {
  while (!progress_.stirred.empty()) {
    const std::uint32_t index = progress_.stirred.back();
    progress_.stirred.pop_back();
    const std::vector<std::uint32_t> waiting = std::exchange(progress_.of(index).waiting, {});
    for (const std::uint32_t place : waiting) {
      const Handshake handshake = progress_.table[place];
      progress_.asleep.erase({handshake.at, place});
      progress_.free.push_back(place);
      go_on(handshake);
    }
  }
}

/// The earliest blocked lane that something waits for is still in its call at that time, if nobody can let it go
/// before. False: that cannot be said yet, or a decision comes first.
bool Core::wake_handshake() {
  if (progress_.asleep.empty()) return false;
  const auto [at, place] = *progress_.asleep.begin();
  if (!decisions_.empty() && decisions_.top().time < at) return false;
  if (windows_.next_due() < at) return false;
  const Time bound = running_bound();
  if (bound != kNever && bound + latency_ <= at) return false;
  progress_.asleep.erase(progress_.asleep.begin());
  Handshake handshake = progress_.table[place];
  progress_.free.push_back(place);
  std::erase(progress_.of(handshake.lane).waiting, place);
  shaken(handshake, handshake.at);
  drain();
  return true;
}

}  // namespace nplus1::simnode::engine
