// Both Reduce_scatter_block and Reduce_scatter with the same count for every rank.
#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

int reduce_scatter_with_allreduce(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  char* all = scratch.bytes(0, shape.all());
  const int error = MPI_Allreduce(input(call), all, call.count * shape.ranks, call.type, call.op, call.comm);
  if (error == MPI_SUCCESS) scratch.copy(call.receive, all + shape.offset(shape.rank), shape.block);
  return error;
}

int reduce_scatter_with_reduce_scatterv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = equal_pieces(call.count, shape.ranks, scratch);
  char* all = scratch.bytes(0, shape.rank == 0 ? shape.all() : 0);
  const int error = MPI_Reduce(input(call), all, call.count * shape.ranks, call.type, call.op, 0, call.comm);
  if (error != MPI_SUCCESS) return error;
  return MPI_Scatterv(all, pieces.counts, pieces.offsets, call.type, call.receive, call.count, call.type, 0,
                      call.comm);
}

int reduce_scatter_block_with_reduce_then_scatter(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  char* all = scratch.bytes(0, shape.rank == 0 ? shape.all() : 0);
  const int error = MPI_Reduce(input(call), all, call.count * shape.ranks, call.type, call.op, 0, call.comm);
  if (error != MPI_SUCCESS) return error;
  return MPI_Scatter(all, call.count, call.type, call.receive, call.count, call.type, 0, call.comm);
}

int reduce_scatter_block_with_reduce_scatter(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = equal_pieces(call.count, shape.ranks, scratch);
  return MPI_Reduce_scatter(call.send, call.receive, pieces.counts, call.type, call.op, call.comm);
}

}  // namespace nplus1::guidelines
