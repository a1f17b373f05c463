/* Built with -finstrument-functions: each function is a region. `busy` is long enough to be kept, `tiny` is
 * called so often that it must be left out before long. */
#include <mpi.h>
#include <stdlib.h>

static double sum;

__attribute__((noinline)) void tiny(int i) {
  sum += i;
}

__attribute__((noinline)) void busy(void) {
  const double end = MPI_Wtime() + 1e-4;
  while (MPI_Wtime() < end) sum += 1;
}

__attribute__((noinline)) void solve(int rank) {
  for (int i = 0; i < 20; ++i) busy();
  for (int i = 0; i < 100000; ++i) tiny(i);
  int value = rank;
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  solve(rank);
  MPI_Finalize();
  return sum < 0;
}
