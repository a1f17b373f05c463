/* Preloaded: each rank's MPI_Wtime is another clock, 5 s ahead of the rank before's and 20 us faster a
 * second. */
#include <mpi.h>

double MPI_Wtime(void) {
  static int rank = -1;
  const double t = PMPI_Wtime();
  int running = 0;
  if (rank < 0 && PMPI_Initialized(&running) == MPI_SUCCESS && running) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank < 0 ? t : t + rank * (5 + 2e-5 * t);
}
