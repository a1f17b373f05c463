#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

int alltoall_with_alltoallv(const Call& call, Scratch& scratch) {
  const Shape shape{call};
  const Pieces pieces = equal_pieces(call.count, shape.ranks, scratch);
  return MPI_Alltoallv(call.send, pieces.counts, pieces.offsets, call.type, call.receive, pieces.counts,
                       pieces.offsets, call.type, call.comm);
}

}  // namespace nplus1::guidelines
