/* A pipeline: each sweep starts at rank 0 and passes through all ranks; the next sweep follows behind it, and
 * every second sweep comes back. With c of compute per stage and hop time h, one sweep takes n c + (n - 1) h.
 * Arguments: [sweeps] [doubles per message] [iterations of work per stage]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int sweeps = argc > 1 ? atoi(argv[1]) : 50;
  const int count = argc > 2 ? atoi(argv[2]) : 64;
  const long work = argc > 3 ? atol(argv[3]) : 5000;

  double* front = calloc((size_t)count + 1, sizeof *front);
  volatile double x = 1.0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const int step = sweep % 2 == 0 ? 1 : -1;
    const int upstream = rank - step, downstream = rank + step;
    if (upstream >= 0 && upstream < size)
      MPI_Recv(front, count, MPI_DOUBLE, upstream, sweep, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long i = 0; i < work; ++i) x = x * 0.999 + 0.001;
    for (int i = 0; i < count; ++i) front[i] += rank + 1;
    if (downstream >= 0 && downstream < size)
      MPI_Send(front, count, MPI_DOUBLE, downstream, sweep, MPI_COMM_WORLD);
  }
  double total = 0;
  MPI_Reduce(&front[0], &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wavefront: %d ranks, %d sweeps, checksum %.0f\n", size, sweeps, total);
  free(front);
  MPI_Finalize();
  return 0;
}
