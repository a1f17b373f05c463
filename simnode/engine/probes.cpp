#include "simnode/engine/probes.hpp"

#include <algorithm>

#include "simnode/engine/agenda.hpp"
#include "simnode/engine/calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/point_to_point.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

bool Probes::probe(Lane& lane, const events::Event& event, Outcome& out) {
  out.answer.flag = 1;
  if (event.peer_rank() == kProcNull) {
    out.answer.source = kProcNull.value;
    out.answer.tag = kAnyTag;
    return true;
  }
  if (waits_for_its_own(event)) {
    post(lane, event);
    return false;
  }
  bool certain = false;
  const std::optional<Time> when = decision_time(lane, event, certain);
  if (certain) {
    conclude(lane, event, out);
    return true;
  }
  calls_.block(lane, event, {});
  ++lanes_.rank_of(lane).probing;
  if (when) agenda_.plan(lane, *when);
  return false;
}

/// MPI_Mprobe takes its message as a receive does, and has its place among the receives that its rank's threads post:
/// else it would depend on when the engine hears of the message whether the probe gets it or a later receive, and no
/// recording says that.
void Probes::post(Lane& lane, const events::Event& event) {
  lane.poll.reset();
  calls_.block(lane, event, {});
  point_to_point_.post(lane.rank, {event.comm.value, event.peer_rank(), event.tag,
                                   token_of_lane(lanes_.index_of(lane)), lane.entry});
}

void Probes::matched(RankId receiver, const semantics::Receive& probe, const semantics::Message& message) {
  Rank& rank = lanes_.rank_of(receiver);
  rank.taken.emplace(std::pair{message.source, message.sequence}, message);
  Outcome& waking = calls_.waking();
  waking.answer.flag = 1;
  waking.answer.source = message.source.value;
  waking.answer.tag = message.tag;
  waking.answer.sequence = message.sequence;
  waking.answer.size = count(message.size);
  waking.exit = std::max(probe.posted, rank.mailbox.visible(message));
  calls_.resume(lanes_[lane_in(probe.id)], waking);
}

std::optional<Time> Probes::decision_time(Lane& lane, const events::Event& event, bool& certain) {
  semantics::Mailbox& mailbox = lanes_.rank_of(lane).mailbox;
  const semantics::Message* message = mailbox.peek(event.comm.value, event.peer_rank(), event.tag);
  certain = message != nullptr && event.peer_rank() != kAnySource;
  if (event.kind == EventKind::kIprobe)
    return message == nullptr ? lane.entry : std::min(lane.entry, mailbox.visible(*message));
  if (message == nullptr) return std::nullopt;
  return mailbox.visible(*message);
}

void Probes::conclude(Lane& lane, const events::Event& event, Outcome& out) {
  semantics::Mailbox& mailbox = lanes_.rank_of(lane).mailbox;
  const semantics::Message* found = mailbox.peek(event.comm.value, event.peer_rank(), event.tag);
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
  if (taken) lanes_.rank_of(lane).taken.emplace(std::pair{taken->source, taken->sequence}, *taken);
  agenda_.touch(lane.rank);
}

}  // namespace nplus1::simnode::engine
