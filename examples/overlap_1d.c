/* Border exchange in one dimension, as in Natvig and Elster, "Run-Time Analysis and Instrumentation for Communication
 * Overlap Potential" (EuroMPI 2010), section 4: in each iteration two exchanges with the neighbours on a ring, computing
 * that needs nothing of them, then computing on the border.
 *
 *   overlap_1d blocking|by_hand CELLS ITERATIONS MICROSECONDS
 *
 * CELLS of 4 bytes are in the border; MICROSECONDS is what the inner computing takes under nplus1. `by_hand` is the
 * program with the exchanges non-blocking. Both print the same sum. The exchanges stand in lines 72 to 78, as there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nplus1.h"

/* The left neighbour's border, the own cells, the right neighbour's border. */
static float* local;
static int g, prev, next;

static void start(MPI_Request* requests) {
  MPI_Isend(&local[1 * g], g, MPI_FLOAT, prev, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&local[(1 + 1) * g], g, MPI_FLOAT, next, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&local[1 * g], g, MPI_FLOAT, next, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Irecv(&local[0 * g], g, MPI_FLOAT, prev, 0, MPI_COMM_WORLD, &requests[3]);
}

/* New cells from the borders that came. */
static void compute_border(void) {
  for (int i = 0; i < g; ++i)
    local[1 * g + i] = 0.5F * local[1 * g + i] + 0.25F * (local[0 * g + i] + local[(1 + 1) * g + i]);
}

static double sum_of_cells(void) {
  double sum = 0, all = 0;
  for (int i = 0; i < g; ++i) sum += local[1 * g + i];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) {
    if (rank == 0) fprintf(stderr, "usage: overlap_1d blocking|by_hand CELLS ITERATIONS MICROSECONDS\n");
    MPI_Finalize();
    return 2;
  }
  const int by_hand = strcmp(argv[1], "by_hand") == 0;
  const int iterations = atoi(argv[3]);
  const double inner = 1e-6 * atof(argv[4]);
  MPI_Request requests[4];
  MPI_Status a, b, statuses[4];
  g = atoi(argv[2]);
  prev = (rank + ranks - 1) % ranks;
  next = (rank + 1) % ranks;
  local = malloc(3 * sizeof(float) * (size_t)g);
  for (int i = 0; i < 3 * g; ++i) local[i] = (float)(rank + i % 7);

  for (int i = 0; i < iterations; ++i) {
    if (by_hand) {
      start(requests);
      nplus1_compute(inner);
      MPI_Waitall(4, requests, statuses);
      compute_border();
      continue;
    }

    /* To the left, from the right; then to the right, from the left. */
    /* clang-format off */
    MPI_Sendrecv(& local[1 * g], g, MPI_FLOAT, prev, 0,
                 & local[(1+1) * g], g, MPI_FLOAT, next, 0,
                 MPI_COMM_WORLD, &a);

    MPI_Sendrecv(& local[1 * g], g, MPI_FLOAT, next, 0,
                 & local[0 * g], g, MPI_FLOAT, prev, 0,
                 MPI_COMM_WORLD, &b);
    /* clang-format on */
    nplus1_compute(inner);
    compute_border();
  }

  const double sum = sum_of_cells();
  if (rank == 0) printf("%.6f\n", sum);
  free(local);
  MPI_Finalize();
  return 0;
}
