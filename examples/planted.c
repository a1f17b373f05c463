/* One of three problems, planted or mended, for `nplus1 whatif` to find: each step broadcasts parameters,
 * works, exchanges borders around a ring and sums up. Work is time asked of the operating system, which
 * virtual time counts exactly. imbalance   the last rank works four times as long as the others   mended: all
 * work as long as the mean broadcast   rank 0 sends the parameters to each rank in turn       mended:
 * MPI_Bcast halo        small borders, little work, eight exchanges a step     mended: a better network (not
 * in the code) Arguments: imbalance|broadcast|halo planted|mended [steps]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kParameters = 8192, kBorder = 16, kTag = 1, kBorderTag = 2 };

static int rank, size;

static void work(int microseconds) {
  usleep((useconds_t)microseconds);
}

static void share_parameters(double* parameters, int by_hand) {
  if (!by_hand) {
    MPI_Bcast(parameters, kParameters, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (rank == 0) {
    for (int to = 1; to < size; ++to) MPI_Send(parameters, kParameters, MPI_DOUBLE, to, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(parameters, kParameters, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void exchange_borders(double* border) {
  double received[kBorder];
  MPI_Sendrecv(border, kBorder, MPI_DOUBLE, (rank + 1) % size, kBorderTag, received, kBorder, MPI_DOUBLE,
               (rank + size - 1) % size, kBorderTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kBorder; ++i) border[i] = 0.5 * (border[i] + received[i]);
}

static int share_of_work(int microseconds, int uneven) {
  if (!uneven) return microseconds;
  const int light = microseconds * size / (size + 3); /* four times that on the last rank: the same sum */
  return rank == size - 1 ? 4 * light : light;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* problem = argc > 1 ? argv[1] : "imbalance";
  const int planted = argc > 2 && strcmp(argv[2], "planted") == 0;
  const int steps = argc > 3 ? atoi(argv[3]) : 10;
  const int uneven = planted && strcmp(problem, "imbalance") == 0;
  const int by_hand = planted && strcmp(problem, "broadcast") == 0;
  const int exchanges = strcmp(problem, "halo") == 0 ? 8 : 1;
  const int microseconds = strcmp(problem, "imbalance") == 0 ? 1100 : 20;

  static double parameters[kParameters], border[kBorder];
  double mine = rank, sum = 0;
  for (int step = 0; step < steps; ++step) {
    if (strcmp(problem, "broadcast") == 0) share_parameters(parameters, by_hand);
    work(share_of_work(microseconds, uneven));
    for (int i = 0; i < exchanges; ++i) exchange_borders(border);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%s: %d steps, sum %g\n", problem, steps, sum);
  MPI_Finalize();
  return 0;
}
