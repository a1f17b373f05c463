// The allgather by recursive doubling that Allgather, Allgatherv and Bcast share. Private to
// netmodel/collectives.
#pragma once

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// The part of a recursive doubling in which a member has no partner: the `known` of its tree of `bit`
/// members that did get the other, incomplete tree's blocks pass them on to the rest by recursive halving.
template <class Member>
void append_tail(std::int32_t me, std::int32_t bit, std::int32_t known, Member member, std::int64_t size,
                 std::vector<Step>& steps) {
  for (bit /= 2; bit > 0; bit /= 2) {
    const std::int32_t peer = me ^ bit;
    const std::int32_t knows = (me & -(2 * bit)) + known;
    if (peer > me && me < knows && peer >= knows) send(steps, member(peer), size);
    if (peer < me && peer < knows && me >= knows) receive(steps, member(peer));
  }
}

/// `me` owns block `me` of `members`; in the end it has all. `member(i)` is the member that owns block i,
/// `range(a, b)` the bytes of blocks a..b-1. Both libraries take it as an allgather for powers of two only;
/// Open MPI's Bcast takes it for any number of members.
template <class Member, class Range>
void append_recursive_doubling(std::int32_t members, std::int32_t me, Member member, Range range,
                               std::vector<Step>& steps) {
  for (std::int32_t bit = 1; bit < members; bit *= 2) {
    const std::int32_t mine = me & -bit;
    const std::int32_t theirs = mine ^ bit;
    const std::int32_t peer = me ^ bit;
    const auto last = [&](std::int32_t tree) { return tree + bit < members ? tree + bit : members; };
    if (peer < members) exchange(steps, member(peer), range(mine, last(mine)), member(peer));
    const bool incomplete = theirs < members && theirs + bit > members;
    if (incomplete) append_tail(me, bit, members - theirs, member, range(theirs, members), steps);
  }
}

}  // namespace nplus1::netmodel::algorithms
