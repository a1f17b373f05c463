/* Each collective in each form (blocking, non-blocking, persistent), with what docs/formats/events.md says of it as
 * reckoned here from what was passed: a line "RANK FUNCTION BYTES [BYTES PER MEMBER ...]" for each call. At least 3
 * ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define W MPI_COMM_WORLD
#define T MPI_INT

enum { kMost = 16, kBlock = 5, kRoot = 1 };

static int rank, size, length;
static char said[1 << 16];
static int in[1 << 12], out[1 << 12];
static int mine[kMost], places[kMost]; /* rank + 1 elements; one after another */
static int to[kMost], from[kMost],
    far[kMost]; /* between i and j: i + j + 1 elements, each at a place of its own */
static int bytes_away[kMost];
static MPI_Aint far_bytes[kMost];
static int near[2], near_from[2], near_places[2]; /* neighbours */
static MPI_Datatype types[kMost];
static MPI_Comm ring;

static void say(const char* function, long bytes, int count, const int elements[]) {
  length += snprintf(said + length, sizeof said - length, "%d %s %ld", rank, function, bytes);
  for (int i = 0; i < count; ++i)
    length += snprintf(said + length, sizeof said - length, " %d", 4 * elements[i]);
  length += snprintf(said + length, sizeof said - length, "\n");
}

static void complete(MPI_Request* request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void start(MPI_Request* request) {
  MPI_Start(request);
  complete(request);
  MPI_Request_free(request);
}

#define UNPACK(...) __VA_ARGS__
#define ALL_FORMS(X, IX, ARGUMENTS, bytes, count, elements)    \
  do {                                                         \
    MPI_Request request;                                       \
    MPI_##X(UNPACK ARGUMENTS);                                 \
    say("MPI_" #X, bytes, count, elements);                    \
    MPI_##IX(UNPACK ARGUMENTS, &request);                      \
    complete(&request);                                        \
    say("MPI_" #IX, bytes, count, elements);                   \
    MPI_##X##_init(UNPACK ARGUMENTS, MPI_INFO_NULL, &request); \
    start(&request);                                           \
    say("MPI_Start", bytes, count, elements);                  \
  } while (0)

static int sum(int count, const int elements[]) {
  int all = 0;
  for (int i = 0; i < count; ++i) all += elements[i];
  return all;
}

/* By rank 0 alone: what several ranks print may be mixed within a line. */
static void tell_all(void) {
  if (rank != 0) {
    MPI_Send(said, length + 1, MPI_CHAR, 0, 0, W);
    return;
  }
  fputs(said, stdout);
  for (int from_rank = 1; from_rank < size; ++from_rank) {
    MPI_Recv(said, sizeof said, MPI_CHAR, from_rank, 0, W, MPI_STATUS_IGNORE);
    fputs(said, stdout);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  MPI_Comm_size(W, &size);
  int both[2 * kMost], at_root = rank == kRoot ? size : 0;
  for (int i = 0, at = 0; i < size; at += ++i) {
    mine[i] = i + 1, places[i] = at;
    to[i] = from[i] = both[i] = both[size + i] = rank + i + 1;
    far[i] = 2 * kMost * i, bytes_away[i] = 4 * far[i], types[i] = T;
  }
  for (int i = 0; i < 2; ++i) {
    near[i] = rank + 1 + i, near_places[i] = 2 * kMost * i, far_bytes[i] = 4 * near_places[i];
    /* What the left one sends to its right, and the right one to its left. */
    near_from[i] = i == 0 ? (rank + size - 1) % size + 2 : (rank + 1) % size + 1;
  }
  const int periodic[1] = {1};
  MPI_Cart_create(W, 1, &size, periodic, 0, &ring);

  MPI_Request request;
  MPI_Barrier(W);
  say("MPI_Barrier", 0, 0, NULL);
  MPI_Ibarrier(W, &request);
  complete(&request);
  say("MPI_Ibarrier", 0, 0, NULL);
  MPI_Barrier_init(W, MPI_INFO_NULL, &request);
  start(&request);
  say("MPI_Start", 0, 0, NULL);
  ALL_FORMS(Bcast, Ibcast, (in, kBlock, T, kRoot, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Reduce, Ireduce, (in, out, kBlock, T, MPI_SUM, kRoot, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Allreduce, Iallreduce, (in, out, kBlock, T, MPI_SUM, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Scan, Iscan, (in, out, kBlock, T, MPI_SUM, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Exscan, Iexscan, (in, out, kBlock, T, MPI_SUM, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Gather, Igather, (in, kBlock, T, out, kBlock, T, kRoot, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Scatter, Iscatter, (in, kBlock, T, out, kBlock, T, kRoot, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Gatherv, Igatherv, (in, rank + 1, T, out, mine, places, T, kRoot, W), 4 * (rank + 1), at_root,
            mine);
  ALL_FORMS(Scatterv, Iscatterv, (in, mine, places, T, out, rank + 1, T, kRoot, W), 4 * (rank + 1), at_root,
            mine);
  ALL_FORMS(Allgather, Iallgather, (in, kBlock, T, out, kBlock, T, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Allgatherv, Iallgatherv, (in, rank + 1, T, out, mine, places, T, W), 4 * (rank + 1), size, mine);
  ALL_FORMS(Alltoall, Ialltoall, (in, kBlock, T, out, kBlock, T, W), 4 * kBlock, 0, NULL);
  ALL_FORMS(Alltoallv, Ialltoallv, (in, to, far, T, out, from, far, T, W), 4 * sum(size, to), 2 * size, both);
  ALL_FORMS(Alltoallw, Ialltoallw, (in, to, bytes_away, types, out, from, bytes_away, types, W),
            4 * sum(size, to), 2 * size, both);
  ALL_FORMS(Reduce_scatter_block, Ireduce_scatter_block, (in, out, kBlock, T, MPI_SUM, W), 4 * kBlock, 0,
            NULL);
  ALL_FORMS(Reduce_scatter, Ireduce_scatter, (in, out, mine, T, MPI_SUM, W), 4 * sum(size, mine), size, mine);
  ALL_FORMS(Neighbor_allgather, Ineighbor_allgather, (in, kBlock, T, out, kBlock, T, ring), 4 * kBlock, 0,
            NULL);
  int gets[2] = {(rank + size - 1) % size + 1, (rank + 1) % size + 1};
  ALL_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, (in, rank + 1, T, out, gets, near_places, T, ring),
            4 * (rank + 1), 0, NULL);
  ALL_FORMS(Neighbor_alltoall, Ineighbor_alltoall, (in, kBlock, T, out, kBlock, T, ring), 4 * kBlock, 0,
            NULL);
  /* The mean of what goes to each. */
  ALL_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv,
            (in, near, near_places, T, out, near_from, near_places, T, ring), 2 * sum(2, near), 0, NULL);
  ALL_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw,
            (in, near, far_bytes, types, out, near_from, far_bytes, types, ring), 2 * sum(2, near), 0, NULL);
  MPI_Comm_free(&ring);
  tell_all();
  MPI_Finalize();
  return 0;
}
