/* Rank 0 receives from anybody, then from the other one by name. Rank 1 computes 0.3 s in region slow, rank 2
 * 0.1 s in region quick; both are busy for so long under a native run, too. */
#include <mpi.h>
#include <stdio.h>

#include "nplus1.h"

static void busy(const char* region, double seconds) {
  nplus1_region_begin(region);
  const double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until) {
  }
  nplus1_region_end(region);
}

int main(int argc, char** argv) {
  int rank, value = 0;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) busy("slow", 0.3);
  if (rank == 2) busy("quick", 0.1);
  if (rank == 1 || rank == 2) {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    const int first = status.MPI_SOURCE;
    MPI_Recv(&value, 1, MPI_INT, 3 - first, 0, MPI_COMM_WORLD, &status);
    printf("first_come: %d before %d\n", first, status.MPI_SOURCE);
  }
  MPI_Finalize();
  return 0;
}
