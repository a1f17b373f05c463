/* MPI without MPI_Init: a session, a communicator from it, a sum. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, sum = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sum", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return 0;
}
