// Everybody waits for everybody, without payload.
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// Hensgen, Finkel, Manber 1988: after round k a member has heard of the 2^k members before it.
void barrier_dissemination(const CollectiveCall& call, std::vector<Step>& steps) {
  for (std::int32_t distance = 1; distance < call.members; distance *= 2) {
    exchange(steps, after(call, distance), 0, before(call, distance));
  }
}

}  // namespace nplus1::netmodel::algorithms
