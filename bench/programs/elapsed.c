/* For LD_PRELOAD: how long a program takes from the end of MPI_Init to the beginning of MPI_Finalize, on the
 * rank that takes longest, in seconds, written to the file that ELAPSED names. Two calls more than without
 * it. What is preloaded behind it, or the program is linked with, is called as it is without. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begin;
/* Fortran's functions may come by C's. */
static int has_begun, has_ended;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begun(void) {
  if (has_begun++) return;
  PMPI_Barrier(MPI_COMM_WORLD);
  begin = now();
}

static void ended(void) {
  if (has_ended++) return;
  double mine = now() - begin, longest = 0;
  int rank = 0;
  PMPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* file = rank == 0 && getenv("ELAPSED") ? fopen(getenv("ELAPSED"), "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%.9f\n", longest);
  fclose(file);
}

/* *function becomes the next one of that name. */
static void next(void* function, const char* name) {
  *(void**)function = dlsym(RTLD_NEXT, name);
}

int MPI_Init(int* argc, char*** argv) {
  int (*init)(int*, char***);
  next(&init, "MPI_Init");
  const int code = init(argc, argv);
  begun();
  return code;
}

int MPI_Finalize(void) {
  int (*finalize)(void);
  next(&finalize, "MPI_Finalize");
  ended();
  return finalize();
}

void mpi_init_(int* code) {
  void (*init)(int*);
  next(&init, "mpi_init_");
  init(code);
  begun();
}

void mpi_finalize_(int* code) {
  void (*finalize)(int*);
  next(&finalize, "mpi_finalize_");
  ended();
  finalize(code);
}
