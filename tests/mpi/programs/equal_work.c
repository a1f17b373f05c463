/* Ranks that all do the same, and time it: arithmetic, and passes over memory that a crowded host's caches don't keep.
 *   equal_work STEPS */
#include <mpi.h>
#include <stdlib.h>

enum { WORDS = 32 << 10 };
static volatile double result;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double* const data = calloc(WORDS, sizeof *data);
  const int steps = argc > 1 ? atoi(argv[1]) : 50;
  double timed = 0;
  for (int s = 0; s < steps; ++s) {
    double x = 1;
    timed -= MPI_Wtime();
    for (long i = 0; i < 20000; ++i) x = x * 1.0000001 + 1e-9;
    timed += MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < WORDS; ++i) x += data[i] = data[i] * 0.999 + 1e-3;
    result = x;
    double all = 0;
    MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  free(data);
  if (timed < 0) return 1;
  MPI_Finalize();
  return 0;
}
