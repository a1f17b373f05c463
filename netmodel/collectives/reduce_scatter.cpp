// Everybody's vector combined, a block of the result to each (Reduce_scatter, Reduce_scatter_block).
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

void reduce_scatter_recursive_halving(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kEven};
  const Blocks blocks{call};
  const std::int32_t partner = Fold::partner(call.me);
  if (fold.sits_out(call.me)) {
    send(steps, partner, blocks.total());
    return receive(steps, partner);
  }
  if (fold.paired(call.me)) receive(steps, partner);
  const std::int32_t number = fold.number(call.me);
  for (std::int32_t bit = fold.core / 2; bit > 0; bit /= 2) {
    const std::int32_t peer = fold.member(number ^ bit);
    const std::int32_t first = (number ^ bit) & -bit;
    exchange(steps, peer, blocks.range(fold.first_block(first), fold.first_block(first + bit)), peer);
  }
  if (fold.paired(call.me)) send(steps, partner, blocks.of(partner));
}

/// Empty blocks are skipped: all members know the sizes.
void reduce_scatter_pairwise(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  const bool receives = blocks.of(call.me) > 0;
  for (std::int32_t d = 1; d < call.members; ++d) {
    const std::int32_t to = after(call, d);
    const bool sends = blocks.of(to) > 0;
    if (!sends && !receives) continue;
    exchange(steps, sends ? to : kNoMember, blocks.of(to), receives ? before(call, d) : kNoMember);
  }
}

}  // namespace nplus1::netmodel::algorithms
