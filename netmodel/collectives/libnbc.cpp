// Open MPI 4.1.4's non-blocking collectives (coll/libnbc): few algorithms, of which most send everything at
// once in the order of the members, empty blocks included, and the rules by which it takes them, with
// operations that commute. Checked against the messages that libmpi hands to its point-to-point layer:
// docs/networks.md.
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/trees.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// Numbers in which the root has changed places with member 0.
std::int32_t swapped(std::int32_t member, const CollectiveCall& call) {
  if (member == call.root) return 0;
  return member == 0 ? call.root : member;
}

/// The pieces of a chain: whole elements, all alike but the last, which has what is left.
template <class Visit>
void each_piece(std::int64_t size, std::int64_t limit, Visit visit) {
  const std::int64_t element = element_size(size);
  const std::int64_t largest = piece_of(size, limit);
  const std::int64_t pieces = (size + largest - 1) / largest;
  const std::int64_t each = size / element / pieces * element;
  for (std::int64_t i = 1; i < pieces; ++i) visit(each);
  visit(size - each * (pieces - 1));
}

bool too_few_elements(const CollectiveCall& call) {
  return count(call.size) / element_size(count(call.size)) < floor_power_of_two(call.members);
}

AppendFunction bcast(const CollectiveCall& call) {
  return call.members <= 4 ? bcast_linear : bcast_libnbc_binomial;
}

AppendFunction reduce(const CollectiveCall& call) {
  if (call.members > 2 && !too_few_elements(call)) return reduce_openmpi_rabenseifner;
  if (call.members > 4 || count(call.size) < 65536) return reduce_libnbc_binomial;
  return reduce_libnbc_chain;
}

AppendFunction allreduce(const CollectiveCall& call) {
  if (call.members < 4 || count(call.size) < 65536) return allreduce_libnbc_binomial;
  return too_few_elements(call) ? allreduce_ring : allreduce_openmpi_rabenseifner;
}

}  // namespace

void bcast_libnbc_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const HighBitTree tree{call.members};
  const std::int32_t number = swapped(call.me, call);
  if (number != 0) receive(steps, swapped(tree.parent(number), call));
  tree.each_child(number, [&](std::int32_t child) { send(steps, swapped(child, call), count(call.size)); });
}

void reduce_libnbc_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::int32_t number = swapped(call.me, call);
  for (std::int32_t bit = 1; bit < call.members; bit *= 2) {
    if ((number & bit) != 0) return send(steps, swapped(number - bit, call), count(call.size));
    if (number + bit < call.members) receive_and_combine(steps, swapped(number + bit, call));
  }
}

void reduce_libnbc_chain(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::int32_t number = swapped(call.me, call);
  each_piece(count(call.size), 8192, [&](std::int64_t piece) {
    if (number + 1 < call.members) receive_and_combine(steps, swapped(number + 1, call));
    if (number > 0) send(steps, swapped(number - 1, call), piece);
  });
}

void allreduce_libnbc_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  CollectiveCall rooted = call;
  rooted.root = 0;
  reduce_libnbc_binomial(rooted, steps);
  bcast_libnbc_binomial(rooted, steps);
}

/// To member 0 by a tree, which sends the blocks, empty ones included.
void reduce_scatter_libnbc_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  CollectiveCall rooted = call;
  rooted.root = 0;
  rooted.size = bytes(blocks.total());
  reduce_libnbc_binomial(rooted, steps);
  rooted.size = call.size;
  scatterv_libnbc_linear(rooted, steps);
}

void gatherv_libnbc_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != call.root) return send(steps, call.root, Blocks{call}.of(call.me));
  const std::size_t first_step = steps.size();
  for (std::int32_t from = 0; from < call.members; ++from)
    if (from != call.root) receive(steps, from);
  join_from(steps, first_step);
}

void scatterv_libnbc_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != call.root) return receive(steps, call.root);
  const Blocks blocks{call};
  const std::size_t first_step = steps.size();
  for (std::int32_t to = 0; to < call.members; ++to)
    if (to != call.root) send(steps, to, blocks.of(to));
  join_from(steps, first_step);
}

/// Everybody's block to everybody, beginning with the next member.
void allgatherv_libnbc_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  const std::size_t first_step = steps.size();
  for (std::int32_t d = 1; d < call.members; ++d)
    exchange(steps, after(call, d), blocks.of(call.me), before(call, d));
  join_from(steps, first_step);
}

/// Everything at once, in the order of the members; blocks that are known to be empty are skipped.
void alltoall_libnbc_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  const std::span<const std::int64_t> incoming = call.receive_sizes;
  const std::size_t first_step = steps.size();
  for (std::int32_t i = 0; i < call.members; ++i) {
    if (i == call.me) continue;
    const bool sends = incoming.empty() || blocks.of(i) > 0;
    const bool receives = incoming.empty() || incoming[static_cast<std::size_t>(i)] > 0;
    if (sends || receives)
      exchange(steps, sends ? i : kNoMember, sends ? blocks.of(i) : 0, receives ? i : kNoMember);
  }
  join_from(steps, first_step);
}

AppendFunction libnbc_choice(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      return barrier_dissemination;
    case CollectiveKind::kBcast:
      return bcast(call);
    case CollectiveKind::kGather:
      return gather_linear;
    case CollectiveKind::kScatter:
      return scatter_linear;
    case CollectiveKind::kGatherv:
      return gatherv_libnbc_linear;
    case CollectiveKind::kScatterv:
      return scatterv_libnbc_linear;
    case CollectiveKind::kAllgather:
      return allgather_linear;
    case CollectiveKind::kAllgatherv:
      return allgatherv_libnbc_linear;
    case CollectiveKind::kAlltoall:
      return alltoall_libnbc_linear;
    case CollectiveKind::kAlltoallv:
      return alltoall_libnbc_linear;
    case CollectiveKind::kReduce:
      return reduce(call);
    case CollectiveKind::kAllreduce:
      return allreduce(call);
    case CollectiveKind::kReduceScatterBlock:
    case CollectiveKind::kReduceScatter:
      return reduce_scatter_libnbc_binomial;
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return scan_linear;
    default:
      return openmpi_choice(call);
  }
}

}  // namespace nplus1::netmodel::algorithms
