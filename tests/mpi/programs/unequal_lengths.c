/* Members that disagree about the lengths of a collective operation: each case on a communicator of its own, and what each
 * rank is told: the class of the error, of the call and of the wait, and where its handler was called with which class.
 * Arguments: an operation (all if none), and "fatal" to leave MPI's own error handler. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 1 << 16, kOne = 1000 };
static int rank, ranks, fatal;
static char *in, *out;
static int counts[64], places[64];
static MPI_Comm duplicate;
static char handled[200];
static MPI_Request request;

static void note(MPI_Comm* comm, int* code, ...) {
  int class = 0;
  MPI_Error_class(*code, &class);
  const char* where = *comm == duplicate ? "own" : *comm == MPI_COMM_WORLD ? "world" : "other";
  char word[40];
  snprintf(word, sizeof word, " handled:%s:%d", where, class);
  strncat(handled, word, sizeof handled - strlen(handled) - 1);
}

/* What each kind of operation is given: `n` is this rank's own count, and what all others say to it in the root's lists. */
typedef int Operation(int n, int each, MPI_Comm comm, int blocking);

static int bcast(int n, int each, MPI_Comm comm, int blocking) {
  (void)each;
  return blocking ? MPI_Bcast(in, n, MPI_BYTE, 0, comm) : MPI_Ibcast(in, n, MPI_BYTE, 0, comm, &request);
}
static int bcast_init(int n, int each, MPI_Comm comm, int blocking) {
  if (blocking) return bcast(n, each, comm, 1);
  MPI_Bcast_init(in, n, MPI_BYTE, 0, comm, MPI_INFO_NULL, &request);
  return MPI_Start(&request);
}
static int gather(int n, int each, MPI_Comm comm, int blocking) {
  return blocking ? MPI_Gather(out, n, MPI_BYTE, in, each, MPI_BYTE, 0, comm)
                  : MPI_Igather(out, n, MPI_BYTE, in, each, MPI_BYTE, 0, comm, &request);
}
static void fill(int each) {
  for (int i = 0; i < ranks; ++i) counts[i] = each, places[i] = i * kMost;
}
static int gatherv(int n, int each, MPI_Comm comm, int blocking) {
  fill(each);
  return blocking ? MPI_Gatherv(out, n, MPI_BYTE, in, counts, places, MPI_BYTE, 0, comm)
                  : MPI_Igatherv(out, n, MPI_BYTE, in, counts, places, MPI_BYTE, 0, comm, &request);
}
static int scatter(int n, int each, MPI_Comm comm, int blocking) {
  return blocking ? MPI_Scatter(out, each, MPI_BYTE, in, n, MPI_BYTE, 0, comm)
                  : MPI_Iscatter(out, each, MPI_BYTE, in, n, MPI_BYTE, 0, comm, &request);
}
static int scatterv(int n, int each, MPI_Comm comm, int blocking) {
  fill(each);
  return blocking ? MPI_Scatterv(out, counts, places, MPI_BYTE, in, n, MPI_BYTE, 0, comm)
                  : MPI_Iscatterv(out, counts, places, MPI_BYTE, in, n, MPI_BYTE, 0, comm, &request);
}
static int reduce(int n, int each, MPI_Comm comm, int blocking) {
  (void)each;
  return blocking ? MPI_Reduce(out, in, n, MPI_BYTE, MPI_BOR, 0, comm)
                  : MPI_Ireduce(out, in, n, MPI_BYTE, MPI_BOR, 0, comm, &request);
}
static int allreduce(int n, int each, MPI_Comm comm, int blocking) {
  (void)each;
  return blocking ? MPI_Allreduce(out, in, n, MPI_BYTE, MPI_BOR, comm)
                  : MPI_Iallreduce(out, in, n, MPI_BYTE, MPI_BOR, comm, &request);
}
static int scan(int n, int each, MPI_Comm comm, int blocking) {
  (void)each;
  return blocking ? MPI_Scan(out, in, n, MPI_BYTE, MPI_BOR, comm)
                  : MPI_Iscan(out, in, n, MPI_BYTE, MPI_BOR, comm, &request);
}
static int exscan(int n, int each, MPI_Comm comm, int blocking) {
  (void)each;
  return blocking ? MPI_Exscan(out, in, n, MPI_BYTE, MPI_BOR, comm)
                  : MPI_Iexscan(out, in, n, MPI_BYTE, MPI_BOR, comm, &request);
}
static int allgather(int n, int each, MPI_Comm comm, int blocking) {
  return blocking ? MPI_Allgather(out, n, MPI_BYTE, in, each, MPI_BYTE, comm)
                  : MPI_Iallgather(out, n, MPI_BYTE, in, each, MPI_BYTE, comm, &request);
}
static int allgatherv(int n, int each, MPI_Comm comm, int blocking) {
  fill(each);
  return blocking ? MPI_Allgatherv(out, n, MPI_BYTE, in, counts, places, MPI_BYTE, comm)
                  : MPI_Iallgatherv(out, n, MPI_BYTE, in, counts, places, MPI_BYTE, comm, &request);
}
static int alltoall(int n, int each, MPI_Comm comm, int blocking) {
  return blocking ? MPI_Alltoall(out, n, MPI_BYTE, in, each, MPI_BYTE, comm)
                  : MPI_Ialltoall(out, n, MPI_BYTE, in, each, MPI_BYTE, comm, &request);
}
static int alltoallv(int n, int each, MPI_Comm comm, int blocking) {
  int sent[64];
  fill(each);
  for (int i = 0; i < ranks; ++i) sent[i] = n;
  return blocking ? MPI_Alltoallv(out, sent, places, MPI_BYTE, in, counts, places, MPI_BYTE, comm)
                  : MPI_Ialltoallv(out, sent, places, MPI_BYTE, in, counts, places, MPI_BYTE, comm, &request);
}
static int block(int n, int each, MPI_Comm comm, int blocking) {
  (void)each;
  return blocking ? MPI_Reduce_scatter_block(out, in, n, MPI_BYTE, MPI_BOR, comm)
                  : MPI_Ireduce_scatter_block(out, in, n, MPI_BYTE, MPI_BOR, comm, &request);
}

static const struct {
  const char* name;
  Operation* call;
} operations[] = {{"bcast", bcast},       {"bcast_init", bcast_init}, {"gather", gather},
                  {"gatherv", gatherv},   {"scatter", scatter},       {"scatterv", scatterv},
                  {"reduce", reduce},     {"allreduce", allreduce},   {"scan", scan},
                  {"exscan", exscan},     {"allgather", allgather},   {"allgatherv", allgatherv},
                  {"alltoall", alltoall}, {"alltoallv", alltoallv},   {"reduce_scatter_block", block}};

static void try(const char* name, Operation* call, int blocking, const char* pattern, int n, int each) {
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_create_errhandler(note, &handler);
  if (!fatal) MPI_Comm_set_errhandler(duplicate, handler), MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  handled[0] = 0;
  request = MPI_REQUEST_NULL;
  int first = 0, second = 0;
  const int code = call(n, each, duplicate, blocking);
  MPI_Error_class(code, &first);
  if (!blocking && code == MPI_SUCCESS) MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &second);
  char line[300], all[64 * 300];
  snprintf(line, sizeof line, "%s %s %s rank %d: %d %d%s\n", name, blocking ? "blocking" : "started", pattern,
           rank, first, second, handled);
  MPI_Gather(line, sizeof line, MPI_CHAR, all, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0)
    for (int i = 0; i < ranks; ++i) printf("%s", all + i * 300);
  fflush(stdout);
  MPI_Errhandler_free(&handler);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  MPI_Comm_free(&duplicate);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  fatal = argc > 2;
  in = calloc(64, kMost);
  out = calloc(64, kMost);
  for (unsigned i = 0; i < sizeof operations / sizeof *operations; ++i)
    for (int blocking = 1; blocking >= 0; --blocking) {
      if (argc > 1 && strcmp(argv[1], operations[i].name) != 0) continue;
      const int ours = rank == 0 ? kOne : 2 * kOne;
      try(operations[i].name, operations[i].call, blocking, "root_short", ours, kOne);
      try(operations[i].name, operations[i].call, blocking, "root_long", 3 * kOne - ours, 2 * kOne);
      try(operations[i].name, operations[i].call, blocking, "last_short", rank == ranks - 1 ? kOne : 2 * kOne,
          2 * kOne);
      try(operations[i].name, operations[i].call, blocking, "last_long", rank == ranks - 1 ? 2 * kOne : kOne,
          kOne);
      try(operations[i].name, operations[i].call, blocking, "large_root_short", 30 * ours, 30 * kOne);
      try(operations[i].name, operations[i].call, blocking, "large_root_long", 30 * (3 * kOne - ours),
          60 * kOne);
    }
  MPI_Finalize();
  return 0;
}
