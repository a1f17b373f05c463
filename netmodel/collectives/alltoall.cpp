// A block of its own from everybody to everybody (Alltoall, Alltoallv).
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// MPICH's MPIR_CVAR_ALLTOALL_THROTTLE.
constexpr std::int32_t kThrottle = 32;

/// What I exchange with each member. Empty blocks are skipped where both sides know of them.
struct Pairs {
  explicit Pairs(const CollectiveCall& c) : call{c}, blocks{c} {}

  [[nodiscard]] bool sends(std::int32_t to) const { return call.receive_sizes.empty() || blocks.of(to) > 0; }
  [[nodiscard]] bool receives(std::int32_t from) const {
    return call.receive_sizes.empty() || call.receive_sizes[static_cast<std::size_t>(from)] > 0;
  }

  const CollectiveCall& call;
  Blocks blocks;
};

/// Rounds of `batch` partners: start all sends, then wait for all receives. MPICH counts the member itself as
/// the first partner of the first round.
void in_batches(const CollectiveCall& call, std::int32_t batch, std::vector<Step>& steps) {
  const Pairs pairs{call};
  for (std::int32_t begin = 0; begin < call.members; begin += batch) {
    const std::int32_t first = std::max(begin, 1);
    const std::int32_t last = std::min(begin + batch, call.members);
    const std::size_t first_step = steps.size();
    for (std::int32_t d = first; d < last; ++d) {
      const std::int32_t to = before(call, d);
      if (pairs.sends(to)) send(steps, to, pairs.blocks.of(to));
    }
    for (std::int32_t d = first; d < last; ++d) {
      const std::int32_t from = after(call, d);
      if (pairs.receives(from)) receive(steps, from);
    }
    join_from(steps, first_step);
  }
}

/// How many of 0..members-1 have `bit` set.
std::int64_t with_bit(std::int32_t members, std::int32_t bit) {
  const std::int32_t period = 2 * bit;
  return members / period * bit + std::max(0, members % period - bit);
}

}  // namespace

/// Bruck et al. 1997: about log2(members) messages of half of all blocks each.
void alltoall_bruck(const CollectiveCall& call, std::vector<Step>& steps) {
  for (std::int32_t bit = 1; bit < call.members; bit *= 2) {
    exchange(steps, after(call, bit), with_bit(call.members, bit) * count(call.size), before(call, bit));
  }
}

void alltoall_scattered(const CollectiveCall& call, std::vector<Step>& steps) {
  in_batches(call, kThrottle, steps);
}

void alltoall_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  in_batches(call, call.members, steps);
}

void alltoall_pairwise(const CollectiveCall& call, std::vector<Step>& steps) {
  const Pairs pairs{call};
  const bool by_bits = power_of_two(call.members);
  for (std::int32_t d = 1; d < call.members; ++d) {
    const std::int32_t to = by_bits ? call.me ^ d : after(call, d);
    const std::int32_t from = by_bits ? to : before(call, d);
    const bool sends = pairs.sends(to);
    const bool receives = pairs.receives(from);
    if (!sends && !receives) continue;
    exchange(steps, sends ? to : kNoMember, sends ? pairs.blocks.of(to) : 0, receives ? from : kNoMember);
  }
}

/// Open MPI's: one member further each round, whatever the number of members, empty blocks included.
void alltoall_openmpi_pairwise(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t d = 1; d < call.members; ++d) {
    exchange(steps, after(call, d), blocks.of(after(call, d)), before(call, d));
  }
}

/// Open MPI's: everything at once in the order of the members, empty blocks included.
void alltoallv_openmpi_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  const std::size_t first_step = steps.size();
  for (std::int32_t to = 0; to < call.members; ++to) {
    if (to != call.me) send(steps, to, blocks.of(to));
  }
  for (std::int32_t from = 0; from < call.members; ++from) {
    if (from != call.me) receive(steps, from);
  }
  join_from(steps, first_step);
}

}  // namespace nplus1::netmodel::algorithms
