#include "simnode/engine/collective_calls.hpp"

#include "simnode/engine/calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/files.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/point_to_point.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

bool CollectiveCalls::enter(Lane& lane, const events::Event& event, const events::Extension& extension,
                            Outcome& out) {
  members_.require_member(event.comm, lane.rank);  // before anything changes
  const bool immediate = event.kind == EventKind::kIcollective;
  out.exit = lane.entry;
  lane.poll.reset();
  if (immediate)
    completions_.add(lane, event, Request::Kind::kCollective);
  else
    calls_.block(lane, event, extension);
  const Token token = immediate ? event.request.value : token_of_lane(lanes_.index_of(lane));
  members_.enter(lane.rank, event, extension, lane.entry, token, done_);
  complete_members();
  return immediate;
}

void CollectiveCalls::enter_barrier(const Lane& lane, Time at) {
  enter_barrier(lane.rank, lane.current, at, token_of_lane(lanes_.index_of(lane)));
}

void CollectiveCalls::enter_barrier(RankId rank, const events::Event& call, Time at, Token token) {
  events::Event barrier = call;
  barrier.kind = EventKind::kCollective;
  barrier.operation = static_cast<std::uint8_t>(CollectiveKind::kBarrier);
  barrier.peer = -1;
  members_.enter(rank, barrier, {}, at, token, done_);
  complete_members();
}

void CollectiveCalls::arrived(const CollectiveMessage& part, Time at, Duration held_up) {
  members_.arrived(part, at, held_up, done_);
  complete_members();
}

void CollectiveCalls::complete_members() {
  for (std::size_t i = 0; i < done_.size(); ++i)
    if (!files_.met(done_[i].rank, done_[i].token, done_[i].at))
      point_to_point_.complete(done_[i].rank, done_[i].token, done_[i].at, done_[i].held_up);
  done_.clear();
}

}  // namespace nplus1::simnode::engine
