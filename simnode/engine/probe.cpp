// Probes: what a rank can see of its waiting messages without receiving them (MPI 4.0, section 3.8).
#include <algorithm>

#include "simnode/engine/core.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

bool Core::probe(Lane& lane, const Event& event, Outcome& out) {
  out.answer.flag = 1;
  if (event.peer_rank() == kProcNull) {
    out.answer.source = kProcNull.value;
    out.answer.tag = kAnyTag;
    return true;
  }
  if (waits_for_its_own(event)) {
    post_probe(lane, event);
    return false;
  }
  bool certain = false;
  const std::optional<Time> when = probe_decision_time(lane, event, certain);
  if (certain) {
    conclude_probe(lane, event, out);
    return true;
  }
  block(lane, event, {});
  ++rank_of(lane).probing;
  if (when) decisions_.set(decision_of(lane), *when, tie_of(lane));
  return false;
}

/// MPI_Mprobe takes its message as a receive does, and has its place among the receives that its rank's threads post:
/// else it would depend on when the engine hears of the message whether the probe gets it or a later receive, and no
/// recording says that.
void Core::post_probe(Lane& lane, const Event& event) {
  lane.poll.reset();
  block(lane, event, {});
  post(lane.rank, {event.comm.value, event.peer_rank(), event.tag, kLaneToken | index_of(lane), lane.entry});
}

/// Its message is kept for the receive that names it.
void Core::probed(RankId receiver, const Receive& probe, const Message& message) {
  Rank& rank = rank_of(receiver);
  rank.taken.emplace(std::pair{message.source, message.sequence}, message);
  waking_.reset();
  waking_.answer.flag = 1;
  waking_.answer.source = message.source.value;
  waking_.answer.tag = message.tag;
  waking_.answer.sequence = message.sequence;
  waking_.answer.size = count(message.size);
  waking_.exit = std::max(probe.posted, rank.mailbox.visible(message));
  resume(lanes_[static_cast<std::uint32_t>(probe.id & ~kLaneToken)], waking_);
}

/// As decision_time() for requests. A named source sends in order: its first message decides at once.
std::optional<Time> Core::probe_decision_time(Lane& lane, const Event& event, bool& certain) {
  semantics::Mailbox& mailbox = rank_of(lane).mailbox;
  const Message* message = mailbox.peek(event.comm.value, event.peer_rank(), event.tag);
  certain = message != nullptr && event.peer_rank() != kAnySource;
  if (event.kind == EventKind::kIprobe)
    return message == nullptr ? lane.entry : std::min(lane.entry, mailbox.visible(*message));
  if (message == nullptr) return std::nullopt;
  return mailbox.visible(*message);
}

void Core::conclude_probe(Lane& lane, const Event& event, Outcome& out) {
  semantics::Mailbox& mailbox = rank_of(lane).mailbox;
  const Message* found = mailbox.peek(event.comm.value, event.peer_rank(), event.tag);
  out.answer.flag = 1;
  if (event.kind == EventKind::kIprobe && (found == nullptr || mailbox.visible(*found) > lane.entry))
    return failed_poll(lane, out);
  lane.poll.reset();
  out.exit = std::max(lane.entry, mailbox.visible(*found));
  out.answer.source = found->source.value;
  out.answer.tag = found->tag;
  out.answer.sequence = found->sequence;
  out.answer.size = count(found->size);
  if (!event.has(events::kTakesMessage)) return;
  const auto taken = mailbox.take(event.comm.value, found->source, found->sequence);
  if (taken) rank_of(lane).taken.emplace(std::pair{taken->source, taken->sequence}, *taken);
  touch(lane.rank);
}

}  // namespace nplus1::simnode::engine
