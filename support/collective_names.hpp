// The one list of collectives' names: MPI's, in lower case without the prefix, and "synchronize". Files and
// messages use them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "support/collective_kind.hpp"

namespace nplus1 {

inline constexpr std::array<std::string_view, 19> kCollectiveNames{"barrier",
                                                                   "bcast",
                                                                   "gather",
                                                                   "gatherv",
                                                                   "scatter",
                                                                   "scatterv",
                                                                   "allgather",
                                                                   "allgatherv",
                                                                   "alltoall",
                                                                   "alltoallv",
                                                                   "reduce",
                                                                   "allreduce",
                                                                   "reduce_scatter_block",
                                                                   "reduce_scatter",
                                                                   "scan",
                                                                   "exscan",
                                                                   "neighbor_allgather",
                                                                   "neighbor_alltoall",
                                                                   "synchronize"};
static_assert(kCollectiveNames.size() == static_cast<std::size_t>(CollectiveKind::kSynchronize) + 1);

}  // namespace nplus1
