#include "guidelines/mpi/mock_ups/identity.hpp"
#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

// MPI_IN_PLACE of Allgather is for all ranks or none, and a send buffer must not lie inside the receive
// buffer: a root that gathers in place has to copy.
int gather_with_allgather(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  void* all = shape.rank == call.root ? call.receive : scratch.bytes(0, shape.all());
  const void* own = call.send;
  if (in_place(call)) {
    char* copy = scratch.bytes(1, shape.block);
    scratch.copy(copy, input(call, shape.offset(shape.rank)), shape.block);
    own = copy;
  }
  return MPI_Allgather(own, call.count, call.type, all, call.count, call.type, call.comm);
}

// Not in place at the root, although that would save nothing but memory: MPICH 4.0.2 crashes in MPI_Reduce
// with MPI_IN_PLACE, more than 2 KiB and a root other than 0.
int gather_with_reduce(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  char* all = scratch.bytes(0, shape.all());
  const bool is_root = shape.rank == call.root;
  insert_into_identity(all, is_root ? input(call, shape.offset(shape.rank)) : call.send, shape, scratch);
  return MPI_Reduce(all, call.receive, static_cast<int>(shape.all()), MPI_BYTE, MPI_BOR, call.root,
                    call.comm);
}

int gather_with_gatherv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = equal_pieces(call.count, shape.ranks, scratch);
  return MPI_Gatherv(call.send, call.count, call.type, call.receive, pieces.counts, pieces.offsets, call.type,
                     call.root, call.comm);
}

}  // namespace nplus1::guidelines
