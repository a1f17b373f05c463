/* Sums by hand whose own parts no message shows: each rank tells of them (nplus1_send_to_self), or not.
 * usage: own_parts tree|chain|halving [silent]
 * EXPECT: tree: reduce SUM root 0, count 3; chain: scan SUM, count 3; halving: reduce_scatter_block SUM,
 * count 1. silent: what is inferred proves tree and chain from the second time on, and the first has the
 * same messages */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nplus1.h"

enum { N = 24, TAG = 4 };

static int rank, size, silent;

static void tell(const long* own, int n) {
  if (!silent) nplus1_send_to_self(own, n, MPI_LONG);
}

static void add(long* to, const long* from, int n) {
  for (int i = 0; i < n; i++) to[i] += from[i];
}

static void receive(long* to, int n, int from) {
  MPI_Recv(to, n, MPI_LONG, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tree(long* own, long* other) {
  tell(own, N);
  for (int m = 1; m < size; m *= 2) {
    if (rank % (2 * m) == m) {
      MPI_Send(own, N, MPI_LONG, rank - m, TAG, MPI_COMM_WORLD);
      return;
    }
    if (rank + m >= size) continue;
    receive(other, N, rank + m);
    add(own, other, N);
  }
}

static void chain(long* own, long* other) {
  tell(own, N);
  if (rank > 0) {
    receive(other, N, rank - 1);
    add(own, other, N);
  }
  if (rank + 1 < size) MPI_Send(own, N, MPI_LONG, rank + 1, TAG, MPI_COMM_WORLD);
}

static void halving(long* own, long* other) {
  const int block = N / size;
  for (int b = 0; b < size; b++) tell(own + b * block, block);
  for (int m = size / 2; m > 0; m /= 2) {
    const int partner = rank ^ m, kept = rank / m * m * block, given = partner / m * m * block;
    MPI_Sendrecv(own + given, m * block, MPI_LONG, partner, TAG, other, m * block, MPI_LONG, partner, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add(own + kept, other, m * block);
  }
}

int main(int argc, char** argv) {
  long own[N], other[N];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 1 ? argv[1] : "tree";
  silent = argc > 2;
  srand(3 + rank);
  for (int k = 0; k < (how[0] == 'h' ? 1 : 3); k++) {
    for (int i = 0; i < N; i++) own[i] = rand();
    if (how[0] == 't') tree(own, other);
    if (how[0] == 'c') chain(own, other);
    if (how[0] == 'h') halving(own, other);
  }
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
