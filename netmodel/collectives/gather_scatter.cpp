// Blocks to one member, or from one member (Gather, Gatherv, Scatter, Scatterv).
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// The blocks of the subtree that hangs below `relative` by its lowest set bit.
std::int32_t subtree(std::int32_t relative, const CollectiveCall& call) {
  return std::min(relative & -relative, call.members - relative);
}

}  // namespace

/// Empty blocks are skipped: the root knows all sizes, the others their own.
void gather_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  if (call.me != call.root) {
    if (blocks.of(call.me) > 0) send(steps, call.root, blocks.of(call.me));
    return;
  }
  const std::size_t first_step = steps.size();
  for (std::int32_t from = 0; from < call.members; ++from) {
    if (from != call.root && blocks.of(from) > 0) receive(steps, from);
  }
  join_from(steps, first_step);
}

void gather_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  const std::int32_t parent_bit = me == 0 ? ceil_power_of_two(call.members) : me & -me;
  for (std::int32_t bit = 1; bit < parent_bit; bit *= 2) {
    if (me + bit < call.members) receive(steps, relative.member(me + bit));
  }
  if (me != 0) send(steps, relative.member(me - parent_bit), subtree(me, call) * count(call.size));
}

void scatter_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  if (call.me != call.root) {
    if (blocks.of(call.me) > 0) receive(steps, call.root);
    return;
  }
  const std::size_t first_step = steps.size();
  for (std::int32_t to = 0; to < call.members; ++to) {
    if (to != call.root && blocks.of(to) > 0) send(steps, to, blocks.of(to));
  }
  join_from(steps, first_step);
}

void scatter_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  std::int32_t bit = me == 0 ? ceil_power_of_two(call.members) : me & -me;
  if (me != 0) receive(steps, relative.member(me - bit));
  for (bit /= 2; bit > 0; bit /= 2) {
    const std::int32_t child = me + bit;
    if (child < call.members) send(steps, relative.member(child), subtree(child, call) * count(call.size));
  }
}

/// Open MPI's for large blocks: the root calls for one block after the other. Each is followed by an empty
/// message, for which the root waits in the end.
void gather_synchronized(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != call.root) {
    receive(steps, call.root);
    send(steps, call.root, count(call.size));
    return send(steps, call.root, 0);
  }
  const auto each = [&call](auto visit) {
    for (std::int32_t from = 0; from < call.members; ++from) {
      if (from != call.root) visit(from);
    }
  };
  each([&](std::int32_t from) { exchange(steps, from, 0, from); });
  each([&](std::int32_t from) { receive(steps, from); });
}

}  // namespace nplus1::netmodel::algorithms
