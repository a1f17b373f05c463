// Everybody's vector combined, a block of the result to each (Reduce_scatter, Reduce_scatter_block).
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// Halves without any bytes are skipped: all members know the sizes.
void reduce_scatter_recursive_halving(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kEven};
  const Blocks blocks{call};
  const std::int32_t partner = Fold::partner(call.me);
  if (fold.sits_out(call.me)) {
    send(steps, partner, blocks.total());
    if (blocks.of(call.me) > 0) receive(steps, partner);
    return;
  }
  if (fold.paired(call.me)) receive(steps, partner);
  const std::int32_t number = fold.number(call.me);
  for (std::int32_t bit = fold.core / 2; bit > 0; bit /= 2) {
    const std::int32_t peer = fold.member(number ^ bit);
    const auto half = [&](std::int32_t of) {
      return blocks.range(fold.first_block(of & -bit), fold.first_block((of & -bit) + bit));
    };
    const std::int64_t given = half(number ^ bit);
    exchange_unless_empty(steps, peer, given, half(number) > 0 ? peer : kNoMember);
  }
  if (fold.paired(call.me) && blocks.of(partner) > 0) send(steps, partner, blocks.of(partner));
}

/// Empty blocks travel too, as in MPICH.
void reduce_scatter_pairwise(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t d = 1; d < call.members; ++d) {
    exchange(steps, after(call, d), blocks.of(after(call, d)), before(call, d));
  }
}

}  // namespace nplus1::netmodel::algorithms
