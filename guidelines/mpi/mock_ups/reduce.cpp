#include "guidelines/mpi/mock_ups/mock_ups.hpp"
#include "guidelines/mpi/mock_ups/padded.hpp"

namespace nplus1::guidelines {
namespace {

/// The contribution outside the receive buffer: MPI_IN_PLACE of an all-to-all operation is for all ranks or
/// none.
const void* apart(const Call& call, const Shape& shape, Scratch& scratch) {
  if (!in_place(call)) return call.send;
  char* copy = scratch.bytes(1, shape.block);
  scratch.copy(copy, call.receive, shape.block);
  return copy;
}

}  // namespace

int reduce_with_allreduce(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  void* result = shape.rank == call.root ? call.receive : scratch.bytes(0, shape.block);
  return MPI_Allreduce(apart(call, shape, scratch), result, call.count, call.type, call.op, call.comm);
}

int reduce_with_reduce_scatter_block_gather(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Padded padded = pad(call, shape, scratch);
  char* piece = scratch.bytes(1, padded.piece_bytes);
  int error = MPI_Reduce_scatter_block(padded.input, piece, padded.piece, call.type, call.op, call.comm);
  if (error != MPI_SUCCESS) return error;
  void* all =
      padded.copied ? scratch.bytes(0, padded.bytes) : call.receive;  // the padded input is not needed again
  error = MPI_Gather(piece, padded.piece, call.type, all, padded.piece, call.type, call.root, call.comm);
  if (error == MPI_SUCCESS && padded.copied && shape.rank == call.root)
    scratch.copy(call.receive, all, shape.block);
  return error;
}

int reduce_with_reduce_scatter_gatherv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = cut(call.count, shape.ranks, scratch);
  const int own = pieces.counts[shape.rank];
  char* piece = scratch.bytes(0, shape.element * static_cast<std::size_t>(own));
  const int error = MPI_Reduce_scatter(input(call), piece, pieces.counts, call.type, call.op, call.comm);
  if (error != MPI_SUCCESS) return error;
  return MPI_Gatherv(piece, own, call.type, call.receive, pieces.counts, pieces.offsets, call.type, call.root,
                     call.comm);
}

// The root's piece is everything.
int reduce_with_reduce_scatter(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = cut(0, shape.ranks, scratch);
  pieces.counts[call.root] = call.count;
  void* result = shape.rank == call.root ? call.receive : scratch.bytes(0, 0);
  return MPI_Reduce_scatter(apart(call, shape, scratch), result, pieces.counts, call.type, call.op,
                            call.comm);
}

}  // namespace nplus1::guidelines
