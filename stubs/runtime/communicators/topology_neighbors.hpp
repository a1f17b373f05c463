// Who the neighbours of a rank are in the process topology of a communicator (MPI 4.0, chapter 8). Any thread; the
// communicator is valid.
#pragma once

#include <mpi.h>

#include <vector>

namespace nplus1::stubs {

/// In the order in which neighbourhood collectives have their blocks; MPI_PROC_NULL where there is none.
struct Neighbors {
  std::vector<int> sources;
  std::vector<int> destinations;
};

/// Of the member `me`; none where `comm` has no topology.
[[nodiscard]] Neighbors neighbors(MPI_Comm comm, int me);

}  // namespace nplus1::stubs
