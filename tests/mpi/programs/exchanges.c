/* Exchanges written with blocking calls, and the same with MPI_Irecv, MPI_Isend and MPI_Waitall. Arguments:
 * chain|order|forward|rows|halo planted|mended [steps] [doubles].
 *
 *   chain    every rank sends to the right and then receives from the left; the last one only receives, and long
 *            messages wait for their receive: they go one after the other
 *   order    with each neighbour, the lower rank sends first: rank 0 lets rank 1 go, which lets rank 2 go ...
 *   forward  every rank sends on what it has received, from another buffer: nothing can be sent earlier
 *   halo     to the right and to the left by MPI_Sendrecv, one after the other; the first and last rank have nobody there
 *   rows     the first rank of each row of four sends to the others in turn; mended: MPI_Bcast in each row
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, doubles;
static double *out[2], *in[2]; /* to and from the left, the right */

/* With work of some 10 us at least, on any machine: below 1.5 us, calls that follow each other count as one exchange. */
static void fill(int step) {
  static volatile double work;
  for (int i = 0; i < 20000; ++i) work += i;
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < doubles; ++i) out[side][i] = 1000 * rank + 10 * step + side + 0.001 * i;
}

static void at_once(int sends_left, int receives_right) {
  const int left = rank - 1, right = rank + 1;
  MPI_Request requests[4];
  int n = 0;
  if (left >= 0) MPI_Irecv(in[0], doubles, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[n++]);
  if (receives_right && right < size)
    MPI_Irecv(in[1], doubles, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[n++]);
  if (sends_left && left >= 0)
    MPI_Isend(out[0], doubles, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[n++]);
  if (right < size) MPI_Isend(out[1], doubles, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void chain(void) {
  if (rank + 1 < size) MPI_Send(out[1], doubles, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
  if (rank > 0) MPI_Recv(in[0], doubles, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_order_of_ranks(void) {
  if (rank > 0) {
    MPI_Recv(in[0], doubles, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out[0], doubles, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD);
  }
  if (rank + 1 < size) {
    MPI_Send(out[1], doubles, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in[1], doubles, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void forward(void) {
  if (rank > 0) {
    MPI_Recv(in[0], doubles, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memcpy(out[1], in[0], sizeof(double) * (size_t)doubles);
  }
  if (rank + 1 < size) MPI_Send(out[1], doubles, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
}

static void halo(int mended) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[4];
  if (mended) {
    MPI_Isend(out[1], doubles, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[0], doubles, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out[0], doubles, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(in[1], doubles, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Sendrecv(out[1], doubles, MPI_DOUBLE, right, 1, in[0], doubles, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out[0], doubles, MPI_DOUBLE, left, 2, in[1], doubles, MPI_DOUBLE, right, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

static void rows(int by_library) {
  enum { kRow = 4 };
  static MPI_Comm row = MPI_COMM_NULL;
  if (row == MPI_COMM_NULL) MPI_Comm_split(MPI_COMM_WORLD, rank / kRow, rank, &row);
  int me, members;
  MPI_Comm_rank(row, &me);
  MPI_Comm_size(row, &members);
  if (by_library)
    MPI_Bcast(out[0], doubles, MPI_DOUBLE, 0, row);
  else if (me == 0)
    for (int to = 1; to < members; ++to) MPI_Send(out[0], doubles, MPI_DOUBLE, to, 1, row);
  else
    MPI_Recv(out[0], doubles, MPI_DOUBLE, 0, 1, row, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 1 ? argv[1] : "chain";
  const int mended = argc > 2 && strcmp(argv[2], "mended") == 0;
  const int steps = argc > 3 ? atoi(argv[3]) : 10;
  doubles = argc > 4 ? atoi(argv[4]) : 2000;
  for (int side = 0; side < 2; ++side) {
    out[side] = calloc((size_t)doubles, sizeof(double));
    in[side] = calloc((size_t)doubles, sizeof(double));
  }
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    if (strcmp(how, "forward") != 0 || rank == 0) fill(step);
    if (strcmp(how, "rows") == 0)
      rows(mended);
    else if (strcmp(how, "halo") == 0)
      halo(mended);
    else if (strcmp(how, "forward") == 0)
      forward();
    else if (mended)
      at_once(strcmp(how, "order") == 0, strcmp(how, "order") == 0);
    else if (strcmp(how, "chain") == 0)
      chain();
    else
      in_order_of_ranks();
    sum += in[0][0] + in[1][0];
  }
  double all = 0;
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d steps, sum %g\n", how, steps, all);
  MPI_Finalize();
  return 0;
}
