/* Preloaded: for each collective a mock-up that is the collective itself, by its PMPI name. What a library in
 * front of MPI plants in one of them is then the only difference that there is. */
#include <mpi.h>

#define MOCK_UP(NAME)                                                                                      \
  int NAME##_with_Pmpi(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, \
                       MPI_Comm comm)

MOCK_UP(Allgather) {
  (void)op, (void)root;
  return PMPI_Allgather(send, count, type, receive, count, type, comm);
}
MOCK_UP(Allreduce) {
  (void)root;
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}
MOCK_UP(Alltoall) {
  (void)op, (void)root;
  return PMPI_Alltoall(send, count, type, receive, count, type, comm);
}
MOCK_UP(Bcast) {
  (void)send, (void)op;
  return PMPI_Bcast(receive, count, type, root, comm);
}
MOCK_UP(Gather) {
  (void)op;
  return PMPI_Gather(send, count, type, receive, count, type, root, comm);
}
MOCK_UP(Reduce) {
  return PMPI_Reduce(send, receive, count, type, op, root, comm);
}
MOCK_UP(Reduce_scatter_block) {
  (void)root;
  return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm);
}
MOCK_UP(Scan) {
  (void)root;
  return PMPI_Scan(send, receive, count, type, op, comm);
}
MOCK_UP(Scatter) {
  (void)op;
  return PMPI_Scatter(send, count, type, receive, count, type, root, comm);
}
