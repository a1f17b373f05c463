// The allgather by recursive doubling that Allgather, Allgatherv and Bcast share. Private to
// netmodel/collectives.
#pragma once

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// `me` owns block `me` of `members`; in the end it has all. `member(i)` is the member that owns block i,
/// `range(a, b)` the bytes of blocks a..b-1. Members beyond a power of two hand their block to a neighbour
/// and get all others back (MPICH takes this algorithm for powers of two only).
template <class Member, class Range>
void append_recursive_doubling(std::int32_t members, std::int32_t me, Member member, Range range,
                               std::vector<Step>& steps) {
  const Fold fold{members, Fold::Out::kEven};
  const std::int32_t partner = member(fold.paired(me) ? Fold::partner(me) : me);
  if (fold.sits_out(me)) {
    send(steps, partner, range(me, me + 1));
    return receive(steps, partner);
  }
  if (fold.paired(me)) receive(steps, partner);
  const std::int32_t number = fold.number(me);
  for (std::int32_t bit = 1; bit < fold.core; bit *= 2) {
    const std::int32_t peer = member(fold.member(number ^ bit));
    const std::int32_t first = number & -bit;
    exchange(steps, peer, range(fold.first_block(first), fold.first_block(first + bit)), peer);
  }
  if (fold.paired(me)) send(steps, partner, range(0, members) - range(me - 1, me));
}

}  // namespace nplus1::netmodel::algorithms
