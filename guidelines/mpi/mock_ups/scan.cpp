#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {
namespace {

/// receive = prefix of the ranks before; then own op'ed to it, in the wrong order: for commutative
/// operations.
int without_copy(const Call& call, const Shape& shape, Scratch& scratch) {
  const int error = MPI_Exscan(call.send, call.receive, call.count, call.type, call.op, call.comm);
  if (error != MPI_SUCCESS) return error;
  if (shape.rank > 0) return MPI_Reduce_local(call.send, call.receive, call.count, call.type, call.op);
  scratch.copy(call.receive, call.send, shape.block);
  return MPI_SUCCESS;
}

}  // namespace

int scan_with_exscan_reduce_local(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  int commutes = 0;
  MPI_Op_commutative(call.op, &commutes);
  if (commutes && !in_place(call)) return without_copy(call, shape, scratch);
  char* before = scratch.bytes(0, shape.block);
  const int error = MPI_Exscan(input(call), before, call.count, call.type, call.op, call.comm);
  if (error != MPI_SUCCESS) return error;
  scratch.copy(call.receive, input(call), shape.block);
  if (shape.rank == 0) return MPI_SUCCESS;
  return MPI_Reduce_local(before, call.receive, call.count, call.type, call.op);
}

}  // namespace nplus1::guidelines
