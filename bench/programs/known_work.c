/* Known work: kernels whose cost with warm caches is measured beforehand, between exchanges. What nplus1's clock makes
 * of it can be held against the truth: the same program with those costs given (nplus1_compute) instead of computed.
 *
 *   known_work costs                           prints the costs, alone and repeatedly: seconds, one kernel a line
 *   known_work PATTERN STEPS [options]         ring, halo, wavefront, allreduce, workers
 *     given COST...                            kernels take these costs of virtual time, and nothing is computed
 *     imbalance rank|step|random PERCENT       work is repeated: every second rank, step, or stretch has PERCENT more
 *     imbalance tasks PERCENT                  each stretch has something between nothing and PERCENT more
 *     together                                 the same place in the source calls all kernels
 *     kernels LIST                             e.g. 013: which kernels, in this order [012345]
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nplus1.h"

enum { KERNELS = 6 };
static const char* const kNames[KERNELS] = {"arithmetic 1 us", "arithmetic 20 us", "arithmetic 200 us",
                                            "64 KiB resident", "1 MiB resident",   "8 MiB streamed"};
static double *small_data, *large_data, *stream_data;
static volatile double result;

static void arithmetic(long n) {
  double x = 1.0 + 1e-9 * (double)n;
  for (long i = 0; i < n; ++i) x = x * 1.0000001 + 1e-9;
  result += x;
}

static void sweep(double* data, size_t bytes) {
  const size_t n = bytes / sizeof(double);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += data[i];
    data[i] = data[i] * 0.999 + 1e-3;
  }
  result += sum;
}

static void kernel(int k) {
  switch (k) {
    case 0:
      arithmetic(400);
      break;
    case 1:
      arithmetic(8000);
      break;
    case 2:
      arithmetic(80000);
      break;
    case 3:
      sweep(small_data, 64 << 10);
      break;
    case 4:
      sweep(large_data, 1 << 20);
      break;
    default:
      sweep(stream_data, 8 << 20);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* A low quantile of many batches, each long enough for the clock and short enough to be left alone now and then on a
 * busy machine. */
static double cost_of(int k) {
  enum { BATCHES = 2001 }; /* half a second: hosts are shared, and their cores' speed comes and goes */
  static double of[BATCHES];
  int repeats = 1;
  for (;; repeats *= 2) {
    const double begin = now();
    for (int i = 0; i < repeats; ++i) kernel(k);
    if (now() - begin > 2e-4) break;
  }
  for (int b = 0; b < BATCHES; ++b) {
    const double begin = now();
    for (int i = 0; i < repeats; ++i) kernel(k);
    of[b] = (now() - begin) / repeats;
  }
  qsort(of, BATCHES, sizeof(double), by_value);
  return of[BATCHES / 100];
}

static double given[KERNELS];
static int gives = 0;
static const char* kind = "none";
static double more = 0;
static int rank, ranks;

static uint64_t random_of(int step, int k) {
  uint64_t x = (uint64_t)rank * 0x9e3779b97f4a7c15u + (uint64_t)step * 0xbf58476d1ce4e5b9u + (uint64_t)k;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* The share of a kernel's work that this stretch has: 1, or more. */
static double share(int step, int k) {
  if (strcmp(kind, "rank") == 0) return rank % 2 ? 1 + more : 1;
  if (strcmp(kind, "step") == 0) return step % 2 ? 1 + more : 1;
  if (strcmp(kind, "random") == 0) return random_of(step, k) & 1 ? 1 + more : 1;
  if (strcmp(kind, "tasks") == 0) return 1 + more * (double)(random_of(step, k) >> 11) * 0x1p-53;
  return 1;
}

/* What a share of a kernel costs would not be known; so a stretch is twenty kernels, or twenty and more. */
static void work(int step, int k) {
  const int whole = strcmp(kind, "none") == 0 ? 1 : (int)lround(20 * share(step, k));
  if (gives) {
    nplus1_compute(given[k] * whole);
    return;
  }
  for (int i = 0; i < whole; ++i) kernel(k);
}

enum { MESSAGE = 1024 };
static char out[MESSAGE], in[MESSAGE];

static void exchange(const char* pattern) {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  if (strcmp(pattern, "ring") == 0) {
    MPI_Sendrecv(out, MESSAGE, MPI_CHAR, next, 0, in, MESSAGE, MPI_CHAR, last, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  } else if (strcmp(pattern, "halo") == 0) {
    MPI_Request requests[4];
    MPI_Irecv(in, MESSAGE / 2, MPI_CHAR, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + MESSAGE / 2, MESSAGE / 2, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, MESSAGE / 2, MPI_CHAR, next, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out + MESSAGE / 2, MESSAGE / 2, MPI_CHAR, last, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Status done[4];
    MPI_Waitall(4, requests, done);
  } else if (strcmp(pattern, "allreduce") == 0) {
    double mine = 1, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static int together = 0; /* all kernels are called from one place */

static __attribute__((noinline)) void step(const char* pattern, int s, int k) {
  if (strcmp(pattern, "wavefront") == 0) {
    if (rank > 0) MPI_Recv(in, MESSAGE, MPI_CHAR, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(s, k);
    if (rank + 1 < ranks) MPI_Send(out, MESSAGE, MPI_CHAR, rank + 1, 3, MPI_COMM_WORLD);
  } else if (strcmp(pattern, "workers") == 0) {
    /* Rank 0 hands out tasks in turn, each to the rank whose turn it is: what is computed does not depend on who is
     * first. */
    if (rank == 0) {
      for (int w = 1; w < ranks; ++w) MPI_Send(out, 64, MPI_CHAR, w, 4, MPI_COMM_WORLD);
      for (int w = 1; w < ranks; ++w) MPI_Recv(in, 64, MPI_CHAR, w, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, 64, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      work(s, k);
      MPI_Send(out, 64, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
    }
  } else {
    work(s, k);
    exchange(pattern);
  }
}

/* As in most programs, each kernel has its own place in the source. */
static void steps_of(const char* pattern, int steps, const char* kernels) {
  for (int s = 0; s < steps; ++s)
    for (const char* k = kernels; *k; ++k)
      if (together)
        step(pattern, s, *k - '0');
      else
        switch (*k) {
          case '0':
            step(pattern, s, 0);
            break;
          case '1':
            step(pattern, s, 1);
            break;
          case '2':
            step(pattern, s, 2);
            break;
          case '3':
            step(pattern, s, 3);
            break;
          case '4':
            step(pattern, s, 4);
            break;
          default:
            step(pattern, s, 5);
        }
}

int main(int argc, char** argv) {
  small_data = calloc(1, 64 << 10);
  large_data = calloc(1, 1 << 20);
  stream_data = calloc(1, 8 << 20);
  memset(small_data, 1, 64 << 10);
  memset(large_data, 1, 1 << 20);
  memset(stream_data, 1, 8 << 20);
  if (argc > 1 && strcmp(argv[1], "costs") == 0) {
    for (int k = 0; k < KERNELS; ++k) printf("%.9e %s\n", cost_of(k), kNames[k]);
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) {
    if (rank == 0)
      fprintf(stderr, "known_work PATTERN STEPS [given COST...] [imbalance KIND PERCENT] [kernels LIST]\n");
    MPI_Finalize();
    return 2;
  }
  const char* kernels = "012345";
  for (int i = 3; i < argc; ++i)
    if (strcmp(argv[i], "given") == 0 && i + KERNELS < argc) {
      gives = 1;
      for (int k = 0; k < KERNELS; ++k) given[k] = atof(argv[++i]);
    } else if (strcmp(argv[i], "imbalance") == 0 && i + 2 < argc) {
      kind = argv[++i];
      more = atof(argv[++i]) / 100;
    } else if (strcmp(argv[i], "together") == 0) {
      together = 1;
    } else if (strcmp(argv[i], "kernels") == 0 && i + 1 < argc) {
      kernels = argv[++i];
    }
  steps_of(argv[1], atoi(argv[2]), kernels);
  MPI_Finalize();
  return 0;
}
