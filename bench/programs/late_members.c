/* Collectives of which one member comes late: how much real time it takes from then on until it is through, which others that sleep
 * too long make longer.
 *
 *     late_members BYTES
 *
 * Prints a line for each collective: its name and the mean of eight, milliseconds of real time (the system call itself: the functions
 * of libc are in virtual time). */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 8 };
static const double kLate = 0.04;
static const char* const kNames[] = {"bcast",    "reduce",  "allreduce",
                                     "gather",   "scatter", "allgather",
                                     "alltoall", "scan",    "reduce_scatter_block"};
enum { COLLECTIVES = sizeof kNames / sizeof *kNames };

static double now(void) {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void collective(int k, const double* in, double* out, int count, int root, int ranks) {
  const MPI_Comm all = MPI_COMM_WORLD;
  switch (k) {
    case 0:
      MPI_Bcast(out, count, MPI_DOUBLE, root, all);
      break;
    case 1:
      MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, (root + 1) % ranks, all);
      break;
    case 2:
      MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, all);
      break;
    case 3:
      MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, (root + 1) % ranks, all);
      break;
    case 4:
      MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, root, all);
      break;
    case 5:
      MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, all);
      break;
    case 6:
      MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, all);
      break;
    case 7:
      MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, all);
      break;
    default:
      MPI_Reduce_scatter_block(in, out, count / ranks, MPI_DOUBLE, MPI_SUM, all);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = atoi(argv[1]) / (int)sizeof(double);
  double* in = calloc((size_t)count * ranks, sizeof *in);
  double* out = calloc((size_t)count * ranks, sizeof *out);
  for (int k = 0; k < COLLECTIVES; ++k) {
    double seconds = 0, sum;
    for (int i = 0; i < ROUNDS; ++i) {
      const int late = i % ranks;
      MPI_Barrier(MPI_COMM_WORLD);
      const double began = now();
      while (rank == late && now() - began < kLate) {
      }
      const double came = now();
      collective(k, in, out, count, late, ranks);
      if (rank == late) seconds += now() - came;
    }
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %.2f\n", kNames[k], 1e3 * sum / ROUNDS);
  }
  MPI_Finalize();
  return 0;
}
