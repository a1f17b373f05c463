/* Preloaded in front of the MPI library: an MPI_Reduce that is slow by default, and of MPICH's settings for it one that is
 * wrong, one that crashes, one that never ends, and one that is fast. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const char* algorithm = getenv("MPIR_CVAR_REDUCE_INTRA_ALGORITHM");
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (algorithm == NULL) usleep(3000);
  if (algorithm != NULL && strcmp(algorithm, "binomial") == 0) {
    if (rank == root) memset(receive, 0, (size_t)count);
    return MPI_SUCCESS;
  }
  if (algorithm != NULL && strcmp(algorithm, "nb") == 0) abort();
  while (algorithm != NULL && strcmp(algorithm, "smp") == 0) usleep(1000);
  return PMPI_Reduce(send, receive, count, type, op, root, comm);
}
