#include <array>

#include "guidelines/mpi/mock_ups/mock_ups.hpp"
#include "guidelines/mpi/mock_ups/peers.hpp"

namespace nplus1::guidelines {
namespace {

/// `send_one` on the even ranks, MPI_Recv on the odd ones.
template <class Send>
int in_pairs(const Call& c, const Send& send_one) {
  const Pair pair{c};
  if (pair.sends) return send_one(pair.other);
  if (!pair.receives) return MPI_SUCCESS;
  return MPI_Recv(c.receive, c.count, c.type, pair.other, kMockUpTag, c.comm, MPI_STATUS_IGNORE);
}

}  // namespace

int send(const Call& c, Scratch&) {
  return in_pairs(c, [&](int to) { return MPI_Send(c.send, c.count, c.type, to, kMockUpTag, c.comm); });
}

int send_with_ssend(const Call& c, Scratch&) {
  return in_pairs(c, [&](int to) { return MPI_Ssend(c.send, c.count, c.type, to, kMockUpTag, c.comm); });
}

int send_with_isend_wait(const Call& c, Scratch&) {
  return in_pairs(c, [&](int to) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = MPI_Isend(c.send, c.count, c.type, to, kMockUpTag, c.comm, &request);
    return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
  });
}

int sendrecv(const Call& c, Scratch&) {
  const Ring ring{c};
  return MPI_Sendrecv(c.send, c.count, c.type, ring.right, kMockUpTag, c.receive, c.count, c.type, ring.left,
                      kMockUpTag, c.comm, MPI_STATUS_IGNORE);
}

int sendrecv_with_irecv_isend_waitall(const Call& c, Scratch&) {
  const Ring ring{c};
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int error = MPI_Irecv(c.receive, c.count, c.type, ring.left, kMockUpTag, c.comm, &requests[0]);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Isend(c.send, c.count, c.type, ring.right, kMockUpTag, c.comm, &requests[1]);
  if (error != MPI_SUCCESS) return error;
  return MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace nplus1::guidelines
