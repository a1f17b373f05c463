// sessions SCENARIO: sessions beside MPI_Init. Ends with 1 if something is wrong.
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/programs/sessions.h"

static void inside_of_world(void) {
  MPI_Init(NULL, NULL);
  alone();
  work(MPI_COMM_WORLD);
  MPI_Finalize();
}

static void world_inside(void) {
  MPI_Session session = begin();
  MPI_Comm comm = all_of(session, "outside");
  work(comm);
  MPI_Init(NULL, NULL);
  work(MPI_COMM_WORLD);
  MPI_Finalize();
  work(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

/// Ranks begin in two ways.
static void mixed(void) {
  const char* number = getenv("PMI_RANK");
  MPI_Session session;
  if (number != NULL && atoi(number) == 0) {
    session = begin();
    MPI_Init(NULL, NULL);
  } else {
    MPI_Init(NULL, NULL);
    session = begin();
  }
  work(MPI_COMM_WORLD);
  MPI_Session_finalize(&session);
  MPI_Finalize();
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"inside", inside_of_world}, {"outside", world_inside}, {"mixed", mixed}};
  for (unsigned i = 0; i < sizeof(all) / sizeof(*all); ++i)
    if (argc > 1 && strcmp(all[i].name, argv[1]) == 0) all[i].run();
  return wrong;
}
