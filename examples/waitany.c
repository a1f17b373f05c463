/* Rank 0 posts a receive from everybody and takes them as they complete (MPI_Waitany); the others compute for
 * different lengths of time first. Then all do it again with a polling loop (MPI_Testany).
 * Arguments: [rounds] [iterations of work per rank number] [--order]; --order prints the order of completion.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int size, order;

static long collect(int round, int polling) {
  MPI_Request* requests = malloc((size_t)size * sizeof *requests);
  long* values = malloc((size_t)size * sizeof *values);
  long sum = 0;
  for (int from = 1; from < size; ++from)
    MPI_Irecv(&values[from - 1], 1, MPI_LONG, from, round, MPI_COMM_WORLD, &requests[from - 1]);
  for (int taken = 0; taken < size - 1; ++taken) {
    int index = MPI_UNDEFINED, done = 0;
    if (polling) {
      while (!done) MPI_Testany(size - 1, requests, &index, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Waitany(size - 1, requests, &index, MPI_STATUS_IGNORE);
    }
    sum += values[index];
    if (order) printf("round %d: rank %d\n", round, index + 1);
  }
  free(values);
  free(requests);
  return sum;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  const long work = argc > 2 ? atol(argv[2]) : 2000;
  order = argc > 3 && strcmp(argv[3], "--order") == 0;

  long sum = 0;
  volatile double x = 1.0;
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      sum += collect(round, round % 2);
    } else {
      const int turns = (rank * 7 + round) % size;
      for (long i = 0; i < turns * work; ++i) x = x * 0.999 + 0.001;
      long value = (long)rank * (round + 1);
      MPI_Send(&value, 1, MPI_LONG, 0, round, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) printf("waitany: %d ranks, %d rounds, sum %ld\n", size, rounds, sum);
  MPI_Finalize();
  return 0;
}
