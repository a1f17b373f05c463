/* Counts its own instructions and cycles, in the place of a processor's counters: rank r executes r + 1 million in each step.
 *   counted STEPS warm      1.5 cycles each
 *   counted STEPS cold      the same in every fifth step, and 2 to 6 in the others
 * Prints what MPI_Wtime says of rank 0's last stretch, asked in its middle and at its end. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile uint64_t nplus1_test_counts[2];

static void execute(double instructions, double cycles_each) {
  nplus1_test_counts[0] += (uint64_t)instructions;
  nplus1_test_counts[1] += (uint64_t)(instructions * cycles_each);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = argc > 1 ? atoi(argv[1]) : 50;
  const int cold = argc > 2 && strcmp(argv[2], "cold") == 0;
  for (int s = 0; s < steps; ++s) {
    execute(1e6 * (rank + 1), cold && s % 5 != 0 ? 2 + (rank + s) % 5 : 1.5);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const double begin = MPI_Wtime();
  execute(1e6, 1.5);
  const double middle = MPI_Wtime();
  execute(1e6, 1.5);
  const double end = MPI_Wtime();
  if (rank == 0) printf("%.9f %.9f\n", middle - begin, end - begin);
  MPI_Finalize();
  return 0;
}
