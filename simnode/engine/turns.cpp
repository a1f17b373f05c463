#include "simnode/engine/turns.hpp"

#include <utility>

namespace nplus1::simnode::engine {

/// A send is numbered now: another thread of the rank may send before this one's turn comes, and its rank has numbered
/// both in the order of the stream.
void Turns::keep(Lane& lane, const events::Event& event, const events::Extension& extension) {
  if (!is_send(event) || event.peer_rank() == kProcNull) return put_by(lane, event, extension);
  events::Event numbered = event;
  numbered.aux = lanes_.rank_of(lane).sequences.next(event.peer_rank()) + 1;
  put_by(lane, numbered, extension);
}

void Turns::put_by(Lane& lane, const events::Event& event, const events::Extension& extension) {
  lane.backlog.push(event, extension);
  if (StreamOrder* order = lanes_.rank_of(lane).order.get()) order->keep(lanes_.index_of(lane), event);
}

bool Turns::waits(Lane& lane) {
  const StreamOrder* order = lanes_.rank_of(lane).order.get();
  if (order == nullptr) return false;
  const bool waits =
      !std::exchange(lane.out_of_turn, false) &&
      order->holds_oldest(lanes_.index_of(lane), lane.backlog.front(), lane.backlog.front_words());
  set_waits(lane, waits);
  return waits;
}

void Turns::set_waits(Lane& lane, bool waits) {
  if (lane.waits_turn == waits) return;
  lane.waits_turn = waits;
  lanes_.rank_of(lane).waiting_turns += waits ? 1U : -1U;
  waiting_ += waits ? 1U : std::size_t{0} - 1U;
}

void Turns::took(const Lane& lane, const events::Event& event) {
  Rank& rank = lanes_.rank_of(lane);
  if (!rank.order) return;
  rank.order->took(lanes_.index_of(lane), event);
  if (rank.waiting_turns == 0) return;
  for (const std::uint32_t i : rank.lanes)
    if (i != kNoLane && lanes_[i].waits_turn) lanes_.has_kept_calls(i);
}

bool Turns::let_one_go_out_of_turn() {
  if (waiting_ == 0) return false;
  Lane* earliest = nullptr;
  for (Lane& lane : lanes_) {
    const bool acts =
        (lane.run == Run::kRunning || lane.run == Run::kOutside) && !lanes_.rank_of(lane).withdrawn;
    if (acts && !lane.waits_turn) return false;
    if (lane.waits_turn && (earliest == nullptr || lane.clock < earliest->clock)) earliest = &lane;
  }
  earliest->out_of_turn = true;
  lanes_.has_kept_calls(lanes_.index_of(*earliest));
  return true;
}

}  // namespace nplus1::simnode::engine
