/* A root whose own block does not fit where it receives it: what each rank is told, whether the others' blocks have come, and
 * that what follows comes as ever. Argument: gather, gatherv, scatter or scatterv. Errors are handled, not fatal. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kLong = 10, kMost = 16 };

static int calls;

static void note(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* operation = argc > 1 ? argv[1] : "gather";
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);

  static int in[kLong * kMost], out[kLong * kMost], counts[kMost], places[kMost];
  for (int root = 0; root < ranks; ++root) {
    const int at_root = rank == root;
    for (int i = 0; i < kLong * ranks; ++i) in[i] = 1000 * rank + i, out[i] = -1;
    for (int i = 0; i < ranks; ++i) counts[i] = i == root ? 1 : kLong, places[i] = i * kLong;
    int code = MPI_SUCCESS, right = 1;
    calls = 0;
    if (!strcmp(operation, "gather")) {
      code = MPI_Gather(in, at_root ? kLong : 1, MPI_INT, out, 1, MPI_INT, root, MPI_COMM_WORLD);
    } else if (!strcmp(operation, "gatherv")) {
      code = MPI_Gatherv(in, kLong, MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD);
      for (int i = 0; at_root && i < kLong * ranks; ++i)
        right &= i / kLong == root || out[i] == 1000 * (i / kLong) + i % kLong;
    } else {
      for (int i = 0; i < ranks; ++i) counts[i] = kLong;
      const int mine = at_root ? 1 : kLong;
      code = !strcmp(operation, "scatter")
                 ? MPI_Scatter(in, kLong, MPI_INT, out, mine, MPI_INT, root, MPI_COMM_WORLD)
                 : MPI_Scatterv(in, counts, places, MPI_INT, out, mine, MPI_INT, root, MPI_COMM_WORLD);
      for (int i = 0; !at_root && i < kLong; ++i) right &= out[i] == 1000 * root + rank * kLong + i;
    }
    int class = 0, sum = 0;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    const int handled = calls;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(&rank, 1, MPI_INT, out, 1, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; at_root && i < ranks; ++i) right &= out[i] == i;
    printf("root %d, rank %d: %s, handled %d times, %s\n", root, rank,
           class == MPI_ERR_TRUNCATE ? "truncated"
           : class == 0              ? "no error"
                                     : "another error",
           handled, right && sum == ranks * (ranks - 1) / 2 && calls == handled ? "right" : "wrong");
  }
  MPI_Finalize();
  return 0;
}
