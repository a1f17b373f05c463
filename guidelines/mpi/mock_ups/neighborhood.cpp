// On a communicator whose neighbours are the same ranks in and out, each once.
#include <vector>

#include "guidelines/mpi/mock_ups/mock_ups.hpp"
#include "guidelines/mpi/mock_ups/peers.hpp"

namespace nplus1::guidelines {
namespace {

int neighbours_of(const Call& c) {
  int in = 0, out = 0, weighted = 0;
  MPI_Dist_graph_neighbors_count(c.comm, &in, &out, &weighted);
  return in;
}

/// All neighbours at once; block i of `send` to neighbour i, or, without `blocks`, the same to all.
int exchange(const Call& c, bool blocks, Scratch& scratch) {
  const Shape shape{c};
  const int n = neighbours_of(c);
  int* peers = scratch.integers(0, n + 1);
  MPI_Dist_graph_neighbors(c.comm, n, peers, MPI_UNWEIGHTED, n, peers, MPI_UNWEIGHTED);
  thread_local std::vector<MPI_Request> requests;
  requests.assign(2 * static_cast<std::size_t>(n), MPI_REQUEST_NULL);
  int error = MPI_SUCCESS;
  for (int i = 0; i < n && error == MPI_SUCCESS; ++i)
    error = MPI_Irecv(at(c.receive, shape.offset(i)), c.count, c.type, peers[i], kMockUpTag, c.comm,
                      &requests[static_cast<std::size_t>(i)]);
  for (int i = 0; i < n && error == MPI_SUCCESS; ++i)
    error = MPI_Isend(input(c) + (blocks ? shape.offset(i) : 0), c.count, c.type, peers[i], kMockUpTag,
                      c.comm, &requests[static_cast<std::size_t>(n + i)]);
  return error == MPI_SUCCESS ? MPI_Waitall(2 * n, requests.data(), MPI_STATUSES_IGNORE) : error;
}

}  // namespace

int neighbor_allgather(const Call& c, Scratch&) {
  return MPI_Neighbor_allgather(c.send, c.count, c.type, c.receive, c.count, c.type, c.comm);
}

int neighbor_alltoall(const Call& c, Scratch&) {
  return MPI_Neighbor_alltoall(c.send, c.count, c.type, c.receive, c.count, c.type, c.comm);
}

int neighbor_allgather_with_neighbor_alltoall(const Call& c, Scratch& scratch) {
  const Shape shape{c};
  const int n = neighbours_of(c);
  char* copies = scratch.bytes(0, shape.offset(n));
  for (int i = 0; i < n; ++i) scratch.copy(copies + shape.offset(i), c.send, shape.block);
  return MPI_Neighbor_alltoall(copies, c.count, c.type, c.receive, c.count, c.type, c.comm);
}

int neighbor_allgather_with_neighbor_allgatherv(const Call& c, Scratch& scratch) {
  const Pieces pieces = equal_pieces(c.count, neighbours_of(c), scratch);
  return MPI_Neighbor_allgatherv(c.send, c.count, c.type, c.receive, pieces.counts, pieces.offsets, c.type,
                                 c.comm);
}

int neighbor_alltoall_with_neighbor_alltoallv(const Call& c, Scratch& scratch) {
  const Pieces pieces = equal_pieces(c.count, neighbours_of(c), scratch);
  return MPI_Neighbor_alltoallv(c.send, pieces.counts, pieces.offsets, c.type, c.receive, pieces.counts,
                                pieces.offsets, c.type, c.comm);
}

int neighbor_allgather_with_irecv_isend_waitall(const Call& c, Scratch& scratch) {
  return exchange(c, false, scratch);
}

int neighbor_alltoall_with_irecv_isend_waitall(const Call& c, Scratch& scratch) {
  return exchange(c, true, scratch);
}

}  // namespace nplus1::guidelines
