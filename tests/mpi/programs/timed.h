// What programs have in common whose calls' times follow from the network: who says how long each took, and what is wrong.
#pragma once

#include <mpi.h>
#include <stdio.h>

static int rank, ranks;
static int wrong;  // the program's exit code

static void expect(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    wrong = 1;
  }
}

/// Says "RANK NAME MICROSECONDS" of a call, by MPI_Wtime.
#define TIMED(name, call)                                            \
  do {                                                               \
    const double begin = MPI_Wtime();                                \
    call;                                                            \
    printf("%d %s %.0f\n", rank, name, (MPI_Wtime() - begin) * 1e6); \
  } while (0)
