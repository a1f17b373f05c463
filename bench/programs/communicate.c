/* Workloads of bench/whole_programs.py and bench/statistics_overhead.py: communicate PATTERN STEPS [COMPUTE_US]
 *   empty | pingpong (8 B) | halo (1 KiB to both neighbours of a ring) | allreduce (8 B) |
 *   wavefront (1 KiB pipeline) | rate (64 messages of 8 B under way, both ways, on 2 ranks) |
 *   anysource (rank 0 answers all others as they come) | get (rank 0 locks its neighbour's window for 4 B)
 * Each step also computes for about COMPUTE_US microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 1024, kWindow = 64 };

static volatile double sink;
static long spins_per_us;

static void compute(double us) {
  double x = 1.0;
  for (long i = 0; i < (long)(us * (double)spins_per_us); ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

static void halo(int rank, int size) {
  static char out[2][kBytes], in[2][kBytes];
  MPI_Request requests[4];
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Irecv(in[0], kBytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], kBytes, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out[0], kBytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out[1], kBytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void wavefront(int rank, int size) {
  static char buffer[kBytes];
  if (rank > 0) MPI_Recv(buffer, kBytes, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank < size - 1) MPI_Send(buffer, kBytes, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
}

static void rate(int rank) {
  static char out[8], in[kWindow][8];
  MPI_Request requests[2 * kWindow];
  if (rank > 1) return;
  for (int i = 0; i < kWindow; ++i) MPI_Irecv(in[i], 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < kWindow; ++i)
    MPI_Isend(out, 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[kWindow + i]);
  MPI_Waitall(2 * kWindow, requests, MPI_STATUSES_IGNORE);
}

static void pingpong(int rank) {
  static char buffer[8];
  if (rank > 1) return;
  if (rank == 0) MPI_Send(buffer, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(buffer, 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

static void anysource(int rank, int size) {
  static char buffer[8];
  MPI_Status status;
  if (rank > 0) {
    MPI_Send(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int i = 1; i < size; ++i) {
    MPI_Recv(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    MPI_Send(buffer, 8, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
  }
}

static void get(int rank, int size, MPI_Win window) {
  int value;
  if (rank > 0) return;
  MPI_Win_lock(MPI_LOCK_SHARED, 1 % size, 0, window);
  MPI_Get(&value, 1, MPI_INT, 1 % size, 0, 1, MPI_INT, window);
  MPI_Win_unlock(1 % size, window);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* pattern = argc > 1 ? argv[1] : "empty";
  const int steps = argc > 2 ? atoi(argv[2]) : 0;
  const double us = argc > 3 ? atof(argv[3]) : 0.0;
  static int shown[16];
  MPI_Win window = MPI_WIN_NULL;
  if (!strcmp(pattern, "get"))
    MPI_Win_create(shown, sizeof shown, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  spins_per_us = 500; /* about: a multiply-add chain of 2 ns */
  for (int i = 0; i < steps; ++i) {
    if (us > 0) compute(us);
    if (!strcmp(pattern, "pingpong")) pingpong(rank);
    if (!strcmp(pattern, "rate")) rate(rank);
    if (!strcmp(pattern, "halo")) halo(rank, size);
    if (!strcmp(pattern, "wavefront")) wavefront(rank, size);
    if (!strcmp(pattern, "anysource")) anysource(rank, size);
    if (!strcmp(pattern, "get")) get(rank, size, window);
    if (!strcmp(pattern, "allreduce")) {
      double x = rank, sum = 0;
      MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
