/* Two ranks; every call is known, so that a wrapper's count can be checked. With -DOWN_WRAPPER the program
   has an MPI_Barrier of its own that calls PMPI_Barrier, as profiling tools do. */
#include <mpi.h>

#ifdef OWN_WRAPPER
int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}
#endif

int main(int argc, char** argv) {
  int rank, total, theirs = -1;
  MPI_Request request;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&theirs, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD);
  MPI_Waitall(1, &request, &status);
  MPI_Irecv(&theirs, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, &request);
  MPI_Send_c(&rank, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  total = rank;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (theirs != 1 - rank || total != 1) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Finalize();
  return 0;
}
