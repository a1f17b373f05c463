/* outstanding WHAT N: much of something at once, or one after the other; four ranks.
 *   dup        a communicator is copied and freed, N times
 *   anybody    rank 0 posts N receives from anybody, then the others send what they take
 *   any-tag    N messages lie at rank 0, which then takes them by MPI_ANY_TAG, named and from anybody by turns */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void duplicate(int n) {
  for (int i = 0; i < n; i++) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
  }
}

/* Of `n` messages to rank 0: those of this rank. */
static int share(int n) {
  return rank == 0 ? 0 : n / (size - 1) + (rank <= n % (size - 1));
}

static void receive_from_anybody(int n) {
  double* in = calloc((size_t)n, sizeof(double));
  MPI_Request* requests = calloc((size_t)n, sizeof(MPI_Request));
  MPI_Status* statuses = calloc((size_t)n, sizeof(MPI_Status));
  if (in == NULL || requests == NULL || statuses == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < n && rank == 0; i++)
    MPI_Irecv(&in[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, i % 100, MPI_COMM_WORLD, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  /* The tags of a sender's messages are those of its share of the receives. */
  for (int i = rank - 1; i < n && rank > 0; i += size - 1) {
    double out = i;
    MPI_Send(&out, 1, MPI_DOUBLE, 0, i % 100, MPI_COMM_WORLD);
  }
  if (rank == 0) MPI_Waitall(n, requests, statuses);
  free(statuses);
  free(requests);
  free(in);
}

static void flood(int n) {
  double value = rank;
  for (int i = share(n); i > 0; i--) MPI_Send(&value, 1, MPI_DOUBLE, 0, i % 100, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  int left[64], next = 1;
  for (int other = 1; other < size; other++) left[other] = n / (size - 1) + (other <= n % (size - 1));
  for (int i = 0; i < n && rank == 0; i++) {
    MPI_Status status;
    while (left[next] == 0) next = next % (size - 1) + 1;
    MPI_Recv(&value, 1, MPI_DOUBLE, i % 2 == 0 ? next : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    left[status.MPI_SOURCE]--;
    next = next % (size - 1) + 1;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = argc == 3 ? atoi(argv[2]) : 0;
  if (n <= 0 || size < 2 || size > 64) {
    if (rank == 0) fprintf(stderr, "usage: outstanding dup|anybody|any-tag N\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (strcmp(argv[1], "dup") == 0) duplicate(n);
  if (strcmp(argv[1], "anybody") == 0) receive_from_anybody(n);
  if (strcmp(argv[1], "any-tag") == 0) flood(n);
  MPI_Finalize();
  return 0;
}
