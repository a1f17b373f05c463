/* The demo: a toy simulation with two planted problems that nplus1 should show.
 *   1. Imbalance: every fourth rank has three times the work of the others.
 *   2. A hand-written broadcast: rank 0 sends the parameters to each rank in turn, where MPI_Bcast would do it
 *      in log2(n) rounds.
 * Each step: broadcast parameters, compute, exchange borders with both neighbours on a ring, sum the residual.
 * Arguments: [steps] [thousand iterations of work per light rank and step]. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kParameters = 4096, kBorder = 512, kBroadcastTag = 1, kLeftTag = 2, kRightTag = 3 };

static int rank, size;

static void broadcast_by_hand(double* parameters) {
  if (rank == 0) {
    for (int to = 1; to < size; ++to)
      MPI_Send(parameters, kParameters, MPI_DOUBLE, to, kBroadcastTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(parameters, kParameters, MPI_DOUBLE, 0, kBroadcastTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Real arithmetic, so that the virtual clock measures something. */
static double compute(double seed, long iterations) {
  double x = seed;
  for (long i = 0; i < iterations; ++i) x = sqrt(x * x + 1.0) - x * 0.25;
  return x;
}

static void exchange_borders(double* border) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  static double from_left[kBorder], from_right[kBorder];
  MPI_Request requests[4];
  MPI_Irecv(from_left, kBorder, MPI_DOUBLE, left, kRightTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(from_right, kBorder, MPI_DOUBLE, right, kLeftTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(border, kBorder, MPI_DOUBLE, left, kLeftTag, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(border, kBorder, MPI_DOUBLE, right, kRightTag, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kBorder; ++i) border[i] = 0.5 * border[i] + 0.25 * (from_left[i] + from_right[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 20;
  const long work = 1000 * (argc > 2 ? atol(argv[2]) : 100) * (rank % 4 == 3 ? 3 : 1);

  static double parameters[kParameters], border[kBorder];
  for (int i = 0; i < kBorder; ++i) border[i] = rank + 1.0 / (i + 1);
  double residual = 1.0;
  for (int step = 0; step < steps; ++step) {
    if (rank == 0) {
      for (int i = 0; i < kParameters; ++i) parameters[i] = residual / (i + 1 + step);
    }
    broadcast_by_hand(parameters);
    border[step % kBorder] += compute(parameters[step % kParameters] + rank, work);
    exchange_borders(border);
    double mine = border[0];
    MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("imbalance: %d ranks, %d steps, residual %.6f\n", size, steps, residual);
  MPI_Finalize();
  return 0;
}
