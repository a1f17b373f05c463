/* Calls that MPI refuses, with MPI_ERRORS_RETURN: rank 0 makes each wrongly, then tells the others to come, then all make
 * it properly. Whoever takes the refused call for one that others have to answer ends in a false deadlock.
 * Prints the class of each error. Argument: [first case [last case]]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W MPI_COMM_WORLD
#define I MPI_INT
#define NOTYPE MPI_DATATYPE_NULL

enum { kMost = 64 };

static int rank, size, number, first, last = 1 << 30;
static int a[kMost], b[kMost], counts[kMost], places[kMost], negative[kMost];
static MPI_Datatype types[kMost], bad_types[kMost], uncommitted;
static MPI_Comm ring;
static MPI_Request request;
static MPI_Comm made;

static int begins(void) {
  ++number;
  return number >= first && number <= last;
}

static void refused(const char* call, int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  if (code == MPI_SUCCESS) printf("%d: %s: MPI took it\n", number, call);
  printf("%d: class %d\n", number, class);
  fflush(stdout);
  for (int r = 1; r < size; ++r) MPI_Send(&number, 1, I, r, 99, W);
}

static void come(void) {
  MPI_Recv(&number, 1, I, 0, 99, W, MPI_STATUS_IGNORE);
}

static void done(const char* call, int code) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "rank %d: %s fails\n", rank, call);
  MPI_Abort(W, 3);
}

static int finish(int code) {
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}
static int freed(int code) {
  if (code == MPI_SUCCESS && made != MPI_COMM_NULL) MPI_Comm_free(&made);
  return code;
}
static int started(int code) {
  if (code != MPI_SUCCESS) return code;
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Request_free(&request);
}

#define CASE(wrong, right)    \
  if (begins()) {             \
    if (rank == 0)            \
      refused(#wrong, wrong); \
    else                      \
      come();                 \
    done(#right, right);      \
  }

/* The second copy of an attribute may be made. */
static int copies;
static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  return rank == 0 && copies++ == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void collectives(void) {
  CASE(MPI_Barrier(MPI_COMM_NULL), MPI_Barrier(W))
  CASE(MPI_Allreduce(a, b, 1, I, MPI_OP_NULL, W), MPI_Allreduce(a, b, 1, I, MPI_SUM, W))
  CASE(MPI_Allreduce(a, b, 1, NOTYPE, MPI_SUM, W), MPI_Allreduce(a, b, 1, I, MPI_SUM, W))
  CASE(MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BOR, W), MPI_Allreduce(a, b, 1, I, MPI_BOR, W))
  CASE(MPI_Allreduce(a, a, 1, I, MPI_SUM, W), MPI_Allreduce(MPI_IN_PLACE, a, 1, I, MPI_SUM, W))
  CASE(MPI_Allreduce(a, NULL, 1, I, MPI_SUM, W), MPI_Allreduce(a, b, 0, I, MPI_SUM, W))
  CASE(MPI_Allgather(a, -1, I, b, 1, I, W), MPI_Allgather(a, 1, I, b, 1, I, W))
  CASE(MPI_Allgather(a, 1, uncommitted, b, 3, I, W), MPI_Allgather(a, 1, I, b, 1, I, W))
  CASE(MPI_Allgather(b, 1, I, b, 1, I, W), MPI_Allgather(MPI_IN_PLACE, 0, NOTYPE, b, 1, I, W))
  CASE(MPI_Allgatherv(a, 1, I, b, negative, places, I, W), MPI_Allgatherv(a, 1, I, b, counts, places, I, W))
  CASE(MPI_Alltoall(NULL, 1, I, b, 1, I, W), MPI_Alltoall(a, 1, I, b, 1, I, W))
  CASE(MPI_Alltoall(a, 1, I, b, 1, NOTYPE, W), MPI_Alltoall(MPI_IN_PLACE, 0, NOTYPE, b, 1, I, W))
  CASE(MPI_Alltoallv(a, negative, places, I, b, counts, places, I, W),
       MPI_Alltoallv(a, counts, places, I, b, counts, places, I, W))
  CASE(MPI_Alltoallw(a, counts, places, bad_types, b, counts, places, types, W),
       MPI_Alltoallw(a, counts, places, types, b, counts, places, types, W))
  CASE(MPI_Reduce_scatter(a, b, negative, I, MPI_SUM, W), MPI_Reduce_scatter(a, b, counts, I, MPI_SUM, W))
  CASE(MPI_Reduce_scatter(a, b, counts, I, MPI_OP_NULL, W), MPI_Reduce_scatter(a, b, counts, I, MPI_SUM, W))
  CASE(MPI_Reduce_scatter_block(a, b, 1, I, MPI_OP_NULL, W), MPI_Reduce_scatter_block(a, b, 1, I, MPI_SUM, W))
  CASE(MPI_Bcast(a, 1, I, size, W), MPI_Bcast(a, 1, I, 0, W))
  CASE(MPI_Bcast(NULL, 1, I, 0, W), MPI_Bcast(a, 1, I, 0, W))
  CASE(MPI_Bcast(a, -1, I, 0, W), MPI_Bcast(a, kMost, I, 0, W))
  CASE(MPI_Gather(a, 1, I, b, 1, I, -7, W), MPI_Gather(a, 1, I, b, 1, I, 1, W))
  CASE(MPI_Gather(NULL, 1, I, b, 1, I, 1, W), MPI_Gather(a, 1, I, b, 1, I, 1, W))
  CASE(MPI_Gatherv(a, 1, I, b, negative, places, I, 0, W), MPI_Gatherv(a, 1, I, b, counts, places, I, 0, W))
  CASE(MPI_Scatter(a, 1, I, b, 1, NOTYPE, 0, W), MPI_Scatter(a, 1, I, b, 1, I, 0, W))
  CASE(MPI_Scatter(NULL, 1, I, b, 1, I, 0, W), MPI_Scatter(a, 1, I, b, 1, I, 0, W))
  CASE(MPI_Scatterv(a, negative, places, I, b, 1, I, 0, W), MPI_Scatterv(a, counts, places, I, b, 1, I, 0, W))
  CASE(MPI_Reduce(a, b, 1, I, MPI_OP_NULL, 1, W), MPI_Reduce(a, b, 1, I, MPI_SUM, 1, W))
  CASE(MPI_Reduce(NULL, b, 1, I, MPI_SUM, 1, W), MPI_Reduce(a, b, 1, I, MPI_SUM, 1, W))
  CASE(MPI_Scan(a, b, 1, I, MPI_OP_NULL, W), MPI_Scan(a, b, 1, I, MPI_SUM, W))
  CASE(MPI_Scan(NULL, b, 1, I, MPI_SUM, W), MPI_Scan(a, b, 1, I, MPI_SUM, W))
  CASE(MPI_Exscan(a, b, 1, NOTYPE, MPI_SUM, W), MPI_Exscan(a, b, 1, I, MPI_SUM, W))
  CASE(MPI_Neighbor_allgatherv(a, 1, I, b, negative, places, I, ring),
       MPI_Neighbor_allgatherv(a, 1, I, b, counts, places, I, ring))
  CASE(MPI_Neighbor_alltoall(a, 1, NOTYPE, b, 1, I, ring), MPI_Neighbor_alltoall(a, 1, I, b, 1, I, ring))
  CASE(MPI_Neighbor_alltoallv(a, negative, places, I, b, counts, places, I, ring),
       MPI_Neighbor_alltoallv(a, counts, places, I, b, counts, places, I, ring))
}

static void other_forms(void) {
  CASE(finish(MPI_Ibarrier(MPI_COMM_NULL, &request)), finish(MPI_Ibarrier(W, &request)))
  CASE(finish(MPI_Ibcast(a, 1, I, size, W, &request)), finish(MPI_Ibcast(a, 1, I, 0, W, &request)))
  CASE(finish(MPI_Iallreduce(a, b, 1, I, MPI_OP_NULL, W, &request)),
       finish(MPI_Iallreduce(a, b, 1, I, MPI_SUM, W, &request)))
  CASE(finish(MPI_Ialltoall(a, -1, I, b, 1, I, W, &request)),
       finish(MPI_Ialltoall(a, 1, I, b, 1, I, W, &request)))
  CASE(finish(MPI_Iscatter(a, 1, NOTYPE, b, 1, I, 0, W, &request)),
       finish(MPI_Iscatter(a, 1, I, b, 1, I, 0, W, &request)))
  CASE(finish(MPI_Ireduce_scatter(a, b, negative, I, MPI_SUM, W, &request)),
       finish(MPI_Ireduce_scatter(a, b, counts, I, MPI_SUM, W, &request)))
#if MPI_VERSION >= 4
  CASE(started(MPI_Allreduce_init(a, b, 1, I, MPI_OP_NULL, W, MPI_INFO_NULL, &request)),
       started(MPI_Allreduce_init(a, b, 1, I, MPI_SUM, W, MPI_INFO_NULL, &request)))
  CASE(started(MPI_Bcast_init(a, 1, I, -1, W, MPI_INFO_NULL, &request)),
       started(MPI_Bcast_init(a, 1, I, 0, W, MPI_INFO_NULL, &request)))
#endif
}

static void communicators(void) {
  const int grid[1] = {size + 1}, line[1] = {size}, open[1] = {0};
  const int index[2] = {-1, 1}, degrees[1] = {1};
  int key = MPI_KEYVAL_INVALID;
  MPI_Group all;
  MPI_Comm_group(W, &all);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  CASE(freed(MPI_Comm_dup(MPI_COMM_NULL, &made)), freed(MPI_Comm_dup(W, &made)))
  CASE(freed(MPI_Comm_create(W, MPI_GROUP_NULL, &made)), freed(MPI_Comm_create(W, all, &made)))
  CASE(freed(MPI_Comm_split_type(W, 99, 0, MPI_INFO_NULL, &made)),
       freed(MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made)))
  CASE(freed(MPI_Cart_create(W, 1, grid, open, 0, &made)), freed(MPI_Cart_create(W, 1, line, open, 0, &made)))
  CASE(freed(MPI_Cart_sub(W, line, &made)), freed(MPI_Cart_sub(ring, line, &made)))
  CASE(freed(MPI_Graph_create(W, 2, index, line, 0, &made)),
       freed(MPI_Cart_create(W, 1, line, open, 0, &made)))
  CASE(freed(MPI_Dist_graph_create_adjacent(W, -1, &rank, MPI_UNWEIGHTED, 0, &rank, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &made)),
       freed(MPI_Dist_graph_create_adjacent(W, 1, &rank, MPI_UNWEIGHTED, 1, &rank, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &made)))
  CASE(freed(MPI_Dist_graph_create(W, -1, &rank, degrees, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made)),
       freed(MPI_Dist_graph_create(W, 1, &rank, degrees, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made)))
  MPI_Comm_set_attr(W, key, a);
  if (begins()) { /* MPI calls the callback when all have come */
    if (rank == 0) refused("MPI_Comm_dup", MPI_Comm_dup(W, &made));
    done("MPI_Comm_dup", freed(MPI_Comm_dup(W, &made)));
    if (rank != 0) come();
  }
  MPI_Comm_delete_attr(W, key);
  MPI_Group_free(&all);
}

static void messages(void) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
#define SHIFT MPI_Sendrecv(a, 1, I, to, 1, b, 1, I, from, 1, W, MPI_STATUS_IGNORE)
  CASE(MPI_Send(a, 1, I, size, 1, W), SHIFT)
  CASE(MPI_Send(a, 1, I, 1, -1, W), SHIFT)
  CASE(MPI_Send(a, -1, I, 1, 1, W), SHIFT)
  CASE(MPI_Send(NULL, 5000, I, 1, 1, W), SHIFT)
  CASE(MPI_Send(a, 1, NOTYPE, 1, 1, W), SHIFT)
  CASE(MPI_Ssend(a, 1, uncommitted, 1, 1, W), SHIFT)
  CASE(finish(MPI_Isend(a, 1, I, -5, 1, W, &request)), SHIFT)
  CASE(MPI_Recv(a, 1, I, size, 1, W, MPI_STATUS_IGNORE), SHIFT)
  CASE(MPI_Recv(a, 1, NOTYPE, 1, 1, W, MPI_STATUS_IGNORE), SHIFT)
  CASE(finish(MPI_Irecv(NULL, 1, I, MPI_ANY_SOURCE, 1, W, &request)), SHIFT)
  CASE(MPI_Sendrecv(a, 1, I, to, 1, b, 1, I, size, 1, W, MPI_STATUS_IGNORE), SHIFT)
  CASE(MPI_Sendrecv(a, 1, I, to, 1, b, -1, I, from, 1, W, MPI_STATUS_IGNORE), SHIFT)
  CASE(MPI_Sendrecv_replace(NULL, 1, I, to, 1, from, 1, W, MPI_STATUS_IGNORE),
       MPI_Sendrecv_replace(a, 1, I, to, 1, from, 1, W, MPI_STATUS_IGNORE))
  CASE(MPI_Probe(size, 1, W, MPI_STATUS_IGNORE), SHIFT)
  CASE(started(MPI_Send_init(a, 1, I, size, 1, W, &request)), SHIFT)
  CASE(MPI_Wait(NULL, MPI_STATUS_IGNORE), SHIFT)
  CASE(MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE), SHIFT)
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(W, &rank);
  MPI_Comm_size(W, &size);
  first = argc > 1 ? atoi(argv[1]) : 0;
  last = argc > 2 ? atoi(argv[2]) : argc > 1 ? first : last;
  for (int i = 0; i < kMost; ++i) {
    counts[i] = 1, places[i] = i, negative[i] = -1;
    types[i] = I, bad_types[i] = NOTYPE;
  }
  for (int i = 0; i < size; ++i) places[i] = i;
  MPI_Type_contiguous(3, I, &uncommitted);
  MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
  const int periodic[1] = {1};
  MPI_Cart_create(W, 1, &size, periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  collectives();
  other_forms();
  communicators();
  messages();
  MPI_Barrier(W);
  if (rank == 0) printf("%d cases\n", number);
  MPI_Type_free(&uncommitted);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
