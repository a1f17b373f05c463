// dynamic SCENARIO: what there is of dynamic processes (MPI 4.0, chapter 11). Errors return; each rank prints what it was told.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank;

static void say(const char* what, int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  printf("%d %s: class %d\n", rank, what, class);
}

/// A child, if MPI can start one, sends its rank to its parent.
static void spawn(char* program) {
  MPI_Comm parent, children;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
    return;
  }
  char* arguments[] = {"spawn", NULL};
  const int code =
      MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  say("spawn", code);
  if (code != MPI_SUCCESS) return;
  for (int child = 0; rank == 0 && child < 2; ++child) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, child, 0, children, MPI_STATUS_IGNORE);
    printf("child %d\n", got);
  }
  MPI_Comm_disconnect(&children);
}

/// Rank 0 accepts rank 1.
static void ports(void) {
  char name[MPI_MAX_PORT_NAME] = "";
  MPI_Comm other;
  int opened = 0, got = -1;
  if (rank == 0) say("open", opened = MPI_Open_port(MPI_INFO_NULL, name));
  MPI_Bcast(&opened, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(name, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (opened != MPI_SUCCESS || rank > 1) return;
  const int code = rank == 0 ? MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other)
                             : MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
  say("meet", code);
  if (code == MPI_SUCCESS) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    printf("%d met %d\n", rank, got);
    MPI_Comm_disconnect(&other);
  }
  if (rank == 0) MPI_Close_port(name);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (argc > 1 && strcmp(argv[1], "spawn") == 0) spawn(argv[0]);
  if (argc > 1 && strcmp(argv[1], "ports") == 0) ports();
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
