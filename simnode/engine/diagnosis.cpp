#include "simnode/engine/diagnosis.hpp"

#include <algorithm>
#include <utility>

#include "simnode/engine/collective_calls.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/one_sided.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

std::vector<BlockedThread> Diagnosis::blocked() {
  std::vector<BlockedThread> all;
  for (Lane& lane : lanes_)
    if (lane.run == Run::kBlocked) all.push_back(explain(lane));
  std::sort(all.begin(), all.end(), [](const BlockedThread& a, const BlockedThread& b) {
    return std::pair{a.rank, a.thread} < std::pair{b.rank, b.thread};
  });
  return all;
}

std::vector<BlockedThread> Diagnosis::outside() const {
  std::vector<BlockedThread> all;
  for (const Lane& lane : lanes_)
    if (lane.run == Run::kOutside) all.push_back({lane.rank, lane.thread, lane.current, {}, false, false});
  return all;
}

BlockedThread Diagnosis::explain(Lane& lane) {
  BlockedThread blocked{lane.rank, lane.thread, lane.current, {}, false, false};
  switch (lane.current.kind) {
    case EventKind::kSend:
      blocked.event.aux = 0;
      blocked.awaits.push_back(lane.current.peer_rank());
      blocked.rendezvous = lane.current.send_mode() != events::SendMode::kSynchronous;
      break;
    case EventKind::kRecv:
    case EventKind::kProbe:
    case EventKind::kIprobe:
      blocked.any_source = lane.current.peer_rank() == kAnySource;
      if (!blocked.any_source) blocked.awaits.push_back(lane.current.peer_rank());
      break;
    case EventKind::kCollective:
      blocked.awaits =
          collectives_.members().awaited(lane.current.comm, lane.rank, token_of_lane(lanes_.index_of(lane)));
      break;
    case EventKind::kWindowSync:
      blocked.awaits = one_sided_.awaited(lane);
      break;
    case EventKind::kFileAccess:
      blocked.awaits = files_.awaited(lane);
      break;
    default:
      explain_requests(lane, blocked);
  }
  return blocked;
}

void Diagnosis::explain_requests(Lane& lane, BlockedThread& blocked) {
  for (const std::uint32_t id : lane.words) {
    Request* request = lanes_.rank_of(lane).requests.find(RequestId{id});
    if (request == nullptr || request->known) continue;
    if (request->kind == Request::Kind::kCollective || request->kind == Request::Kind::kFile) {
      for (const RankId r : collectives_.members().awaited(request->pending().comm, lane.rank, id))
        blocked.awaits.push_back(r);
      continue;
    }
    if (request->kind == Request::Kind::kSend && !request->synchronous) blocked.rendezvous = true;
    if (request->pending().peer == kAnySource.value)
      blocked.any_source = true;
    else
      blocked.awaits.push_back(RankId{request->pending().peer});
  }
  std::sort(blocked.awaits.begin(), blocked.awaits.end());
  blocked.awaits.erase(std::unique(blocked.awaits.begin(), blocked.awaits.end()), blocked.awaits.end());
}

}  // namespace nplus1::simnode::engine
