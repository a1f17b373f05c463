// MPICH 4.0.2's choice of algorithms: its built-in table (maint/tuning/coll/mpir/generic.json, which is
// compiled into libmpich) for intracommunicator collectives on a flat communicator. The table counts
// elements and looks at the operation; here an element has 8 bytes and the operation is built in. Checked
// against the messages that libmpich hands to UCX: docs/networks.md.
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

AppendFunction bcast(const CollectiveCall& call) {
  if (count(call.size) <= 12288 || call.members < 8) return bcast_binomial;
  if (count(call.size) <= 524288 && power_of_two(call.members))
    return bcast_scatter_recursive_doubling_allgather;
  return bcast_scatter_ring_allgather;
}

/// Fewer elements than parts of a halving.
bool too_few_elements(const CollectiveCall& call) {
  return count(call.size) / kElement < floor_power_of_two(call.members);
}

AppendFunction reduce(const CollectiveCall& call) {
  return count(call.size) <= 2048 || too_few_elements(call) ? reduce_binomial : reduce_rabenseifner;
}

AppendFunction allreduce(const CollectiveCall& call) {
  return count(call.size) <= 8 || too_few_elements(call) ? allreduce_recursive_doubling
                                                         : allreduce_rabenseifner;
}

AppendFunction allgather(const CollectiveCall& call) {
  const std::int64_t total = Blocks{call}.total();
  if (power_of_two(call.members)) return total < 524288 ? allgather_recursive_doubling : allgather_ring;
  return total < 81920 ? allgather_bruck : allgather_ring;
}

AppendFunction allgatherv(const CollectiveCall& call) {
  const AppendFunction chosen = allgather(call);
  return chosen == allgather_ring ? allgatherv_pipelined_ring : chosen;
}

AppendFunction alltoall(const CollectiveCall& call) {
  // The table says "comm_size<8" for the other branch; the library takes that one for 8 members too.
  if (count(call.size) <= 256 && call.members > 8) return alltoall_bruck;
  return count(call.size) <= 32768 ? alltoall_scattered : alltoall_pairwise;
}

AppendFunction reduce_scatter(const CollectiveCall& call) {
  return Blocks{call}.total() < 524288 ? reduce_scatter_recursive_halving : reduce_scatter_pairwise;
}

// What the table has otherwise for non-blocking forms. Their schedules ("sched") start what belongs to one
// round in another order than the blocking algorithms of the same name, but send the same messages.

AppendFunction ibcast(const CollectiveCall& call) {
  if (count(call.size) < 12288 || call.members < 8) return bcast_binomial;
  if (count(call.size) < 524288 && power_of_two(call.members))
    return bcast_scatter_recursive_doubling_allgather;
  return bcast_scatter_ring_allgather;
}

AppendFunction iallreduce(const CollectiveCall& call) {
  return count(call.size) <= 2048 || too_few_elements(call) ? allreduce_recursive_doubling
                                                            : allreduce_rabenseifner;
}

AppendFunction ialltoall(const CollectiveCall& call) {
  if (count(call.size) <= 2048 && call.members > 8) return alltoall_bruck;
  return count(call.size) <= 32768 ? alltoall_scattered : alltoall_pairwise;
}

/// The table means bytes of the whole, but what it is compared with counts elements.
AppendFunction ireduce_scatter_block(const CollectiveCall& call) {
  const std::int64_t elements = count(call.size) / element_size(count(call.size)) * call.members;
  return elements < 524288 ? reduce_scatter_recursive_halving : reduce_scatter_pairwise;
}

}  // namespace

AppendFunction mpich_nonblocking_choice(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBcast:
      return ibcast(call);
    case CollectiveKind::kAllreduce:
      return iallreduce(call);
    case CollectiveKind::kAlltoall:
      return ialltoall(call);
    case CollectiveKind::kReduceScatterBlock:
      return ireduce_scatter_block(call);
    default:
      return mpich_choice(call);
  }
}

AppendFunction mpich_choice(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSynchronize:
      return barrier_dissemination;
    case CollectiveKind::kBcast:
      return bcast(call);
    case CollectiveKind::kGather:
      return gather_binomial;
    case CollectiveKind::kGatherv:
      return gather_linear;
    case CollectiveKind::kScatter:
      return scatter_binomial;
    case CollectiveKind::kScatterv:
      return scatter_linear;
    case CollectiveKind::kAllgather:
      return allgather(call);
    case CollectiveKind::kAllgatherv:
      return allgatherv(call);
    case CollectiveKind::kAlltoall:
      return alltoall(call);
    case CollectiveKind::kAlltoallv:
      return alltoall_scattered;
    case CollectiveKind::kReduce:
      return reduce(call);
    case CollectiveKind::kAllreduce:
      return allreduce(call);
    case CollectiveKind::kReduceScatterBlock:
    case CollectiveKind::kReduceScatter:
      return reduce_scatter(call);
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return scan_recursive_doubling;
    case CollectiveKind::kNeighborAllgather:
    case CollectiveKind::kNeighborAlltoall:
      break;
  }
  return neighbor_all_at_once;
}

}  // namespace nplus1::netmodel::algorithms
