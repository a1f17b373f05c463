/* MPI_Alltoallw and MPI_Alltoallv in place with nothing to exchange: elements of a type without data at every second
 * rank, no elements of a type with data at the others (as coll/alltoallw_zeros of MPICH's suite). */
#include <mpi.h>
#include <stdio.h>

enum { kMost = 16 };

int main(int argc, char** argv) {
  int rank, size, cell = 7, counts[kMost], none[kMost] = {0};
  MPI_Datatype nothing, types[kMost];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  for (int i = 0; i < size && i < kMost; ++i) {
    counts[i] = rank % 2 == 0;
    types[i] = rank % 2 == 0 ? nothing : MPI_INT;
  }
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, &cell, counts, none, types, MPI_COMM_WORLD);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, &cell, counts, none, types[0], MPI_COMM_WORLD);
  MPI_Type_free(&nothing);
  printf("%d\n", cell);
  MPI_Finalize();
  return 0;
}
