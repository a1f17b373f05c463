// Everybody's vector combined, a block of the result to each (Reduce_scatter, Reduce_scatter_block).
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/recursive_doubling.hpp"

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
  if (fold.paired(call.me)) receive_and_combine(steps, partner);
  const std::int32_t number = fold.number(call.me);
  for (std::int32_t bit = fold.core / 2; bit > 0; bit /= 2) {
    const std::int32_t peer = fold.member(number ^ bit);
    const auto half = [&](std::int32_t of) {
      return blocks.range(fold.first_block(of & -bit), fold.first_block((of & -bit) + bit));
    };
    const std::int64_t given = half(number ^ bit);
    exchange_unless_empty(steps, peer, given, half(number) > 0 ? peer : kNoMember);
    if (half(number) > 0) combine(steps);
  }
  if (fold.paired(call.me) && blocks.of(partner) > 0) send(steps, partner, blocks.of(partner));
}

/// Empty blocks travel too, as in MPICH.
void reduce_scatter_pairwise(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t d = 1; d < call.members; ++d) {
    exchange(steps, after(call, d), blocks.of(after(call, d)), before(call, d));
    combine(steps);
  }
}

/// Partial results travel round the ring, ending with the block's owner.
void reduce_scatter_ring(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t i = 1; i < call.members; ++i) {
    exchange(steps, after(call, 1), blocks.of(before(call, i)), before(call, 1));
    combine(steps);
  }
}

/// In round `bit` everything travels but the blocks of the own tree of `bit` members.
void reduce_scatter_recursive_doubling(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t bit = 1; bit < call.members; bit *= 2) {
    const std::int32_t mine = call.me & -bit;
    const std::int32_t theirs = mine ^ bit;
    const std::int32_t peer = call.me ^ bit;
    const auto but = [&](std::int32_t tree) {
      return blocks.total() - blocks.range(tree, std::min(tree + bit, call.members));
    };
    const std::size_t begin = steps.size();
    if (peer < call.members) exchange(steps, peer, but(mine), peer);
    const bool incomplete = theirs < call.members && theirs + bit > call.members;
    const auto member = [](std::int32_t m) { return m; };
    if (incomplete) append_tail(call.me, bit, call.members - theirs, member, but(theirs), steps);
    for (std::size_t i = begin; i < steps.size(); ++i) steps[i].combines = steps[i].receive_from != kNoMember;
  }
}

namespace {

/// The bits of `number` below `core` in reverse.
std::int32_t mirrored(std::int32_t number, std::int32_t core) {
  std::int32_t result = 0;
  for (std::int32_t bit = 1; bit < core; bit *= 2) result = 2 * result + ((number & bit) != 0 ? 1 : 0);
  return result;
}

/// Halving that starts with the neighbour: number n ends with the blocks of number mirrored(n).
void append_butterfly(const Fold& fold, const Blocks& blocks, std::int32_t number, std::vector<Step>& steps) {
  std::int32_t first = 0;
  std::int32_t left = fold.core;
  for (std::int32_t bit = 1; bit < fold.core; bit *= 2) {
    left /= 2;
    const std::int32_t given = (number & bit) == 0 ? first + left : first;
    const std::int32_t peer = fold.member(number ^ bit);
    exchange(steps, peer, blocks.range(fold.first_block(given), fold.first_block(given + left)), peer);
    combine(steps);
    if ((number & bit) != 0) first += left;
  }
}

}  // namespace

/// Traff 2005: keeps the order of the operands. Blocks end with the wrong member and are exchanged once more.
void reduce_scatter_butterfly(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kEven};
  const Blocks blocks{call};
  const auto mirror = [&](std::int32_t number) { return mirrored(number, fold.core); };
  if (fold.sits_out(call.me)) {
    send(steps, Fold::partner(call.me), blocks.total());
    return receive(steps, fold.member(mirror(fold.number(call.me))));
  }
  if (fold.paired(call.me)) receive_and_combine(steps, Fold::partner(call.me));
  const std::int32_t number = fold.number(call.me);
  append_butterfly(fold, blocks, number, steps);
  const std::int32_t owner = fold.member(mirror(number));
  if (fold.paired(owner)) send(steps, Fold::partner(owner), blocks.of(Fold::partner(owner)));
  if (owner != call.me) exchange(steps, owner, blocks.of(owner), owner);
}

/// As butterfly, for a power of two: blocks of one size are put in place beforehand, without a message.
void reduce_scatter_block_butterfly(const CollectiveCall& call, std::vector<Step>& steps) {
  if (!power_of_two(call.members)) return reduce_scatter_butterfly(call, steps);
  append_butterfly(Fold{call.members, Fold::Out::kEven}, Blocks{call}, call.me, steps);
}

/// Whatever Open MPI takes for Reduce of the whole and Scatter(v) of the blocks.
void reduce_scatter_openmpi_reduce_scatter(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  CollectiveCall rooted = call;
  rooted.root = 0;
  rooted.kind = CollectiveKind::kReduce;
  rooted.size = bytes(blocks.total());
  rooted.sizes = {};
  append_openmpi(rooted, steps);
  rooted.kind = call.sizes.empty() ? CollectiveKind::kScatter : CollectiveKind::kScatterv;
  rooted.size = bytes(blocks.of(call.me));
  rooted.sizes = call.sizes;
  append_openmpi(rooted, steps);
}

namespace {

/// All to member 0, which sends the blocks.
void through_first(const CollectiveCall& call, AppendFunction reduce, std::vector<Step>& steps) {
  const Blocks blocks{call};
  CollectiveCall rooted = call;
  rooted.root = 0;
  rooted.size = bytes(blocks.total());
  reduce(rooted, steps);
  rooted.size = bytes(blocks.of(call.me));
  scatter_linear(rooted, steps);
}

}  // namespace

void reduce_scatter_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  through_first(call, reduce_linear, steps);
}

/// SMPI's.
void reduce_scatter_simgrid_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  through_first(call, reduce_simgrid_linear, steps);
}

}  // namespace nplus1::netmodel::algorithms
