// Collectives on a network with contention: the same steps, but each message is a flow, which starts when
// both sides are there (network_model.hpp, eager() and travels_unasked()), and a member goes on when the ends
// of what it started are known.
//
// Messages between a pair are taken for each other in order; where a schedule sends small and large messages
// between one pair, a small one that travels unasked may be taken for a large one before it.
//
// What the network does itself (Transport): a copy is there when the message that it was made of is, and
// loads no link of its own; a signal takes no time; what is combined on its way ends at the next member.
#include <algorithm>

#include "netmodel/collectives/selection.hpp"
#include "simnode/engine/collectives.hpp"

namespace nplus1::simnode::engine {

using netmodel::kNoMember;
using netmodel::Step;
using netmodel::Transport;

/// Runs all who may go on; one may let others.
void Collectives::run_all(const Communicator& c, Call& call, std::vector<Done>& done) {
  while (!runnable_.empty()) {
    const std::int32_t next = runnable_.front();
    runnable_.erase(runnable_.begin());
    run(c, call, next, done);
  }
}

/// Starts a member's steps until it has to wait.
void Collectives::run(const Communicator& c, Call& call, std::int32_t me, std::vector<Done>& done) {
  Member& member = call.members[static_cast<std::size_t>(me)];
  while (member.entered && !member.done && member.pending == 0) {
    if (member.end > member.clock)
      member.held_up += std::min(member.latest_held_up, member.end - member.clock);
    member.latest_held_up = {};
    member.clock = std::max(member.clock, member.end);
    if (member.position == member.steps.size()) return finish(c, call, me, done);
    start_steps(c, call, me);
  }
}

/// The step at `position`, and those that join it.
void Collectives::start_steps(const Communicator& c, Call& call, std::int32_t me) {
  Member& member = call.members[static_cast<std::size_t>(me)];
  const std::size_t first = member.position;
  std::size_t last = first + 1;
  while (last < member.steps.size() && member.steps[last].joins) ++last;
  member.position = last;
  const bool together = last > first + 1;
  if (together)
    for (std::size_t i = first; i < last; ++i) post_receive(c, call, me, member.steps[i]);
  for (std::size_t i = first; i < last; ++i) {
    const Step step = member.steps[i];
    if (step.send_to == kNoMember) continue;
    if (step.transport == Transport::kSignal)
      signal(call, me, step.send_to);
    else if (step.transport == Transport::kCopy)
      make_copy(call, me, step);
    else
      post_send(c, call, me, step, !together && step.receive_from == kNoMember);
  }
  if (!together) post_receive(c, call, me, member.steps[first]);
}

void Collectives::signal(Call& call, std::int32_t me, std::int32_t to) {
  const Time at = call.members[static_cast<std::size_t>(me)].clock;
  if (!call.listening.pop(me, to)) return call.signals.push(me, to, {at, {}});
  end_part(call.members[static_cast<std::size_t>(to)], at, {});
  runnable_.push_back(to);
}

/// Of the member's message: now if that has arrived, as a waiting sender knows, or with it.
void Collectives::make_copy(Call& call, std::int32_t me, const Step& step) {
  const CollectiveMessage copied{call.comm.value, call.number, me, step.send_to, step.size, false, true};
  const std::optional<Time> crossed = call.members[static_cast<std::size_t>(me)].crossed;
  if (!crossed) return call.copies.push_back(copied);
  copy_arrived(call, copied, *crossed);
}

void Collectives::copy_arrived(Call& call, const CollectiveMessage& copied, Time at) {
  if (!call.receives.pop(copied.from, copied.to))
    return call.arrivals.push(copied.from, copied.to, {at, copied.size});
  Member& receiver = call.members[static_cast<std::size_t>(copied.to)];
  end_part(receiver, at, receiving(receiver, copied.from, copied.size));
  runnable_.push_back(copied.to);
}

/// A message of `from` is there, and so are the copies made of it.
void Collectives::crossed(Call& call, std::int32_t from, Time at) {
  call.members[static_cast<std::size_t>(from)].crossed = at;
  const auto made_of_it = [from](const CollectiveMessage& m) { return m.from == from; };
  for (const CollectiveMessage& copied : call.copies)
    if (made_of_it(copied)) copy_arrived(call, copied, at);
  std::erase_if(call.copies, made_of_it);
}

void Collectives::post_send(const Communicator& c, Call& call, std::int32_t me, const Step& step,
                            bool blocking) {
  Member& member = call.members[static_cast<std::size_t>(me)];
  member.clock += blocking ? network_.blocking_send_overhead(step.size) : network_.send_overhead(step.size);
  CollectiveMessage message{call.comm.value, call.number, me, step.send_to, step.size, false, false};
  message.combined = step.transport == Transport::kCombined;
  message.rendezvous = !network_.eager(step.size);
  if (message.rendezvous) ++member.pending;
  message.unasked = network_.travels_unasked(step.size);
  if (message.unasked) return start_flow(c, call, message, member.clock);
  if (const auto receive = call.receives.pop(me, step.send_to))
    start_flow(c, call, message, std::max(member.clock, receive->arrival));
  else
    call.transfers.push(me, step.send_to, {member.clock, step.size});
}

void Collectives::post_receive(const Communicator& c, Call& call, std::int32_t me, const Step& step) {
  const std::int32_t from = step.receive_from;
  if (from == kNoMember) return;
  Member& member = call.members[static_cast<std::size_t>(me)];
  ++member.pending;
  if (step.transport == Transport::kSignal) {
    const auto given = call.signals.pop(from, me);
    return given ? end_part(member, given->arrival, {}) : call.listening.push(from, me, {});
  }
  if (const auto arrival = call.arrivals.pop(from, me))
    return end_part(member, std::max(arrival->arrival, member.clock), receiving(member, from, arrival->size));
  const auto sent = call.transfers.pop(from, me);
  if (!sent) return call.receives.push(from, me, {member.clock, {}});
  const bool rendezvous = !network_.eager(sent->size);
  const bool combined = step.transport == Transport::kCombined;
  start_flow(c, call, {call.comm.value, call.number, from, me, sent->size, rendezvous, false, combined},
             std::max(sent->arrival, member.clock));
}

void Collectives::start_flow(const Communicator& c, const Call& call, CollectiveMessage message, Time at) {
  message.site = call.members[static_cast<std::size_t>(message.from)].site;
  Transfer flow;
  flow.collective = true;
  flow.part = message;
  const auto from = static_cast<std::size_t>(message.from);
  const std::size_t to =
      message.combined ? (from + 1) % c.members.size() : static_cast<std::size_t>(message.to);
  contention_->start(flow, c.members[from], c.members[to], message.size, at);
}

/// What a message of `from` costs its receiver once it is there. It is awaited by one of the steps that were
/// started together.
Duration Collectives::receiving(const Member& member, std::int32_t from, Bytes size) const {
  std::size_t place = member.position - 1;
  while (member.steps[place].joins && member.steps[place].receive_from != from) --place;
  const Step& step = member.steps[place];
  const Duration overhead =
      step.transport == Transport::kMessage ? network_.receive_overhead(size) : Duration{};
  const bool combines = step.combines && selection_ != nullptr;
  return combines ? overhead + selection_->combining(size) : overhead;
}

void Collectives::end_part(Member& member, Time at, Duration overhead, Duration held_up) {
  if (at >= member.end) member.latest_held_up = held_up;
  member.end = std::max(member.end, at) + overhead;
  --member.pending;
}

void Collectives::arrived(const CollectiveMessage& message, Time at, Duration held_up,
                          std::vector<Done>& done) {
  Communicator& c = communicator(CommId{message.comm});
  Call& call = *c.in_progress[message.call - c.first_call];
  crossed(call, message.from, at);
  const bool taken = !message.unasked || call.receives.pop(message.from, message.to);
  if (!taken) {
    call.arrivals.push(message.from, message.to, {at, message.size});
  } else {
    if (message.rendezvous) {
      end_part(call.members[static_cast<std::size_t>(message.from)], at, {}, held_up);
      runnable_.push_back(message.from);
    }
    Member& receiver = call.members[static_cast<std::size_t>(message.to)];
    end_part(receiver, at, receiving(receiver, message.from, message.size), held_up);
    runnable_.push_back(message.to);
  }
  run_all(c, call, done);
  retire(c);
}

}  // namespace nplus1::simnode::engine
