/* For LD_PRELOAD: how long a program takes from the end of MPI_Init to the beginning of MPI_Finalize, on the
 * rank that takes longest, in seconds, written to the file that ELAPSED names. Two calls more than without
 * it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begin;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begun(void) {
  PMPI_Barrier(MPI_COMM_WORLD);
  begin = now();
}

static void ended(void) {
  double mine = now() - begin, longest = 0;
  int rank = 0;
  PMPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* file = rank == 0 && getenv("ELAPSED") ? fopen(getenv("ELAPSED"), "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%.9f\n", longest);
  fclose(file);
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  begun();
  return code;
}

int MPI_Finalize(void) {
  ended();
  return PMPI_Finalize();
}

/* Fortran's own names, which do not pass through the above. */
void pmpi_init_(int* code);
void pmpi_finalize_(int* code);

void mpi_init_(int* code) {
  pmpi_init_(code);
  begun();
}

void mpi_finalize_(int* code) {
  ended();
  pmpi_finalize_(code);
}
