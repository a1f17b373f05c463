/* A message that is too long for its receive, taken in every way that waits for one: what the call returns, and which
 * error handler was called with which class, for what follows to come as ever. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Comm duplicate;
static char handled[100];

static void note(MPI_Comm* comm, int* code, ...) {
  int class = 0;
  MPI_Error_class(*code, &class);
  char word[40];
  snprintf(word, sizeof word, " %s:%d",
           *comm == duplicate        ? "own"
           : *comm == MPI_COMM_WORLD ? "world"
                                     : "other",
           class);
  strncat(handled, word, sizeof handled - strlen(handled) - 1);
}

static const char* const ways[] = {"recv",  "sendrecv",   "wait",      "waitall",  "waitany", "waitsome",
                                   "test",  "testall",    "testany",   "testsome", "anybody", "persist",
                                   "mrecv", "get_status", "isendrecv", "replaced", 0};

static char buffer[100000];
static int is(const char* way, const char* wanted) {
  return strcmp(way, wanted) == 0;
}

static int complete(const char* way, MPI_Request* request, MPI_Status* status) {
  int at = 0, flag = 0, code = MPI_SUCCESS;
  if (is(way, "waitall")) return MPI_Waitall(1, request, status);
  if (is(way, "waitany")) return MPI_Waitany(1, request, &at, status);
  if (is(way, "waitsome")) return MPI_Waitsome(1, request, &flag, &at, status);
  if (is(way, "get_status"))
    while (!flag && code == MPI_SUCCESS) code = MPI_Request_get_status(*request, &flag, status);
  while (!flag && code == MPI_SUCCESS) {
    if (is(way, "test"))
      code = MPI_Test(request, &flag, status);
    else if (is(way, "testall"))
      code = MPI_Testall(1, request, &flag, status);
    else if (is(way, "testany"))
      code = MPI_Testany(1, request, &at, &flag, status);
    else if (is(way, "testsome"))
      code = MPI_Testsome(1, request, &flag, &at, status);
    else
      return MPI_Wait(request, status);
  }
  return code;
}

static int receive(const char* way, int count) {
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  if (is(way, "recv")) return MPI_Recv(buffer, count, MPI_BYTE, 0, 0, duplicate, &status);
  if (is(way, "sendrecv"))
    return MPI_Sendrecv(buffer, 4, MPI_BYTE, 0, 1, buffer + 50000, count, MPI_BYTE, 0, 0, duplicate, &status);
  if (is(way, "replaced"))
    return MPI_Sendrecv_replace(buffer, count, MPI_BYTE, 0, 1, 0, 0, duplicate, &status);
  if (is(way, "mrecv")) {
    MPI_Mprobe(0, 0, duplicate, &message, &status);
    return MPI_Mrecv(buffer, count, MPI_BYTE, &message, &status);
  }
  if (is(way, "isendrecv"))
#if MPI_VERSION >= 4
    MPI_Isendrecv(buffer, 4, MPI_BYTE, 0, 1, buffer + 50000, count, MPI_BYTE, 0, 0, duplicate, &request);
#else
    return MPI_Sendrecv(buffer, 4, MPI_BYTE, 0, 1, buffer + 50000, count, MPI_BYTE, 0, 0, duplicate, &status);
#endif
  else if (is(way, "persist")) {
    MPI_Recv_init(buffer, count, MPI_BYTE, 0, 0, duplicate, &request);
    MPI_Start(&request);
  } else
    MPI_Irecv(buffer, count, MPI_BYTE, is(way, "anybody") ? MPI_ANY_SOURCE : 0, 0, duplicate, &request);
  const int code = complete(way, &request, &status);
  if (is(way, "persist")) MPI_Request_free(&request);
  return code;
}

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  int rank = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(duplicate, handler);
  for (const char* const* way = ways; *way != 0; ++way)
    for (int length = 200; length <= 40000; length *= 200) {
      const int answers = is(*way, "sendrecv") || is(*way, "isendrecv") || is(*way, "replaced");
      if (rank == 0) {
        MPI_Send(buffer, length, MPI_BYTE, 1, 0, duplicate);
        MPI_Send(buffer, 3, MPI_BYTE, 1, 0, duplicate);
        if (answers) MPI_Recv(buffer, length, MPI_BYTE, 1, 1, duplicate, MPI_STATUS_IGNORE);
      } else if (rank == 1) {
        int class = 0, count = 0;
        MPI_Status status;
        handled[0] = 0;
        MPI_Error_class(receive(*way, 100), &class);
        printf("%s %d: %d, handled%s", *way, length, class, handled);
        MPI_Recv(buffer, 100, MPI_BYTE, 0, 0, duplicate, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        printf(", then %d bytes\n", count);
      }
    }
  MPI_Finalize();
  return 0;
}
