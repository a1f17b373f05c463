/* The program of bench/capture_cost.py: sends BURSTS BYTES. Rank 0 sends bursts of 50 messages to rank 1
 * through a few functions, so that there are stack frames, and prints the CPU nanoseconds that a send took
 * it, as the median over the bursts. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBurst = 50 };

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

__attribute__((noinline)) static void send_one(const char* data, int bytes) {
  MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  __asm__ volatile("");
}
__attribute__((noinline)) static void send_burst(const char* data, int bytes) {
  for (int i = 0; i < kBurst; ++i) send_one(data, bytes);
  __asm__ volatile("");
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int bursts = argc > 1 ? atoi(argv[1]) : 100;
  const int bytes = argc > 2 ? atoi(argv[2]) : 8;
  char* data = calloc((size_t)bytes + 1, 1);
  double* costs = malloc(sizeof(double) * (size_t)bursts);
  for (int b = 0; b < bursts; ++b) {
    if (rank == 0) {
      const double begin = cpu_ns();
      send_burst(data, bytes);
      costs[b] = (cpu_ns() - begin) / kBurst;
      MPI_Recv(data, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (int i = 0; i < kBurst; ++i)
        MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) {
    qsort(costs, (size_t)bursts, sizeof(double), ascending);
    printf("%.0f\n", costs[bursts / 2]);
  }
  MPI_Finalize();
  return 0;
}
