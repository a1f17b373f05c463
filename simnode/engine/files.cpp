#include "simnode/engine/files.hpp"

#include "simnode/engine/calls.hpp"
#include "simnode/engine/collective_calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/point_to_point.hpp"

namespace nplus1::simnode::engine {

using events::FileOperation;

StorageRequest Files::request_of(const Lane& lane, const events::Event& event) const {
  StorageRequest request;
  request.at = lane.entry;
  request.rank = lane.rank;
  request.thread = lane.thread;
  request.token =
      event.request != kNoRequest ? Token{event.request.value} : token_of_lane(lanes_.index_of(lane));
  request.is_turn = event.file_operation() == FileOperation::kTurn;
  if (!events::moves_file_bytes(event)) return request;
  request.offset = event.aux;
  request.size = event.payload();
  return request;
}

void Files::access(Lane& lane, const events::Event& event, Outcome& out) {
  collectives_.members().require_member(event.comm, lane.rank);  // before anything changes
  lane.poll.reset();
  const events::Event call = event;  // which may be the lane's own
  const StorageRequest request = request_of(lane, call);
  if (call.request != kNoRequest) {
    completions_.add(lane, call, Request::Kind::kFile);
    out.exit = lane.entry;
    calls_.finish(lane, call, {}, out);  // told before what follows from it
  } else {
    calls_.block(lane, call, {});
  }
  if ((call.tag & events::kMeetFirst) == 0) return storage_.ask(request);
  storage_.await_meeting(lane.rank, request.token, request);
  collectives_.enter_barrier(lane.rank, call, request.at, request.token);
}

void Files::serve_next() {
  const StorageRequest request = storage_.take();
  const StorageQueue::Served served = storage_.serve(request);
  if (is_of_lane(request.token) && lanes_[lane_in(request.token)].run != Run::kBlocked)
    return;  // its rank died
  point_to_point_.complete(request.rank, request.token, served.end, served.waited);
}

std::vector<RankId> Files::awaited(const Lane& lane) {
  const Token token = token_of_lane(lanes_.index_of(lane));
  if (!storage_.meets(lane.rank, token)) return {};
  return collectives_.members().awaited(lane.current.comm, lane.rank, token);
}

}  // namespace nplus1::simnode::engine
