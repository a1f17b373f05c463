// Messages on a network with contention. Matching goes as ever; a transfer starts when its message has met
// its receive (small ones may travel before), and its end is known when the flows have advanced that far.
// Source of the protocol: SMPI (SimGrid 3.32), smpi_request.cpp, Request::start and finish_wait.
#include <algorithm>

#include "simnode/engine/core.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

/// All messages are announced when they are sent, without latency: no flow may start before a decision about
/// them has been made.
void Core::send_flow(Lane& lane, const Event& event, Message& message, Outcome& out) {
  const bool immediate = event.kind == EventKind::kIsend;
  const Duration overhead =
      immediate ? network_.send_overhead(message.size) : network_.blocking_send_overhead(message.size);
  const bool eager = is_eager(network_, event);
  message.rendezvous = true;
  message.site = event.site.value;
  message.at = out.exit = lane.entry + overhead;
  if (!eager) return send_rendezvous(lane, event, message, out);
  message.user = 0;
  if (network_.travels_unasked(message.size)) {
    Transfer flow;
    flow.receiver = event.peer_rank();
    flow.message = message;
    message.user =
        kFlowToken | contention_->start(flow, lane.rank, event.peer_rank(), message.size, message.at);
  }
  if (immediate) complete_request(lane.rank, event.request, message.at, {});
  finish(lane, event, {}, out);  // told before its receive
  deliver(event.peer_rank(), message);
}

void Core::transfer(RankId receiver, const Receive& receive, const Message& message) {
  if ((message.user & kFlowToken) != 0) {
    const auto id = static_cast<Contention::Id>(message.user & ~kFlowToken);
    Transfer& travelling = (*contention_)[id];
    travelling.matched = true;
    travelling.receive = receive;
    if (travelling.state == Transfer::State::kArrived) flow_ended({id, travelling.at, travelling.held_up});
    return;
  }
  Transfer started;
  started.matched = true;
  started.receiver = receiver;
  started.message = message;
  started.receive = receive;
  contention_->start(started, message.source, receiver, message.size, std::max(message.at, receive.posted));
}

/// Lets flows go on up to the earliest lane or decision that may start another. True if some ended.
bool Core::advance_flows() {
  Time until = running_bound();
  if (!decisions_.empty()) until = std::min(until, decisions_.top().time);
  until = std::min(until, windows_.next_due());
  if (!progress_.asleep.empty()) until = std::min(until, progress_.asleep.begin()->first);
  const auto& ended = contention_->advance(until);
  if (ended.empty()) return false;
  if (outside_or_withdrawn() != 0) ++counters_.forced_decisions;
  for (std::size_t i = 0; i < ended.size(); ++i) flow_ended(ended[i]);
  drain();
  return true;
}

void Core::flow_ended(const netmodel::Flows::Completion& completion) {
  const auto [id, at, held_up] = completion;
  Transfer& transfer = (*contention_)[id];
  if (transfer.leg != 0) {
    const std::uint32_t leg = transfer.leg;
    contention_->release(id);
    return landed(windows_.take_leg(leg), at, held_up);
  }
  if (!transfer.collective && !transfer.matched) {
    transfer.state = Transfer::State::kArrived;
    transfer.at = at;
    transfer.held_up = held_up;
    return;
  }
  const Transfer ended = transfer;  // what follows may start others
  contention_->release(id);
  if (ended.collective) {
    collectives_.arrived(ended.part, at, held_up, done_);
    return complete_members();
  }
  end_transfer(ended, at, held_up);
}

void Core::end_transfer(const Transfer& t, Time at, Duration held_up) {
  const bool sender_waits = t.message.user != 0 && (t.message.user & kFlowToken) == 0;
  if (sender_waits) complete_token(t.message.source, t.message.user, at, held_up);
  arrived(t.receiver, t.receive, t.message, std::max(at, t.receive.posted), held_up);
}

}  // namespace nplus1::simnode::engine
