#include "analyses/collective_rounds.hpp"

#include "netmodel/collectives/schedule.hpp"
#include "semantics/collective_call.hpp"

namespace nplus1::analyses {

std::vector<events::exchange::Round> collective_rounds(const events::TimedEvent& collective,
                                                       std::int32_t member, std::int32_t members) {
  std::vector<std::int64_t> edge_sizes;
  const netmodel::CollectiveCall call =
      semantics::collective_call(collective.event, collective.extension, {members, member}, edge_sizes);
  std::vector<netmodel::Step> steps;
  netmodel::append_steps(call, steps);
  std::vector<events::exchange::Round> rounds;
  for (const netmodel::Step& step : steps)
    rounds.push_back({step.send_to, step.receive_from, count(step.size)});
  return rounds;
}

}  // namespace nplus1::analyses
