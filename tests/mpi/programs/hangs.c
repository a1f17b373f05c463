/* hangs WHICH: ways not to end, for `nplus1 where`. The test ends the job.
   cycle: each rank receives from the next. mismatch: rank 0 in MPI_Allreduce, the others in MPI_Barrier. computing: rank 1
   never comes to the barrier. late N: rank 1 sleeps 0.2 s between a barrier and MPI_Allreduce, N communicators are made and freed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void receive_from_next(int rank, int ranks) {
  int x = 0;
  MPI_Recv(&x, 1, MPI_INT, (rank + 1) % ranks, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* LINE cycle */
}

static void collectives(int rank) {
  int x = rank, y = 0;
  if (rank == 0)
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* LINE allreduce */
  else
    MPI_Barrier(MPI_COMM_WORLD); /* LINE barrier */
}

static void compute_for_ever(int rank) {
  volatile double x = 0;
  while (rank == 1) x += 1;
  MPI_Barrier(MPI_COMM_WORLD); /* LINE waiting */
}

static void late(int rank, int ranks, int communicators) {
  MPI_Comm dup;
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
  }
  int x = rank, y = 0;
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  if (rank == 0) MPI_Send(&x, 1, MPI_INT, 0, 0, reversed); /* to rank `ranks - 1` of the world */
  if (rank == ranks - 1) MPI_Recv(&y, 1, MPI_INT, ranks - 1, 0, reversed, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Send(&x, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD); /* refused: no message */
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) usleep(200000);
  MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&reversed);
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* which = argc > 1 ? argv[1] : "";
  if (strcmp(which, "cycle") == 0) receive_from_next(rank, ranks);
  if (strcmp(which, "mismatch") == 0) collectives(rank);
  if (strcmp(which, "computing") == 0) compute_for_ever(rank);
  if (strcmp(which, "late") == 0) late(rank, ranks, atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
