// One collective call in the form that originals and mock-ups share, and the scratch space of a mock-up.
// Plain MPI and the C++ standard library, so that any MPI library's compiler builds it. One thread at a time
// for each Scratch. A failing MPI call's code is returned; what was moved until then stays moved.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "guidelines/mpi/mock_ups/absent_library.hpp"

namespace nplus1::guidelines {

/// `count` elements of `type` are the whole vector of Bcast, Reduce, Allreduce and Scan, and the block of one
/// process of Gather, Scatter, Allgather, Alltoall and Reduce_scatter(_block), as in PGMPI. `type` is
/// contiguous (extent = size), the same on both sides; ranks x count elements must not exceed INT_MAX bytes.
/// MPI_IN_PLACE stands in `send` (Scatter: in `receive`) where the standard allows it; arguments that are not
/// significant may be null.
struct Call {
  const void* send = nullptr;
  void* receive = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Buffers that stay allocated between calls, so that only the first call of each size allocates, and a
/// stopwatch for local copies.
class Scratch {
 public:
  /// The same memory for the same slot, of at least `bytes` bytes, until more is asked for.
  [[nodiscard]] char* bytes(std::size_t slot, std::size_t bytes);

  /// `n` integers, as bytes().
  [[nodiscard]] int* integers(std::size_t slot, int n);

  /// memcpy and memset, timed; nothing happens when source and destination are the same.
  void copy(void* to, const void* from, std::size_t bytes);
  void zero(void* to, std::size_t bytes);

  /// Seconds spent copying since the last call of this function.
  [[nodiscard]] double take_copy_time();

 private:
  std::array<std::vector<char>, 2> bytes_;
  std::array<std::vector<int>, 2> integers_;
  double copying_ = 0;
};

/// Sizes that every mock-up needs.
struct Shape {
  explicit Shape(const Call& call);

  int rank = 0;
  int ranks = 1;
  std::size_t element = 1;  // bytes
  std::size_t block = 0;    // bytes of call.count elements
  [[nodiscard]] std::size_t all() const { return block * static_cast<std::size_t>(ranks); }
  [[nodiscard]] std::size_t offset(int of_rank) const { return block * static_cast<std::size_t>(of_rank); }
};

/// How `count` elements are cut into one piece per rank, the first `count % ranks` one element larger.
struct Pieces {
  int* counts;
  int* offsets;
};
[[nodiscard]] Pieces cut(int count, int ranks, Scratch& scratch);

/// The same count for every rank.
[[nodiscard]] Pieces equal_pieces(int count, int ranks, Scratch& scratch);

/// The smallest count per rank whose sum over all ranks is at least `count`.
[[nodiscard]] constexpr int padded_piece(int count, int ranks) {
  return (count + ranks - 1) / ranks;
}

[[nodiscard]] inline bool in_place(const Call& call) {
  return call.send == MPI_IN_PLACE;
}

/// Where this rank's contribution is: `send`, or `receive` at `offset` bytes if the call is in place.
[[nodiscard]] inline const char* input(const Call& call, std::size_t offset = 0) {
  return in_place(call) ? static_cast<const char*>(call.receive) + offset
                        : static_cast<const char*>(call.send);
}

[[nodiscard]] inline char* at(void* buffer, std::size_t offset) {
  return static_cast<char*>(buffer) + offset;
}

}  // namespace nplus1::guidelines
