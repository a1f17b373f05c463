#include "simnode/engine/flow_transfers.hpp"

#include <algorithm>

#include "simnode/engine/calls.hpp"
#include "simnode/engine/collective_calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/one_sided.hpp"
#include "simnode/engine/point_to_point.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

void FlowTransfers::send(Lane& lane, const events::Event& event, semantics::Message& message, Outcome& out) {
  const bool immediate = event.kind == EventKind::kIsend;
  const Duration overhead =
      immediate ? network_.send_overhead(message.size) : network_.blocking_send_overhead(message.size);
  const bool eager = is_eager(network_, event);
  message.rendezvous = true;
  message.site = event.site.value;
  message.at = out.exit = lane.entry + overhead;
  if (!eager) return point_to_point_.send_rendezvous(lane, event, message, out);
  message.user = 0;
  if (network_.travels_unasked(message.size)) {
    Transfer flow;
    flow.receiver = event.peer_rank();
    flow.message = message;
    message.user =
        kFlowToken | contention_->start(flow, lane.rank, event.peer_rank(), message.size, message.at);
  }
  if (immediate) completions_.complete(lane.rank, event.request, message.at, {});
  calls_.finish(lane, event, {}, out);  // told before its receive
  point_to_point_.deliver(event.peer_rank(), message);
}

void FlowTransfers::start(RankId receiver, const semantics::Receive& receive,
                          const semantics::Message& message) {
  if ((message.user & kFlowToken) != 0) {
    const auto id = static_cast<Contention::Id>(message.user & ~kFlowToken);
    Transfer& travelling = (*contention_)[id];
    travelling.matched = true;
    travelling.receive = receive;
    if (travelling.state == Transfer::State::kArrived) ended({id, travelling.at, travelling.held_up});
    return;
  }
  Transfer started;
  started.matched = true;
  started.receiver = receiver;
  started.message = message;
  started.receive = receive;
  contention_->start(started, message.source, receiver, message.size, std::max(message.at, receive.posted));
}

bool FlowTransfers::advance(Time until) {
  const auto& flows = contention_->advance(until);
  if (flows.empty()) return false;
  if (lanes_.outside_or_withdrawn() != 0) ++counters_.forced_decisions;
  for (std::size_t i = 0; i < flows.size(); ++i) ended(flows[i]);
  return true;
}

void FlowTransfers::ended(const netmodel::Flows::Completion& completion) {
  const auto [id, at, held_up] = completion;
  Transfer& transfer = (*contention_)[id];
  if (transfer.leg != 0) {
    const std::uint32_t leg = transfer.leg;
    contention_->release(id);
    return one_sided_.landed(leg, at, held_up);
  }
  if (!transfer.collective && !transfer.matched) {
    transfer.state = Transfer::State::kArrived;
    transfer.at = at;
    transfer.held_up = held_up;
    return;
  }
  const Transfer done = transfer;  // what follows may start others
  contention_->release(id);
  if (done.collective) return collectives_.arrived(done.part, at, held_up);
  end(done, at, held_up);
}

void FlowTransfers::end(const Transfer& t, Time at, Duration held_up) {
  const bool sender_waits = t.message.user != 0 && (t.message.user & kFlowToken) == 0;
  if (sender_waits) point_to_point_.complete(t.message.source, t.message.user, at, held_up);
  point_to_point_.arrived(t.receiver, t.receive, t.message, std::max(at, t.receive.posted), held_up);
}

}  // namespace nplus1::simnode::engine
