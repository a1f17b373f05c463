#include "guidelines/mpi/mock_ups/mock_ups.hpp"
#include "guidelines/mpi/mock_ups/padded.hpp"

namespace nplus1::guidelines {

int allreduce_with_reduce_bcast(const Call& call, Scratch&) {
  const Shape shape{call};
  const void* own = in_place(call) && shape.rank == 0 ? MPI_IN_PLACE : input(call);
  const int error =
      MPI_Reduce(own, shape.rank == 0 ? call.receive : nullptr, call.count, call.type, call.op, 0, call.comm);
  if (error != MPI_SUCCESS) return error;
  return MPI_Bcast(call.receive, call.count, call.type, 0, call.comm);
}

int allreduce_with_reduce_scatter_block_allgather(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Padded padded = pad(call, shape, scratch);
  char* piece = scratch.bytes(1, padded.piece_bytes);
  int error = MPI_Reduce_scatter_block(padded.input, piece, padded.piece, call.type, call.op, call.comm);
  if (error != MPI_SUCCESS) return error;
  void* all =
      padded.copied ? scratch.bytes(0, padded.bytes) : call.receive;  // the padded input is not needed again
  error = MPI_Allgather(piece, padded.piece, call.type, all, padded.piece, call.type, call.comm);
  if (error == MPI_SUCCESS && padded.copied) scratch.copy(call.receive, all, shape.block);
  return error;
}

int allreduce_with_reduce_scatter_allgatherv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = cut(call.count, shape.ranks, scratch);
  const int own = pieces.counts[shape.rank];
  char* piece = scratch.bytes(0, shape.element * static_cast<std::size_t>(own));
  const int error = MPI_Reduce_scatter(input(call), piece, pieces.counts, call.type, call.op, call.comm);
  if (error != MPI_SUCCESS) return error;
  return MPI_Allgatherv(piece, own, call.type, call.receive, pieces.counts, pieces.offsets, call.type,
                        call.comm);
}

}  // namespace nplus1::guidelines
