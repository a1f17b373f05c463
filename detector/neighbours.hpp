// Spreads over many small groups that overlap are no collectives, but what neighbours exchange: a halo, or a
// message to whoever has subscribed. Called for what one cluster gave, before it is reported. Pure; one
// thread.
#pragma once

#include <vector>

#include "detector/instances.hpp"

namespace nplus1::detector {

/// `found`, with such spreads replaced by one MPI_Neighbor_allgather that is possible. Groups that stand
/// alone, that have had more than one root, or that spread again and again without being answered, stay: rows
/// and columns of a grid overlap, too. But not if the root alone sends, from a call of its own for each direction (one
/// to the east, one to the south).
/// Scatters of several roots at the same time become one MPI_Neighbor_alltoall that is possible.
[[nodiscard]] std::vector<Instance> without_neighbours(const Transfers& transfers,
                                                       std::vector<Instance> found);

}  // namespace nplus1::detector
