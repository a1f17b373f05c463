// Open MPI 4.1.4's choice of algorithms: the thresholds of coll/tuned's fixed rules, which look at the number
// of members and at a size (of the vector or of one block; of the whole in reduce_scatter), with operations
// that commute and without segments. Gatherv, Scatterv, Scan and Exscan are coll/basic's. Checked against the
// messages that libmpi hands to its point-to-point layer: docs/networks.md.
#include <limits>
#include <span>
#include <stdexcept>

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// Applies to fewer members and smaller sizes than these; the first rule that applies counts.
struct Rule {
  std::int32_t members;
  std::int64_t size;
  AppendFunction append;
};

constexpr std::int32_t kAnyMembers = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

// clang-format off
constexpr Rule kAllreduce[] = {
    {4, 8, allreduce_ring},
    {4, 4096, allreduce_recursive_doubling},
    {4, 8192, allreduce_ring},
    {4, 16384, allreduce_recursive_doubling},
    {4, 262144, allreduce_ring},
    {4, kAnySize, allreduce_openmpi_rabenseifner},
    {8, 16, allreduce_ring},
    {8, 8192, allreduce_recursive_doubling},
    {8, kAnySize, allreduce_openmpi_rabenseifner},
    {16, 8192, allreduce_recursive_doubling},
    {16, kAnySize, allreduce_openmpi_rabenseifner},
    {32, 64, allreduce_ring},
    {32, 4096, allreduce_recursive_doubling},
    {32, kAnySize, allreduce_openmpi_rabenseifner},
    {64, 128, allreduce_ring},
    {64, kAnySize, allreduce_openmpi_rabenseifner},
    {128, 262144, allreduce_recursive_doubling},
    {128, kAnySize, allreduce_openmpi_rabenseifner},
    {256, 131072, allreduce_openmpi_reduce_bcast},
    {256, 262144, allreduce_recursive_doubling},
    {256, kAnySize, allreduce_openmpi_rabenseifner},
    {512, 4096, allreduce_openmpi_reduce_bcast},
    {512, kAnySize, allreduce_openmpi_rabenseifner},
    {2048, 2048, allreduce_openmpi_reduce_bcast},
    {2048, 16384, allreduce_recursive_doubling},
    {2048, kAnySize, allreduce_openmpi_rabenseifner},
    {4096, 2048, allreduce_openmpi_reduce_bcast},
    {4096, 4096, allreduce_ring},
    {4096, 16384, allreduce_recursive_doubling},
    {4096, kAnySize, allreduce_openmpi_rabenseifner},
    {kAnyMembers, 2048, allreduce_openmpi_reduce_bcast},
    {kAnyMembers, 16384, allreduce_ring},
    {kAnyMembers, 32768, allreduce_recursive_doubling},
    {kAnyMembers, kAnySize, allreduce_openmpi_rabenseifner},
};
constexpr Rule kAlltoall[] = {
    {3, 32768, alltoall_openmpi_pairwise},
    {3, 262144, alltoall_linear},
    {3, kAnySize, alltoall_openmpi_pairwise},
    {8, 524288, alltoall_linear},
    {8, 1048576, alltoall_openmpi_pairwise},
    {8, kAnySize, alltoall_linear},
    {16, kAnySize, alltoall_linear},
    {32, 4, alltoall_linear},
    {32, 512, alltoall_bruck},
    {32, kAnySize, alltoall_linear},
    {64, 512, alltoall_bruck},
    {64, kAnySize, alltoall_linear},
    {256, 1024, alltoall_bruck},
    {256, 262144, alltoall_linear},
    {256, kAnySize, alltoall_openmpi_pairwise},
    {512, 1024, alltoall_bruck},
    {512, 32768, alltoall_linear},
    {512, kAnySize, alltoall_openmpi_pairwise},
    {1024, 512, alltoall_bruck},
    {1024, 262144, alltoall_linear},
    {1024, kAnySize, alltoall_openmpi_pairwise},
    {2048, 512, alltoall_bruck},
    {2048, kAnySize, alltoall_linear},
    {4096, 1024, alltoall_bruck},
    {4096, kAnySize, alltoall_linear},
    {kAnyMembers, 2048, alltoall_bruck},
    {kAnyMembers, kAnySize, alltoall_linear},
};
constexpr Rule kAlltoallv[] = {
    {4, kAnySize, alltoall_openmpi_pairwise},
    {64, kAnySize, alltoallv_openmpi_linear},
    {128, kAnySize, alltoall_openmpi_pairwise},
    {256, kAnySize, alltoallv_openmpi_linear},
    {1024, kAnySize, alltoall_openmpi_pairwise},
    {kAnyMembers, kAnySize, alltoallv_openmpi_linear},
};
constexpr Rule kBarrier[] = {
    {4, kAnySize, barrier_recursive_doubling},
    {8, kAnySize, barrier_linear},
    {64, kAnySize, barrier_recursive_doubling},
    {256, kAnySize, barrier_dissemination},
    {512, kAnySize, barrier_tree},
    {1024, kAnySize, barrier_dissemination},
    {4096, kAnySize, barrier_tree},
    {kAnyMembers, kAnySize, barrier_dissemination},
};
constexpr Rule kBcast[] = {
    {4, 32, bcast_chain},
    {4, 256, bcast_binary},
    {4, 512, bcast_chain},
    {4, 1024, bcast_knomial},
    {4, 32768, bcast_linear},
    {4, 131072, bcast_binary},
    {4, 262144, bcast_chain},
    {4, 524288, bcast_linear},
    {4, 1048576, bcast_openmpi_binomial},
    {4, kAnySize, bcast_binary},
    {8, 64, bcast_binary},
    {8, 128, bcast_openmpi_binomial},
    {8, 2048, bcast_binary},
    {8, 8192, bcast_openmpi_binomial},
    {8, 1048576, bcast_linear},
    {8, kAnySize, bcast_chain},
    {16, 8, bcast_knomial},
    {16, 64, bcast_binary},
    {16, 4096, bcast_knomial},
    {16, 16384, bcast_binary},
    {16, 32768, bcast_openmpi_binomial},
    {16, kAnySize, bcast_linear},
    {32, 4096, bcast_knomial},
    {32, 1048576, bcast_openmpi_binomial},
    {32, kAnySize, bcast_openmpi_scatter_recursive_doubling_allgather},
    {64, 2048, bcast_openmpi_binomial},
    {64, kAnySize, bcast_knomial},
    {128, kAnySize, bcast_knomial},
    {256, 2, bcast_openmpi_binomial},
    {256, 16384, bcast_binary},
    {256, 32768, bcast_linear},
    {256, 65536, bcast_binary},
    {256, kAnySize, bcast_knomial},
    {1024, 16384, bcast_knomial},
    {1024, 32768, bcast_split_binary},
    {1024, kAnySize, bcast_knomial},
    {2048, 524288, bcast_knomial},
    {2048, kAnySize, bcast_openmpi_scatter_recursive_doubling_allgather},
    {4096, 262144, bcast_knomial},
    {4096, kAnySize, bcast_openmpi_scatter_recursive_doubling_allgather},
    {kAnyMembers, 8192, bcast_knomial},
    {kAnyMembers, 16384, bcast_binary},
    {kAnyMembers, 262144, bcast_knomial},
    {kAnyMembers, kAnySize, bcast_openmpi_scatter_recursive_doubling_allgather},
};
constexpr Rule kReduce[] = {
    {4, 8, reduce_openmpi_rabenseifner},
    {4, 16, reduce_binary},
    {4, 32, reduce_chain},
    {4, 262144, reduce_linear},
    {4, kAnySize, reduce_chain},
    {8, 4096, reduce_binary},
    {8, 65536, reduce_chain},
    {8, 262144, reduce_binomial},
    {8, 524288, reduce_linear},
    {8, 1048576, reduce_binomial},
    {8, kAnySize, reduce_linear},
    {16, 8192, reduce_binary},
    {16, kAnySize, reduce_binomial},
    {32, 4096, reduce_binary},
    {32, kAnySize, reduce_binomial},
    {256, kAnySize, reduce_binomial},
    {512, 8192, reduce_binomial},
    {512, 16384, reduce_in_order_binary},
    {512, kAnySize, reduce_binomial},
    {2048, kAnySize, reduce_binomial},
    {4096, 512, reduce_binomial},
    {4096, 1024, reduce_in_order_binary},
    {4096, 8192, reduce_binomial},
    {4096, 16384, reduce_in_order_binary},
    {4096, kAnySize, reduce_binomial},
    {kAnyMembers, 16, reduce_binomial},
    {kAnyMembers, 32, reduce_in_order_binary},
    {kAnyMembers, 1024, reduce_binomial},
    {kAnyMembers, 2048, reduce_in_order_binary},
    {kAnyMembers, 8192, reduce_binomial},
    {kAnyMembers, 16384, reduce_in_order_binary},
    {kAnyMembers, kAnySize, reduce_binomial},
};
constexpr Rule kReduceScatter[] = {
    {4, 65536, reduce_scatter_ring},
    {4, 131072, reduce_scatter_butterfly},
    {4, kAnySize, reduce_scatter_ring},
    {8, 8, reduce_scatter_openmpi_reduce_scatter},
    {8, 262144, reduce_scatter_recursive_halving},
    {8, kAnySize, reduce_scatter_ring},
    {32, 262144, reduce_scatter_recursive_halving},
    {32, kAnySize, reduce_scatter_ring},
    {64, 64, reduce_scatter_openmpi_reduce_scatter},
    {64, 2048, reduce_scatter_recursive_halving},
    {64, 524288, reduce_scatter_butterfly},
    {64, kAnySize, reduce_scatter_ring},
    {128, 256, reduce_scatter_openmpi_reduce_scatter},
    {128, 512, reduce_scatter_recursive_halving},
    {128, 2048, reduce_scatter_butterfly},
    {128, 4096, reduce_scatter_recursive_halving},
    {128, kAnySize, reduce_scatter_butterfly},
    {256, 256, reduce_scatter_openmpi_reduce_scatter},
    {256, 512, reduce_scatter_recursive_halving},
    {256, kAnySize, reduce_scatter_butterfly},
    {512, 256, reduce_scatter_openmpi_reduce_scatter},
    {512, 1024, reduce_scatter_recursive_halving},
    {512, kAnySize, reduce_scatter_butterfly},
    {1024, 512, reduce_scatter_openmpi_reduce_scatter},
    {1024, 2048, reduce_scatter_recursive_halving},
    {1024, 8192, reduce_scatter_butterfly},
    {1024, 16384, reduce_scatter_recursive_halving},
    {1024, kAnySize, reduce_scatter_butterfly},
    {2048, 512, reduce_scatter_openmpi_reduce_scatter},
    {2048, 4096, reduce_scatter_recursive_halving},
    {2048, 16384, reduce_scatter_butterfly},
    {2048, 32768, reduce_scatter_recursive_halving},
    {2048, kAnySize, reduce_scatter_butterfly},
    {4096, 512, reduce_scatter_openmpi_reduce_scatter},
    {4096, 4096, reduce_scatter_recursive_halving},
    {4096, kAnySize, reduce_scatter_butterfly},
    {kAnyMembers, 1024, reduce_scatter_openmpi_reduce_scatter},
    {kAnyMembers, 8192, reduce_scatter_recursive_halving},
    {kAnyMembers, kAnySize, reduce_scatter_butterfly},
};
constexpr Rule kReduceScatterBlock[] = {
    {4, 4, reduce_scatter_recursive_doubling},
    {4, 8, reduce_scatter_block_butterfly},
    {4, 16, reduce_scatter_recursive_halving},
    {4, 128, reduce_scatter_block_butterfly},
    {4, 256, reduce_scatter_recursive_halving},
    {4, 4096, reduce_scatter_block_butterfly},
    {4, 8192, reduce_scatter_recursive_halving},
    {4, 131072, reduce_scatter_block_butterfly},
    {4, kAnySize, reduce_scatter_openmpi_reduce_scatter},
    {8, 8, reduce_scatter_recursive_halving},
    {8, 32, reduce_scatter_recursive_doubling},
    {8, 256, reduce_scatter_block_butterfly},
    {8, 8192, reduce_scatter_recursive_halving},
    {8, 16384, reduce_scatter_block_butterfly},
    {8, 1048576, reduce_scatter_recursive_halving},
    {8, kAnySize, reduce_scatter_openmpi_reduce_scatter},
    {16, 4, reduce_scatter_openmpi_reduce_scatter},
    {16, 32, reduce_scatter_recursive_halving},
    {16, 128, reduce_scatter_block_butterfly},
    {16, 524288, reduce_scatter_recursive_halving},
    {16, 4194304, reduce_scatter_openmpi_reduce_scatter},
    {16, kAnySize, reduce_scatter_block_butterfly},
    {32, 32, reduce_scatter_openmpi_reduce_scatter},
    {32, 524288, reduce_scatter_recursive_halving},
    {32, 2097152, reduce_scatter_openmpi_reduce_scatter},
    {32, 4194304, reduce_scatter_recursive_halving},
    {32, kAnySize, reduce_scatter_block_butterfly},
    {kAnyMembers, 4, reduce_scatter_recursive_halving},
    {kAnyMembers, 16, reduce_scatter_openmpi_reduce_scatter},
    {kAnyMembers, 65536, reduce_scatter_block_butterfly},
    {kAnyMembers, 262144, reduce_scatter_openmpi_reduce_scatter},
    {kAnyMembers, kAnySize, reduce_scatter_block_butterfly},
};
constexpr Rule kAllgather[] = {
    {3, kAnySize, allgather_ring},
    {32, kAnySize, allgather_recursive_doubling},
    {64, 1024, allgather_recursive_doubling},
    {64, 65536, allgather_neighbor_exchange},
    {64, kAnySize, allgather_ring},
    {128, 512, allgather_recursive_doubling},
    {128, 65536, allgather_neighbor_exchange},
    {128, kAnySize, allgather_ring},
    {256, 512, allgather_recursive_doubling},
    {256, 131072, allgather_neighbor_exchange},
    {256, 524288, allgather_ring},
    {256, 1048576, allgather_neighbor_exchange},
    {256, kAnySize, allgather_ring},
    {512, 32, allgather_recursive_doubling},
    {512, 128, allgather_bruck},
    {512, 1024, allgather_recursive_doubling},
    {512, 131072, allgather_neighbor_exchange},
    {512, 524288, allgather_ring},
    {512, 1048576, allgather_neighbor_exchange},
    {512, kAnySize, allgather_ring},
    {1024, 64, allgather_recursive_doubling},
    {1024, 256, allgather_bruck},
    {1024, 2048, allgather_recursive_doubling},
    {1024, kAnySize, allgather_neighbor_exchange},
    {2048, 4, allgather_recursive_doubling},
    {2048, 8, allgather_bruck},
    {2048, 16, allgather_recursive_doubling},
    {2048, 32, allgather_bruck},
    {2048, 256, allgather_recursive_doubling},
    {2048, 512, allgather_bruck},
    {2048, 4096, allgather_recursive_doubling},
    {2048, kAnySize, allgather_neighbor_exchange},
    {4096, 32, allgather_bruck},
    {4096, 128, allgather_recursive_doubling},
    {4096, 512, allgather_bruck},
    {4096, 4096, allgather_recursive_doubling},
    {4096, kAnySize, allgather_neighbor_exchange},
    {kAnyMembers, 2, allgather_recursive_doubling},
    {kAnyMembers, 8, allgather_bruck},
    {kAnyMembers, 16, allgather_recursive_doubling},
    {kAnyMembers, 512, allgather_bruck},
    {kAnyMembers, 4096, allgather_recursive_doubling},
    {kAnyMembers, kAnySize, allgather_neighbor_exchange},
};
constexpr Rule kAllgatherv[] = {
    {3, kAnySize, allgatherv_openmpi_ring},
    {8, 256, allgatherv_openmpi_gather_bcast},
    {8, 4096, allgather_neighbor_exchange},
    {8, 8192, allgatherv_openmpi_ring},
    {8, 16384, allgather_neighbor_exchange},
    {8, 262144, allgather_bruck},
    {8, kAnySize, allgather_neighbor_exchange},
    {16, 1024, allgatherv_openmpi_gather_bcast},
    {16, kAnySize, allgather_bruck},
    {32, 128, allgatherv_openmpi_gather_bcast},
    {32, 262144, allgather_bruck},
    {32, kAnySize, allgatherv_openmpi_ring},
    {64, 256, allgatherv_openmpi_gather_bcast},
    {64, 8192, allgather_bruck},
    {64, kAnySize, allgatherv_openmpi_ring},
    {128, 256, allgatherv_openmpi_gather_bcast},
    {128, 4096, allgather_bruck},
    {128, kAnySize, allgatherv_openmpi_ring},
    {256, 1024, allgather_bruck},
    {256, 65536, allgather_neighbor_exchange},
    {256, kAnySize, allgatherv_openmpi_ring},
    {512, 1024, allgather_bruck},
    {512, kAnySize, allgatherv_openmpi_ring},
    {1024, 512, allgather_bruck},
    {1024, 1024, allgatherv_openmpi_gather_bcast},
    {1024, 4096, allgather_bruck},
    {1024, 1048576, allgather_neighbor_exchange},
    {1024, kAnySize, allgatherv_openmpi_ring},
    {kAnyMembers, 4096, allgather_bruck},
    {kAnyMembers, kAnySize, allgather_neighbor_exchange},
};
constexpr Rule kGather[] = {
    {4, 2, gather_synchronized},
    {4, 4, gather_linear},
    {4, 32768, gather_binomial},
    {4, 65536, gather_linear},
    {4, 131072, gather_binomial},
    {4, kAnySize, gather_synchronized},
    {8, 1024, gather_binomial},
    {8, 8192, gather_linear},
    {8, 32768, gather_binomial},
    {8, 262144, gather_linear},
    {8, kAnySize, gather_synchronized},
    {256, kAnySize, gather_binomial},
    {512, 2048, gather_binomial},
    {512, 8192, gather_linear},
    {512, kAnySize, gather_binomial},
    {kAnyMembers, kAnySize, gather_binomial},
};
constexpr Rule kScatter[] = {
    {4, kAnySize, scatter_linear},
    {8, 2048, scatter_binomial},
    {8, 4096, scatter_linear},
    {8, 8192, scatter_binomial},
    {8, kAnySize, scatter_linear},
    {32, 16384, scatter_binomial},
    {32, kAnySize, scatter_linear},
    {64, 512, scatter_binomial},
    {64, 8192, scatter_linear},
    {64, 16384, scatter_binomial},
    {64, kAnySize, scatter_linear},
    {kAnyMembers, 512, scatter_binomial},
    {kAnyMembers, kAnySize, scatter_linear},
};
// clang-format on

AppendFunction first_that_applies(std::span<const Rule> rules, const CollectiveCall& call,
                                  std::int64_t size) {
  for (const Rule& rule : rules) {
    if (call.members < rule.members && size < rule.size) return rule.append;
  }
  throw std::logic_error{"Open MPI's rules have a gap"};
}

std::int64_t elements(const CollectiveCall& call) {
  return count(call.size) / element_size(count(call.size));
}

/// The algorithms replace themselves where the vector has too few elements for them.
AppendFunction bcast(const CollectiveCall& call) {
  const AppendFunction chosen = first_that_applies(kBcast, call, count(call.size));
  if (chosen == bcast_split_binary && elements(call) < 2) return bcast_chain;
  const bool scatters = chosen == bcast_openmpi_scatter_recursive_doubling_allgather;
  return scatters && elements(call) < call.members ? bcast_linear : chosen;
}

AppendFunction reduce(const CollectiveCall& call) {
  const AppendFunction chosen = first_that_applies(kReduce, call, count(call.size));
  const bool too_few = elements(call) < floor_power_of_two(call.members);
  return chosen == reduce_openmpi_rabenseifner && too_few ? reduce_linear : chosen;
}

AppendFunction allreduce(const CollectiveCall& call) {
  const AppendFunction chosen = first_that_applies(kAllreduce, call, count(call.size));
  if (chosen == allreduce_ring && elements(call) < call.members) return allreduce_recursive_doubling;
  const bool too_few = elements(call) < floor_power_of_two(call.members);
  return chosen == allreduce_openmpi_rabenseifner && too_few ? allreduce_linear : chosen;
}

AppendFunction allgather(const CollectiveCall& call) {
  const AppendFunction chosen = first_that_applies(kAllgather, call, count(call.size));
  const bool doubles = chosen == allgather_recursive_doubling;
  return doubles && !power_of_two(call.members) ? allgather_bruck : chosen;
}

}  // namespace

AppendFunction openmpi_choice(const CollectiveCall& call) {
  const auto by = [&call](std::span<const Rule> rules, std::int64_t size) {
    return first_that_applies(rules, call, size);
  };
  const std::int64_t size = count(call.size);
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      return by(kBarrier, 0);
    case CollectiveKind::kBcast:
      return bcast(call);
    case CollectiveKind::kGather:
      return by(kGather, size);
    case CollectiveKind::kScatter:
      return by(kScatter, size);
    case CollectiveKind::kAllgather:
      return allgather(call);
    case CollectiveKind::kAllgatherv:
      return by(kAllgatherv, Blocks{call}.total() / call.members);
    case CollectiveKind::kAlltoall:
      return by(kAlltoall, size);
    case CollectiveKind::kAlltoallv:
      return by(kAlltoallv, 0);
    case CollectiveKind::kReduce:
      return reduce(call);
    case CollectiveKind::kAllreduce:
      return allreduce(call);
    case CollectiveKind::kReduceScatterBlock:
      return by(kReduceScatterBlock, size);
    case CollectiveKind::kReduceScatter:
      return by(kReduceScatter, Blocks{call}.total());
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return scan_linear;
    case CollectiveKind::kGatherv:
    case CollectiveKind::kScatterv:
    case CollectiveKind::kNeighborAllgather:
    case CollectiveKind::kNeighborAlltoall:
    case CollectiveKind::kSynchronize:
      break;
  }
  return mpich_choice(call);  // which knows but one
}

void append_openmpi(const CollectiveCall& call, std::vector<Step>& steps) {
  openmpi_choice(call)(call, steps);
}

}  // namespace nplus1::netmodel::algorithms
