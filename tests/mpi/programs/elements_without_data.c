// elements_without_data CALL: the collective CALL, whose elements are some of a type without data at one side and none at
// the other, both ways; then a reduction, whose sum is printed.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 64 };
static MPI_Datatype nothing;
static int rank, ranks;
static int ones[kMost], zeros[kMost];
static MPI_Aint nowhere[kMost];
static MPI_Datatype nothings[kMost], ints[kMost];
static int out[kMost], in[kMost];

/// One side names elements of the type without data, the other none of a type that has some.
static void call(const char* name, int elements_are_sent) {
  const int* sent = elements_are_sent ? ones : zeros;
  const int* received = elements_are_sent ? zeros : ones;
  const MPI_Datatype* of_sent = elements_are_sent ? nothings : ints;
  const MPI_Datatype* of_received = elements_are_sent ? ints : nothings;
  const int mine = rank % 2 == elements_are_sent;
  if (strcmp(name, "alltoallv") == 0)
    MPI_Alltoallv(out, sent, zeros, *of_sent, in, received, zeros, *of_received, MPI_COMM_WORLD);
  else if (strcmp(name, "alltoallw") == 0)
    MPI_Alltoallw(out, sent, zeros, of_sent, in, received, zeros, of_received, MPI_COMM_WORLD);
  else if (strcmp(name, "alltoallv_in_place") == 0)
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, mine ? ones : zeros, zeros,
                  mine ? nothing : MPI_INT, MPI_COMM_WORLD);
  else if (strcmp(name, "alltoallw_in_place") == 0)
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, mine ? ones : zeros, zeros, mine ? nothings : ints,
                  MPI_COMM_WORLD);
  else if (strcmp(name, "alltoall") == 0)
    MPI_Alltoall(out, *sent, *of_sent, in, *received, *of_received, MPI_COMM_WORLD);
  else if (strcmp(name, "allgather") == 0)
    MPI_Allgather(out, *sent, *of_sent, in, *received, *of_received, MPI_COMM_WORLD);
  else if (strcmp(name, "allgatherv") == 0)
    MPI_Allgatherv(out, *sent, *of_sent, in, received, zeros, *of_received, MPI_COMM_WORLD);
  else if (strcmp(name, "gather") == 0)
    MPI_Gather(out, *sent, *of_sent, in, *received, *of_received, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "gatherv") == 0)
    MPI_Gatherv(out, *sent, *of_sent, in, received, zeros, *of_received, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "scatter") == 0)
    MPI_Scatter(out, *sent, *of_sent, in, *received, *of_received, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "scatterv") == 0)
    MPI_Scatterv(out, sent, zeros, *of_sent, in, *received, *of_received, 0, MPI_COMM_WORLD);
  else if (strcmp(name, "bcast") == 0)
    MPI_Bcast(in, mine ? 1 : 0, mine ? nothing : MPI_INT, 0, MPI_COMM_WORLD);
  else {
    MPI_Comm ring;
    const int round = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &round, 0, &ring);
    if (strcmp(name, "neighbor_allgather") == 0)
      MPI_Neighbor_allgather(out, *sent, *of_sent, in, *received, *of_received, ring);
    else if (strcmp(name, "neighbor_allgatherv") == 0)
      MPI_Neighbor_allgatherv(out, *sent, *of_sent, in, received, zeros, *of_received, ring);
    else if (strcmp(name, "neighbor_alltoall") == 0)
      MPI_Neighbor_alltoall(out, *sent, *of_sent, in, *received, *of_received, ring);
    else if (strcmp(name, "neighbor_alltoallv") == 0)
      MPI_Neighbor_alltoallv(out, sent, zeros, *of_sent, in, received, zeros, *of_received, ring);
    else if (strcmp(name, "neighbor_alltoallw") == 0)
      MPI_Neighbor_alltoallw(out, sent, nowhere, of_sent, in, received, nowhere, of_received, ring);
    else
      MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_free(&ring);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  for (int i = 0; i < kMost; ++i) {
    ones[i] = 1;
    nothings[i] = nothing;
    ints[i] = MPI_INT;
  }
  for (int turn = 0; turn < 4; ++turn) call(argv[argc - 1], turn % 2);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d\n", sum);
  MPI_Type_free(&nothing);
  MPI_Finalize();
  return 0;
}
