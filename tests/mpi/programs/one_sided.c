/* Rank 1 puts 1 MiB into rank 0's window again and again, while rank 0 only waits for its word.
 * Arguments: [rounds] [accumulate]: by MPI_Accumulate, in whose carrying out the target may have a part. Prints the real seconds that the rounds took, and how many arrived whole. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 1 << 20 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 50, accumulates = argc > 2;
  int rank, whole = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *memory, *mine = malloc(kBytes);
  MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &memory);
  MPI_Win window;
  MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  for (int round = 1; round <= rounds; ++round) {
    if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
      whole += memory[0] == round && memory[kBytes - 1] == round;
      MPI_Win_unlock(0, window);
      MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
      memset(mine, round, kBytes);
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
      if (accumulates)
        MPI_Accumulate(mine, kBytes, MPI_BYTE, 0, 0, kBytes, MPI_BYTE, MPI_REPLACE, window);
      else
        MPI_Put(mine, kBytes, MPI_CHAR, 0, 0, kBytes, MPI_CHAR, window);
      MPI_Win_unlock(0, window);
      MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 0) printf("%.3f %d\n", now() - start, whole);
  MPI_Win_free(&window);
  MPI_Free_mem(memory);
  free(mine);
  MPI_Finalize();
  return 0;
}
