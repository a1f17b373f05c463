#include "guidelines/mpi/mock_ups/identity.hpp"
#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

int allgather_with_alltoall(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  char* copies = scratch.bytes(0, shape.all());
  for (int i = 0; i < shape.ranks; ++i)
    scratch.copy(copies + shape.offset(i), input(call, shape.offset(shape.rank)), shape.block);
  return MPI_Alltoall(copies, call.count, call.type, call.receive, call.count, call.type, call.comm);
}

int allgather_with_allreduce(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  insert_into_identity(call.receive, input(call, shape.offset(shape.rank)), shape, scratch);
  return MPI_Allreduce(MPI_IN_PLACE, call.receive, static_cast<int>(shape.all()), MPI_BYTE, MPI_BOR,
                       call.comm);
}

int allgather_with_gather_bcast(const Call& call, Scratch&) {
  const Shape shape{call};
  const void* own = shape.rank == 0 && in_place(call) ? MPI_IN_PLACE : input(call, shape.offset(shape.rank));
  const int error = MPI_Gather(own, call.count, call.type, call.receive, call.count, call.type, 0, call.comm);
  if (error != MPI_SUCCESS) return error;
  return MPI_Bcast(call.receive, call.count * shape.ranks, call.type, 0, call.comm);
}

int allgather_with_allgatherv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = equal_pieces(call.count, shape.ranks, scratch);
  return MPI_Allgatherv(call.send, call.count, call.type, call.receive, pieces.counts, pieces.offsets,
                        call.type, call.comm);
}

}  // namespace nplus1::guidelines
