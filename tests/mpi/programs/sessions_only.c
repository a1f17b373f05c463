// sessions_only SCENARIO: MPI without MPI_Init. Ends with 1 if something is wrong.
#include <nplus1.h>
#include <string.h>
#include <unistd.h>

#include "tests/mpi/programs/sessions.h"

/// A communicator's making waits for all members: one of them is 5 ms late.
static void late(void) {
  MPI_Session session = begin();
  MPI_Comm comm = all_of(session, "first"), other;
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  if (rank == 1) nplus1_compute(5e-3);
  other = all_of(session, "second");
  printf("%d made after %.0f us\n", rank, (MPI_Wtime() - start) * 1e6);
  MPI_Comm_free(&other);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

static void two(void) {
  MPI_Session first = begin(), second = begin();
  MPI_Comm a = all_of(first, "a"), b = all_of(second, "b");
  work(a);
  MPI_Comm_free(&a);
  MPI_Session_finalize(&first);
  work(b);
  MPI_Comm_free(&b);
  MPI_Session_finalize(&second);
}

static void solo(void) {
  MPI_Session session = begin();
  MPI_Comm comm = all_of(session, "solo");
  MPI_Request request;
  int sent = 1, got = 0;
  MPI_Irecv(&got, 1, MPI_INT, 0, 0, comm, &request);
  MPI_Send(&sent, 1, MPI_INT, 0, 0, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%s\n", got == 1 ? "received" : "lost");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

static void never_ended(void) {
  MPI_Session session = begin();
  MPI_Comm comm = all_of(session, "never");
  work(comm);
  fflush(stdout);
  _exit(0);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"alone", alone}, {"late", late}, {"two", two}, {"solo", solo}, {"never", never_ended}};
  for (unsigned i = 0; i < sizeof(all) / sizeof(*all); ++i)
    if (argc > 1 && strcmp(all[i].name, argv[1]) == 0) all[i].run();
  return wrong;
}
