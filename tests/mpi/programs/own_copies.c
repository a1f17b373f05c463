/* Collectives of 2 ranks, one after another: own_copies apart|in_place. Blocks have kBytes; where they may differ, one rank's
 * own has twice as many. Prints "RANK KIND SECONDS" of each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W MPI_COMM_WORLD
#define T MPI_BYTE

enum { kBytes = 1000000 };

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  const int apart = argc > 1 && strcmp(argv[1], "apart") == 0;
  char* in = calloc(4, kBytes);
  char* out = calloc(4, kBytes);
  void* mine = apart ? in : MPI_IN_PLACE;
  void* roots = apart || rank != 0 ? in : MPI_IN_PLACE;    /* what the root of a Gather or Reduce gives */
  void* to_root = apart || rank != 0 ? out : MPI_IN_PLACE; /* where the root of a Scatter takes its own */
  const int even[2] = {kBytes, kBytes}, places[2] = {0, 2 * kBytes}, parts[2] = {2 * kBytes, kBytes};
  const int to_all[2] = {kBytes, rank == 0 ? kBytes : 2 * kBytes};
  const MPI_Datatype types[2] = {T, T};
#define CASE(name, call)                                     \
  do {                                                       \
    MPI_Barrier(W);                                          \
    const double begin = MPI_Wtime();                        \
    call;                                                    \
    printf("%d %s %.9f\n", rank, name, MPI_Wtime() - begin); \
  } while (0)
  CASE("gather", MPI_Gather(roots, kBytes, T, out, kBytes, T, 0, W));
  CASE("gatherv", MPI_Gatherv(roots, kBytes, T, out, even, places, T, 0, W));
  CASE("scatter", MPI_Scatter(in, kBytes, T, to_root, kBytes, T, 0, W));
  CASE("scatterv", MPI_Scatterv(in, even, places, T, to_root, kBytes, T, 0, W));
  CASE("allgather", MPI_Allgather(mine, kBytes, T, out, kBytes, T, W));
  CASE("allgatherv", MPI_Allgatherv(mine, parts[rank], T, out, parts, places, T, W));
  CASE("alltoall", MPI_Alltoall(mine, kBytes, T, out, kBytes, T, W));
  CASE("alltoallv", MPI_Alltoallv(mine, to_all, places, T, out, to_all, places, T, W));
  CASE("alltoallw", MPI_Alltoallw(mine, to_all, places, types, out, to_all, places, types, W));
  CASE("reduce", MPI_Reduce(roots, out, kBytes, T, MPI_BOR, 0, W));
  CASE("allreduce", MPI_Allreduce(mine, out, kBytes, T, MPI_BOR, W));
  CASE("reduce_scatter_block", MPI_Reduce_scatter_block(mine, out, kBytes, T, MPI_BOR, W));
  CASE("reduce_scatter", MPI_Reduce_scatter(mine, out, parts, T, MPI_BOR, W));
  CASE("scan", MPI_Scan(mine, out, kBytes, T, MPI_BOR, W));
  CASE("exscan", MPI_Exscan(mine, out, kBytes, T, MPI_BOR, W));
  CASE("bcast", MPI_Bcast(out, kBytes, T, 0, W));
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
