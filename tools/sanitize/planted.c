/* Sends more than it has: under AddressSanitizer the library in rank 1 is found reading beyond (tools/sanitize.sh looks
 * whether it is, before it believes that there is nothing). */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  enum { kSent = 40000, kThere = 4 };
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data = malloc(rank == 1 ? kThere : kSent);
  if (rank == 1) MPI_Send(data, kSent, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(data, kSent, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(data);
  MPI_Finalize();
  return 0;
}
