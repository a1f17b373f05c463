/* One of four problems, planted or mended, for `nplus1 whatif` to find: each step broadcasts parameters,
 * works, exchanges borders around a ring and sums up. Work is time asked of the operating system, which
 * virtual time counts exactly. Arguments: imbalance|jitter|broadcast|halo planted|mended [steps].
 *
 *   imbalance  the last rank works four times as long as the others; mended: all work as long as the mean
 *   jitter     another rank in each step does; mended: the same
 *   broadcast  rank 0 sends the parameters to each rank in turn; mended: MPI_Bcast
 *   halo       small borders, little work, eight exchanges a step; mended: a better network (not in the code)
 */
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

/* Of all ranks, the same sum whoever has most. */
static int share_of_work(int microseconds, int busiest) {
  const int light = microseconds * size / (size + 3);
  return rank == busiest ? 4 * light : light;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* problem = argc > 1 ? argv[1] : "imbalance";
  const int planted = argc > 2 && strcmp(argv[2], "planted") == 0;
  const int steps = argc > 3 ? atoi(argv[3]) : 10;
  const int jitter = strcmp(problem, "jitter") == 0;
  const int uneven = jitter || strcmp(problem, "imbalance") == 0;
  const int by_hand = planted && strcmp(problem, "broadcast") == 0;
  const int exchanges = strcmp(problem, "halo") == 0 ? 8 : 1;
  const int microseconds = uneven ? 1100 : 20;

  static double parameters[kParameters], border[kBorder];
  double mine = rank, sum = 0;
  for (int step = 0; step < steps; ++step) {
    if (strcmp(problem, "broadcast") == 0) share_parameters(parameters, by_hand);
    work(planted && uneven ? share_of_work(microseconds, jitter ? step % size : size - 1) : microseconds);
    for (int i = 0; i < exchanges; ++i) exchange_borders(border);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%s: %d steps, sum %g\n", problem, steps, sum);
  MPI_Finalize();
  return 0;
}
