// Exchanges along the edges of a process topology.
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// All sends, then all receives; empty blocks travel too, as in MPICH.
void neighbor_all_at_once(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  const std::size_t first_step = steps.size();
  for (std::size_t i = 0; i < call.destinations.size(); ++i) {
    send(steps, static_cast<std::int32_t>(call.destinations[i]), blocks.of(static_cast<std::int32_t>(i)));
  }
  for (const std::uint32_t source : call.sources) receive(steps, static_cast<std::int32_t>(source));
  join_from(steps, first_step);
}

}  // namespace nplus1::netmodel::algorithms
