// Each collective as its non-blocking form, waited for at once.
#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {
namespace {

/// `start` takes the request.
template <class Start>
int waited_for(const Start& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = start(&request);
  return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

}  // namespace

int allgather_with_iallgather_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Iallgather(c.send, c.count, c.type, c.receive, c.count, c.type, c.comm, request);
  });
}

int allreduce_with_iallreduce_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Iallreduce(c.send, c.receive, c.count, c.type, c.op, c.comm, request);
  });
}

int alltoall_with_ialltoall_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Ialltoall(c.send, c.count, c.type, c.receive, c.count, c.type, c.comm, request);
  });
}

int bcast_with_ibcast_wait(const Call& c, Scratch&) {
  return waited_for(
      [&](MPI_Request* request) { return MPI_Ibcast(c.receive, c.count, c.type, c.root, c.comm, request); });
}

int gather_with_igather_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Igather(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.comm, request);
  });
}

int reduce_with_ireduce_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Ireduce(c.send, c.receive, c.count, c.type, c.op, c.root, c.comm, request);
  });
}

int reduce_scatter_with_ireduce_scatter_wait(const Call& c, Scratch& scratch) {
  const Pieces pieces = equal_pieces(c.count, Shape{c}.ranks, scratch);
  return waited_for([&](MPI_Request* request) {
    return MPI_Ireduce_scatter(c.send, c.receive, pieces.counts, c.type, c.op, c.comm, request);
  });
}

int reduce_scatter_block_with_ireduce_scatter_block_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Ireduce_scatter_block(c.send, c.receive, c.count, c.type, c.op, c.comm, request);
  });
}

int scan_with_iscan_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Iscan(c.send, c.receive, c.count, c.type, c.op, c.comm, request);
  });
}

int scatter_with_iscatter_wait(const Call& c, Scratch&) {
  return waited_for([&](MPI_Request* request) {
    return MPI_Iscatter(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.comm, request);
  });
}

}  // namespace nplus1::guidelines
