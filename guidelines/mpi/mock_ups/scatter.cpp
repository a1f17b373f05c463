#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

int scatter_with_bcast(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  // A root's Bcast only reads its buffer.
  void* all = shape.rank == call.root ? const_cast<void*>(call.send) : scratch.bytes(0, shape.all());
  const int error = MPI_Bcast(all, call.count * shape.ranks, call.type, call.root, call.comm);
  if (error != MPI_SUCCESS || call.receive == MPI_IN_PLACE) return error;
  scratch.copy(call.receive, at(all, shape.offset(shape.rank)), shape.block);
  return MPI_SUCCESS;
}

int scatter_with_scatterv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = equal_pieces(call.count, shape.ranks, scratch);
  return MPI_Scatterv(call.send, pieces.counts, pieces.offsets, call.type, call.receive, call.count,
                      call.type, call.root, call.comm);
}

}  // namespace nplus1::guidelines
