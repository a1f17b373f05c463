/* Rank 0 sends one buffer of 1 MB over and over and computes nothing: whatever its clock is charged for
 * hashing shows. */
#include <mpi.h>
#include <stdlib.h>

enum { kBytes = 1000000, kTimes = 200 };

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* buffer = calloc(kBytes, 1);
  for (int i = 0; i < kTimes; ++i) {
    if (rank == 0) MPI_Send(buffer, kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(buffer, kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
