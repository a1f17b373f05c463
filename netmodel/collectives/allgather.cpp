// Everybody's block to everybody (Allgather, Allgatherv).
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/recursive_doubling.hpp"

namespace nplus1::netmodel::algorithms {

void allgather_recursive_doubling(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  append_recursive_doubling(
      call.members, call.me, [](std::int32_t member) { return member; },
      [&](std::int32_t first, std::int32_t last) { return blocks.range(first, last); }, steps);
}

/// Bruck et al. 1997: the blocks known double each round, for any number of members.
void allgather_bruck(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t known = 1; known < call.members; known *= 2) {
    const std::int32_t given = std::min(known, call.members - known);
    exchange(steps, before(call, known), blocks.cyclic(call.me, given), after(call, known));
  }
}

/// Empty blocks are skipped: all members know the sizes.
void allgather_ring(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t i = 0; i + 1 < call.members; ++i) {
    const std::int64_t given = blocks.of(before(call, i));
    const bool receives = blocks.of(before(call, i + 1)) > 0;
    exchange_unless_empty(steps, after(call, 1), given, receives ? before(call, 1) : kNoMember);
  }
}

}  // namespace nplus1::netmodel::algorithms
