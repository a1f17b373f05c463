// freed_communicators: each reduction is on a communicator of its own, which is freed at once. A rank that brings something
// only has left in virtual time before its part of the tree is done. Ends with 1 if a sum is wrong.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 50; ++i) {
    MPI_Comm part;
    int sum = -1, members, me;
    MPI_Comm_split(MPI_COMM_WORLD, rank % (1 + i % 2), -rank, &part);
    MPI_Comm_size(part, &members);
    MPI_Comm_rank(part, &me);
    MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, i % members, part);
    if (me == i % members && sum != i * members) wrong = 1;
    MPI_Comm_free(&part);
  }
  if (rank == 0) puts("done");
  MPI_Finalize();
  return wrong;
}
