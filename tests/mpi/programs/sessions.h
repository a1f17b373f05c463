// What programs with sessions have in common, whether they can call MPI_Init or not: nplus1 looks at what they import.
#pragma once

#include <mpi.h>
#include <stdio.h>

static int wrong;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  wrong = 1;
}

static MPI_Session begin(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  return session;
}

static MPI_Comm all_of(MPI_Session session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

/// 1000 bytes from rank 0 to rank 1, which is 2 ms in virtual time, and a sum.
static void work(MPI_Comm comm) {
  char message[1000] = {0};
  int rank, ranks, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  if (rank == 0) MPI_Send(message, 1000, MPI_CHAR, 1, 0, comm);
  if (rank == 1) {
    MPI_Recv(message, 1000, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
    printf("received after %.0f us\n", (MPI_Wtime() - start) * 1e6);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == ranks * (ranks - 1) / 2, "sum");
}

static void alone(void) {
  MPI_Session session = begin();
  MPI_Comm comm = all_of(session, "alone");
  work(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}
