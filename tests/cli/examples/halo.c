/* The program of the documented examples: what their flags name is in it. Any number of ranks, any arguments. */
#include <mpi.h>
#include <nplus1.h>
#include <string.h>

static double border[64];

/* Rank 0's data reach everybody by messages with tag 7: a broadcast, by hand. */
static void share(double* data, int count, int rank, int ranks) {
  if (rank != 0) {
    MPI_Recv(data, count, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int to = 1; to < ranks; ++to) MPI_Send(data, count, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
}

static void solve(int rank) {
  nplus1_region_begin("solve");
  nplus1_compute(rank % 2 == 0 ? 1e-3 : 2e-3);
  nplus1_region_end("solve");
}

static void exchange(int left, int right) {
#line 58 "halo.c"
  MPI_Sendrecv(border, 32, MPI_DOUBLE, right, 1, border + 32, 32, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank, ranks;
  double data[128], sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < 128; ++i) data[i] = rank == 0 ? 1.25 * (step + 1) + i : 0;
    share(data, 128, rank, ranks);
    solve(rank);
    exchange((rank + ranks - 1) % ranks, (rank + 1) % ranks);
    MPI_Allreduce(&data[3], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
