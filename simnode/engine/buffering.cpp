#include "simnode/engine/buffering.hpp"

#include <utility>

#include "semantics/timing.hpp"
#include "simnode/engine/agenda.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/point_to_point.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;
using events::SendMode;

bool Buffering::release_earliest() {
  std::optional<Stuck> earliest;
  for (Lane& lane : lanes_) {
    if (lane.run != Run::kBlocked) continue;
    const std::optional<Stuck> stuck = stuck_send(lane);
    if (stuck && (!earliest || stuck->before(*earliest))) earliest = stuck;
  }
  if (!earliest) return false;
  ++counters_.relies_on_buffering;
  semantics::Message message = earliest->message;
  const Time ready = message.at;
  const Token token = message.user;
  Lane& lane = lanes_[earliest->lane];
  if (contention_) {
    message.user = 0;  // it travels when it meets its receive, and nobody waits for that
  } else {
    message.rendezvous = false;
    const Time entry = ready - network_.send_overhead(message.size);
    message.at = semantics::send_eager(network_, entry, message.source, earliest->destination, message.size,
                                       lane.interface_free)
                     .arrival;
  }
  lanes_.rank_of(earliest->destination).mailbox.update(message);
  point_to_point_.complete(message.source, token, ready);
  agenda_.touch(earliest->destination);
  return true;
}

/// The earliest unmatched send that this blocked lane waits for and that a larger eager threshold would free.
std::optional<Buffering::Stuck> Buffering::stuck_send(Lane& lane) {
  std::optional<Stuck> earliest;
  const auto consider = [&](CommId comm, RankId destination, std::uint64_t sequence) {
    const semantics::Message* message =
        lanes_.rank_of(destination).mailbox.find(comm.value, lane.rank, sequence);
    if (message == nullptr) return;
    const Stuck stuck{*message, destination, lanes_.index_of(lane)};
    if (!earliest || stuck.before(*earliest)) earliest = stuck;
  };
  if (lane.current.kind == EventKind::kSend) {
    if (lane.current.send_mode() != SendMode::kSynchronous)
      consider(lane.current.comm, lane.current.peer_rank(), lane.current.aux);
    return earliest;
  }
  if (lane.current.kind != EventKind::kWait) return earliest;
  for (const std::uint32_t id : lane.words) {
    Request* request = lanes_.rank_of(lane).requests.find(RequestId{id});
    if (request != nullptr && !request->known && request->kind == Request::Kind::kSend &&
        !request->synchronous)
      consider(request->pending().comm, RankId{request->pending().peer}, request->pending().sequence);
  }
  return earliest;
}

}  // namespace nplus1::simnode::engine
