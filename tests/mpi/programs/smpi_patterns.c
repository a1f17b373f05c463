// Communication patterns for the comparison with SMPI: every rank prints its virtual time at the end.
// Plain MPI, so that smpicc builds it as well. Usage: smpi_patterns PATTERN[,PATTERN...] BYTES[,BYTES...]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, n;
static char *out, *in;
static int *counts, *places, *from_counts, *from_places;

static void ring(int size) {
  MPI_Request request;
  MPI_Irecv(in, size, MPI_BYTE, (me + n - 1) % n, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, size, MPI_BYTE, (me + 1) % n, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void relay(int size) {  // one message, all the way round
  if (me > 0) MPI_Recv(in, size, MPI_BYTE, me - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(out, size, MPI_BYTE, (me + 1) % n, 1, MPI_COMM_WORLD);
  if (me == 0) MPI_Recv(in, size, MPI_BYTE, n - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void halo(int size) {  // a ring of two neighbours each way
  MPI_Request requests[8];
  for (int i = 0; i < 4; ++i) {
    const int d = i < 2 ? i + 1 : n - (i - 1);
    MPI_Irecv(in + i * (long)size, size, MPI_BYTE, (me + d) % n, 2, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < 4; ++i) {
    const int d = i < 2 ? i + 1 : n - (i - 1);
    MPI_Isend(out, size, MPI_BYTE, (me + d) % n, 2, MPI_COMM_WORLD, &requests[4 + i]);
  }
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static void incast(int size) {
  if (me != 0) {
    MPI_Send(out, size, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    return;
  }
  for (int r = 1; r < n; ++r) MPI_Recv(in, size, MPI_BYTE, r, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wildcard(int size) {  // rank 0 answers in the order of virtual arrival
  for (int r = 1; me == 0 && r < n; ++r) {
    MPI_Status status;
    MPI_Recv(in, size, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
    MPI_Send(out, size, MPI_BYTE, status.MPI_SOURCE, 5, MPI_COMM_WORLD);
  }
  if (me == 0) return;
  MPI_Sendrecv(out, size, MPI_BYTE, 0, 4, in, size, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wavefront(int size) {  // two-dimensional, from the corner of a grid
  int columns = 1;
  while ((columns + 1) * (columns + 1) <= n) ++columns;
  while (n % columns) --columns;
  const int row = me / columns, column = me % columns, rows = n / columns;
  if (row > 0) MPI_Recv(in, size, MPI_BYTE, me - columns, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (column > 0) MPI_Recv(in, size, MPI_BYTE, me - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (row + 1 < rows) MPI_Send(out, size, MPI_BYTE, me + columns, 6, MPI_COMM_WORLD);
  if (column + 1 < columns) MPI_Send(out, size, MPI_BYTE, me + 1, 6, MPI_COMM_WORLD);
}

static void nearest(int size) {  // pairs 0-1, 2-3 ...
  const int peer = me ^ 1;
  if (peer < n)
    MPI_Sendrecv(out, size, MPI_BYTE, peer, 7, in, size, MPI_BYTE, peer, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void pairs(int size) {  // four random pairings, the same everywhere
  unsigned state = 12345;
  int order[1024];
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int round = 0; round < 4; ++round) {
    for (int i = n - 1; i > 0; --i) {
      state = state * 1103515245u + 12345u;
      const int j = (int)((state >> 8) % (unsigned)(i + 1)), kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
    for (int i = 0; i < n; ++i) {
      const int peer = (i ^ 1) < n ? order[i ^ 1] : -1;
      if (order[i] == me && peer >= 0)
        MPI_Sendrecv(out, size, MPI_BYTE, peer, 8, in, size, MPI_BYTE, peer, 8, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
  }
}

static void transpose(int size) {
  MPI_Request requests[2048];
  for (int d = 1; d < n; ++d) {
    MPI_Irecv(in + d * (long)size, size, MPI_BYTE, (me + d) % n, 9, MPI_COMM_WORLD, &requests[d - 1]);
    MPI_Isend(out, size, MPI_BYTE, (me + n - d) % n, 9, MPI_COMM_WORLD, &requests[n + d - 2]);
  }
  MPI_Waitall(2 * (n - 1), requests, MPI_STATUSES_IGNORE);
}

static void bcast(int size) {
  MPI_Bcast(out, size, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void reduce(int size) {
  MPI_Reduce(out, in, size / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(int size) {
  MPI_Allreduce(out, in, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(int size) {
  MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
}
static void allgather(int size) {
  MPI_Allgather(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
}
static void gather(int size) {
  MPI_Gather(out, size, MPI_BYTE, in, size, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(int size) {
  MPI_Scatter(out, size, MPI_BYTE, in, size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Blocks of different sizes, whole doubles. */
static int blocks(int size) {
  int total = 0;
  for (int r = 0; r < n; ++r) {
    counts[r] = (size * (r % 3 + 1) / 3 / 8 + 1) * 8;
    places[r] = total;
    total += counts[r];
  }
  return counts[me];
}
static void barrier(int size) {
  (void)size;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void gatherv(int size) {
  const int mine = blocks(size);
  MPI_Gatherv(out, mine, MPI_BYTE, in, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatterv(int size) {
  const int mine = blocks(size);
  MPI_Scatterv(out, counts, places, MPI_BYTE, in, mine, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void allgatherv(int size) {
  const int mine = blocks(size);
  MPI_Allgatherv(out, mine, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoallv(int size) {
  for (int r = 0, to = 0, from = 0; r < n; ++r) {
    counts[r] = size * ((me + 2 * r) % 3 + 1) / 3;
    from_counts[r] = size * ((r + 2 * me) % 3 + 1) / 3;
    places[r] = to;
    from_places[r] = from;
    to += counts[r];
    from += from_counts[r];
  }
  MPI_Alltoallv(out, counts, places, MPI_BYTE, in, from_counts, from_places, MPI_BYTE, MPI_COMM_WORLD);
}
static void reduce_scatter(int size) {
  blocks(size);
  for (int r = 0; r < n; ++r) counts[r] /= 8;
  MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter_block(int size) {
  MPI_Reduce_scatter_block(out, in, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(int size) {
  MPI_Scan(out, in, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void exscan(int size) {
  MPI_Exscan(out, in, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(int);
} kPatterns[] = {{"ring", ring},
                 {"relay", relay},
                 {"halo", halo},
                 {"incast", incast},
                 {"wildcard", wildcard},
                 {"nearest", nearest},
                 {"wavefront", wavefront},
                 {"pairs", pairs},
                 {"transpose", transpose},
                 {"bcast", bcast},
                 {"reduce", reduce},
                 {"allreduce", allreduce},
                 {"alltoall", alltoall},
                 {"gather", gather},
                 {"allgather", allgather},
                 {"scatter", scatter},
                 {"barrier", barrier},
                 {"gatherv", gatherv},
                 {"scatterv", scatterv},
                 {"allgatherv", allgatherv},
                 {"alltoallv", alltoallv},
                 {"scan", scan},
                 {"exscan", exscan},
                 {"reduce_scatter", reduce_scatter},
                 {"reduce_scatter_block", reduce_scatter_block}};

static void run(const char* name, int size) {
  for (unsigned i = 0; i < sizeof(kPatterns) / sizeof(*kPatterns); ++i)
    if (strcmp(kPatterns[i].name, name) == 0) kPatterns[i].run(size);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (argc < 3) return 1;
  char* patterns = strdup(argv[1]);
  char* sizes = strdup(argv[2]);
  char *rest, *inner;
  long largest = 0;
  for (char* s = strdup(sizes); (s = strtok_r(s, ",", &inner)) != NULL; s = NULL)
    if (atol(s) > largest) largest = atol(s);
  out = calloc((size_t)n, (size_t)largest + 16);
  in = calloc((size_t)n, (size_t)largest + 16);
  int** lists[] = {&counts, &places, &from_counts, &from_places};
  for (int i = 0; i < 4; ++i) *lists[i] = calloc((size_t)n, sizeof(int));
  for (char* p = patterns; (p = strtok_r(p, ",", &rest)) != NULL; p = NULL) {
    char* list = strdup(sizes);
    for (char* s = list; (s = strtok_r(s, ",", &inner)) != NULL; s = NULL) run(p, atoi(s));
  }
  printf("%d %.12f\n", me, MPI_Wtime());
  MPI_Finalize();
  return 0;
}
