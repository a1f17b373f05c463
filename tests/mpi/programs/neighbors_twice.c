// neighbors_twice SIZE...: on a torus of SIZE x ..., where a dimension of one or two processes has the same neighbour at both
// sides: every block says from whom and in which direction it goes. Blocking and non-blocking forms, fixed and different
// lengths; prints what has come, a line a rank and form.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 8, kLongest = kMost };
static int out[kMost * kLongest], in[kMost * kLongest];

static void show(const char* form, int rank, int blocks, int length) {
  char line[1024];
  int at = sprintf(line, "%s %d:", form, rank);
  for (int i = 0; i < blocks * length; ++i) {
    at += sprintf(line + at, " %d", in[i]);
    in[i] = -1;
  }
  puts(line);
}

int main(int argc, char** argv) {
  int dims[kMost], round[kMost], rank, counts[kMost], places[kMost];
  MPI_Aint bytes[kMost];
  MPI_Datatype types[kMost];
  MPI_Comm torus;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  const int dimensions = argc - 1, blocks = 2 * dimensions;
  for (int d = 0; d < dimensions; ++d) {
    dims[d] = atoi(argv[d + 1]);
    round[d] = 1;
  }
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, round, 0, &torus);
  MPI_Comm_rank(torus, &rank);
  for (int i = 0; i < blocks; ++i) {
    for (int k = 0; k < kLongest; ++k) out[i * kLongest + k] = 1000 * rank + 10 * i + k;
    places[i] = i * kLongest;
    bytes[i] = (MPI_Aint)sizeof(int) * places[i];
    types[i] = MPI_INT;
  }
  for (int i = 0; i < kMost * kLongest; ++i) in[i] = -1;
  MPI_Neighbor_alltoall(out, kLongest, MPI_INT, in, kLongest, MPI_INT, torus);
  show("alltoall", rank, blocks, kLongest);
  MPI_Ineighbor_alltoall(out, kLongest, MPI_INT, in, kLongest, MPI_INT, torus, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  show("ialltoall", rank, blocks, kLongest);
  // What goes up comes from below: the length of a block is that of its direction.
  int expected[kMost];
  for (int i = 0; i < blocks; ++i) {
    counts[i] = i + 1;
    expected[i] = (i ^ 1) + 1;
  }
  MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, expected, places, MPI_INT, torus);
  show("alltoallv", rank, blocks, kLongest);
  MPI_Neighbor_alltoallw(out, counts, bytes, types, in, expected, bytes, types, torus);
  show("alltoallw", rank, blocks, kLongest);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, torus);
  show("allgather", rank, blocks, 1);
  MPI_Comm_free(&torus);
  MPI_Finalize();
  return 0;
}
