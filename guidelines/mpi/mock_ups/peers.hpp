// Who talks to whom in the point-to-point operations.
#pragma once

#include "guidelines/mpi/mock_ups/call.hpp"

namespace nplus1::guidelines {

inline constexpr int kMockUpTag = 29;

/// Even ranks send to the next one. The last rank of an odd number has nobody.
struct Pair {
  explicit Pair(const Call& call) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(call.comm, &rank);
    MPI_Comm_size(call.comm, &ranks);
    sends = rank % 2 == 0 && rank + 1 < ranks;
    receives = rank % 2 == 1;
    other = sends ? rank + 1 : rank - 1;
  }
  bool sends = false, receives = false;
  int other = 0;
};

/// Everybody sends to the right; alone, to itself.
struct Ring {
  explicit Ring(const Call& call) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(call.comm, &rank);
    MPI_Comm_size(call.comm, &ranks);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
  }
  int left = 0, right = 0;
};

}  // namespace nplus1::guidelines
