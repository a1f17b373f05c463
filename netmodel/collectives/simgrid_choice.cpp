// What SimGrid 3.32's SMPI takes unless told otherwise (its selector `default`): simple algorithms for all
// but Alltoall, whatever the size. For comparisons with SMPI.
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// By Open MPI's rules, with a pairwise exchange of its own.
AppendFunction alltoall(const CollectiveCall& call) {
  const AppendFunction chosen = openmpi_choice(call);
  return chosen == alltoall_openmpi_pairwise ? alltoall_pairwise : chosen;
}

/// The linear one for blocks of one size alone; else as an old MPICH does, by the number of elements.
AppendFunction reduce_scatter(const CollectiveCall& call) {
  constexpr std::int64_t kManyElements = 524288;
  const auto differs = [&](std::int64_t size) { return size != call.sizes.front(); };
  const bool regular = std::none_of(call.sizes.begin(), call.sizes.end(), differs);
  if (regular) return reduce_scatter_simgrid_linear;
  const bool many = Blocks{call}.total() / kElement > kManyElements;
  return many ? reduce_scatter_pairwise : reduce_scatter_recursive_doubling;
}

}  // namespace

AppendFunction simgrid_choice(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      return barrier_linear;
    case CollectiveKind::kBcast:
      return bcast_binomial;
    case CollectiveKind::kGather:
      return gather_linear;
    case CollectiveKind::kScatter:
      return scatter_linear;
    case CollectiveKind::kGatherv:
      return gatherv_libnbc_linear;
    case CollectiveKind::kScatterv:
      return scatterv_libnbc_linear;
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAllgatherv:
      return allgather_linear;
    case CollectiveKind::kAlltoall:
      return alltoall(call);
    case CollectiveKind::kAlltoallv:
      return alltoallv_openmpi_linear;
    case CollectiveKind::kReduce:
      return reduce_simgrid_linear;
    case CollectiveKind::kAllreduce:
      return allreduce_linear_reduce_bcast;
    case CollectiveKind::kReduceScatterBlock:
    case CollectiveKind::kReduceScatter:
      return reduce_scatter(call);
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return scan_all_pairs;
    default:
      return mpich_choice(call);  // which knows but one
  }
}

}  // namespace nplus1::netmodel::algorithms
