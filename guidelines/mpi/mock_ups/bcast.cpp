#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

// Padded to a multiple of the ranks where they don't divide the count.
int bcast_with_scatter_allgather(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const bool is_root = shape.rank == call.root;
  const int piece = padded_piece(call.count, shape.ranks);
  const std::size_t piece_bytes = shape.element * static_cast<std::size_t>(piece);
  const std::size_t all_bytes = piece_bytes * static_cast<std::size_t>(shape.ranks);
  const bool padded = all_bytes != shape.block;
  void* all = padded ? scratch.bytes(0, all_bytes) : call.receive;
  if (padded && is_root) {
    scratch.copy(all, call.receive, shape.block);
    scratch.zero(at(all, shape.block), all_bytes - shape.block);
  }
  void* own = is_root ? MPI_IN_PLACE : at(all, piece_bytes * static_cast<std::size_t>(shape.rank));
  int error = MPI_Scatter(all, piece, call.type, own, piece, call.type, call.root, call.comm);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, piece, call.type, call.comm);
  if (error == MPI_SUCCESS && padded && !is_root) scratch.copy(call.receive, all, shape.block);
  return error;
}

// Only the root contributes.
int bcast_with_allgatherv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = cut(0, shape.ranks, scratch);
  pieces.counts[call.root] = call.count;
  return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, call.receive, pieces.counts, pieces.offsets,
                        call.type, call.comm);
}

}  // namespace nplus1::guidelines
