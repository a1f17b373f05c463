// Weak progress (Options::weak_progress). The transfer of a rendezvous message begins when the receiver, inside MPI,
// has answered it, and then the sender, inside MPI, has seen the answer; from there on the network moves the data. The
// announcement and the answer travel as long as an empty message does. A thread that is inside MPI when it is told
// costs nothing beyond what the network model says of a rendezvous; one that is not holds the transfer up until its next
// call. A thread is inside MPI in every call that the engine models but regions and pauses. Each request is moved by
// the thread that made it.
//
// Whether a thread that is blocked in a call is still in it at a later time is a decision like others: it stands
// once nobody can act early enough to let the thread go before (decisions.hpp).
#include "simnode/engine/progress.hpp"

#include <algorithm>
#include <optional>

#include "simnode/engine/flow_transfers.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/point_to_point.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

namespace {

bool waits_for(const Lane& lane, Token token) {
  if (is_of_lane(token)) return true;
  if (lane.current.kind != EventKind::kWait || !lane.waits_for_all) return false;
  return std::find(lane.words.begin(), lane.words.end(), static_cast<std::uint32_t>(token)) !=
         lane.words.end();
}

}  // namespace

Progress::Progress(const Parts& parts)
    : network_{parts.network},
      lanes_{parts.lanes},
      point_to_point_{parts.point_to_point},
      flows_{parts.flows},
      weak_{parts.options.weak_progress},
      contention_{parts.contention != nullptr} {}

Progress::OfLane& Progress::of(std::uint32_t lane) {
  if (lane >= of_lanes_.size()) of_lanes_.resize(lane + 1);
  return of_lanes_[lane];
}

/// The first time from `at` on at which the lane is inside MPI, if that is known.
std::optional<Time> Progress::inside_from(std::uint32_t index, Time at, Token token) {
  const std::vector<Inside>& calls = of(index).calls;
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

void Progress::shake_hands(RankId receiver, const semantics::Receive& receive,
                           const semantics::Message& message) {
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
void Progress::shaken(Handshake& handshake, Time when) {
  if (when > handshake.at) handshake.begin = when;
  if (handshake.answered) return begin_transfer(handshake);
  handshake.answered = true;
  handshake.at = handshake.begin + network_.transit(handshake.receiver, handshake.message.source, Bytes{});
  go_on(handshake);
}

void Progress::go_on(Handshake handshake) {
  const Token token = handshake.answered ? handshake.message.user : handshake.receive.id;
  const RankId rank = handshake.answered ? handshake.message.source : handshake.receiver;
  handshake.lane = point_to_point_.lane_of(rank, token);
  const std::optional<Time> when = inside_from(handshake.lane, handshake.at, token);
  if (!when) return park(handshake);
  shaken(handshake, *when);
}

void Progress::park(const Handshake& handshake) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(table_.size()));
    table_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  table_[place] = handshake;
  of(handshake.lane).waiting.push_back(place);
  if (lanes_[handshake.lane].run == Run::kBlocked) asleep_.insert({handshake.at, place});
}

void Progress::begin_transfer(Handshake& handshake) {
  handshake.message.at = handshake.begin;
  if (contention_) return flows_.start(handshake.receiver, handshake.receive, handshake.message);
  point_to_point_.arrived(
      handshake.receiver, handshake.receive, handshake.message,
      point_to_point_.transferred(handshake.receiver, handshake.receive, handshake.message));
}

void Progress::was_inside(const Lane& lane, EventKind kind, Time exit) {
  const std::uint32_t index = lanes_.index_of(lane);
  OfLane& own = of(index);
  if (own.waiting.empty() && lanes_.rank_of(lane).requests.size() == 0) own.calls.clear();
  if (events::is_modelled_call(kind)) own.calls.push_back({lane.entry, exit});
  if (!own.waiting.empty()) stirred_.push_back(index);
}

void Progress::is_inside(const Lane& lane) {
  const std::uint32_t index = lanes_.index_of(lane);
  if (!of(index).waiting.empty()) stirred_.push_back(index);
}

void Progress::stir() {
  while (!stirred_.empty()) {
    const std::uint32_t index = stirred_.back();
    stirred_.pop_back();
    const std::vector<std::uint32_t> waiting = std::exchange(of(index).waiting, {});
    for (const std::uint32_t place : waiting) {
      const Handshake handshake = table_[place];
      asleep_.erase({handshake.at, place});
      free_.push_back(place);
      go_on(handshake);
    }
  }
}

void Progress::wake() {
  const std::uint32_t place = asleep_.begin()->second;
  asleep_.erase(asleep_.begin());
  Handshake handshake = table_[place];
  free_.push_back(place);
  std::erase(of(handshake.lane).waiting, place);
  shaken(handshake, handshake.at);
}

}  // namespace nplus1::simnode::engine
