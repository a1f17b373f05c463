#include "cli/collective_rounds.hpp"

#include "netmodel/collectives/schedule.hpp"

namespace nplus1::cli {
namespace {

/// The lists of an event (docs/formats/events.md, "Collectives") as a schedule takes them.
void set_lists(const events::Extension& lists, netmodel::CollectiveCall& call) {
  const auto p = static_cast<std::size_t>(call.members);
  const auto& words = lists.words;
  if (call.kind == CollectiveKind::kNeighborAllgather || call.kind == CollectiveKind::kNeighborAlltoall) {
    if (words.size() < 2 || words.size() < 2 + std::size_t{words[0]} + words[1]) return;
    call.sources = words.subspan(2, words[0]);
    call.destinations = words.subspan(2 + words[0], words[1]);
  } else if (call.kind == CollectiveKind::kAlltoallv && lists.sizes.size() >= 2 * p) {
    call.sizes = lists.sizes.first(p);
    call.receive_sizes = lists.sizes.subspan(p, p);
  } else {
    call.sizes = lists.sizes;
  }
}

}  // namespace

std::vector<events::exchange::Round> collective_rounds(const events::TimedEvent& collective,
                                                       std::int32_t member, std::int32_t members) {
  netmodel::CollectiveCall call;
  call.kind = collective.event.collective();
  call.members = members;
  call.me = member;
  call.root = collective.event.peer;
  call.size = collective.event.payload();
  set_lists(collective.extension, call);
  std::vector<netmodel::Step> steps;
  netmodel::append_steps(call, steps);
  std::vector<events::exchange::Round> rounds;
  for (const netmodel::Step& step : steps)
    rounds.push_back({step.send_to, step.receive_from, count(step.size)});
  return rounds;
}

}  // namespace nplus1::cli
