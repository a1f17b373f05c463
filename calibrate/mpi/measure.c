/* Measures the network between the first and the last rank, under plain MPI: started by `nplus1 calibrate`, never under
 * the simulator. Arguments: repetitions, largest size in bytes. Writes CSV on stdout: kind,size,repetition,value.
 *
 *   half_round_trip  seconds that a message takes one way: half of a round of ping-pong
 *   send             seconds that MPI_Isend takes, while the receive is posted
 *   gap              seconds between messages that follow each other, of a burst to posted receives
 *   eager            1 if a send completes before its receive is posted, else 0
 *   reduce           seconds that MPI_Reduce_local takes for one operand: MPI_SUM of doubles
 *   copy             seconds that MPI_Alltoall takes for a rank's block for itself, while the peer copies one of its own;
 *                    blocks lie side by side, so that caches have none of them
 *
 * Kinds and sizes take turns within each repetition, so that a disturbance of the machine hits all alike. Sizes are
 * powers of two and those halfway between (3 times a power of two), which the fit does not see. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBurst = 16, kMostSizes = 128, kTag = 1 };

static int rank, peer;
static char *out, *in;

static void report(const char* kind, int size, int repetition, double value) {
  if (rank == 0) printf("%s,%d,%d,%.12g\n", kind, size, repetition, value);
}

/* More rounds of small messages, so that the clock's resolution does not show. */
static int rounds_of(int size) {
  return size <= 4096 ? 20 : size <= 65536 ? 8 : 2;
}

static void ping_pong(int size, int repetition) {
  const int rounds = rounds_of(size);
  double begin = 0;
  for (int i = -1; i < rounds; ++i) { /* the first only warms up */
    if (i == 0) begin = MPI_Wtime();
    if (rank == 0) MPI_Send(out, size, MPI_BYTE, peer, kTag, MPI_COMM_WORLD);
    MPI_Recv(in, size, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(out, size, MPI_BYTE, peer, kTag, MPI_COMM_WORLD);
  }
  report("half_round_trip", size, repetition, (MPI_Wtime() - begin) / (2.0 * rounds));
}

/* The receiver says when its receives are posted, and when all are there. */
static void burst(int size, int repetition, int messages, const char* send_kind, const char* gap_kind) {
  MPI_Request requests[kBurst];
  if (rank != 0) {
    for (int i = 0; i < messages; ++i)
      MPI_Irecv(in, size, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(NULL, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD);
    return;
  }
  MPI_Recv(NULL, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double begin = MPI_Wtime();
  for (int i = 0; i < messages; ++i) MPI_Isend(out, size, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &requests[i]);
  const double sent = MPI_Wtime();
  MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  MPI_Recv(NULL, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double all = MPI_Wtime() - begin;
  if (send_kind != NULL) report(send_kind, size, repetition, (sent - begin) / messages);
  if (gap_kind != NULL) report(gap_kind, size, repetition, all / messages);
}

/* The receive is posted only after the sender has looked for 2 ms whether its send is complete. */
static void eager(int size, int repetition) {
  int done = 0;
  MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, kTag, NULL, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(out, size, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request);
    const double until = MPI_Wtime() + 2e-3;
    while (!done && MPI_Wtime() < until) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, peer, kTag + 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, peer, kTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, size, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  report("eager", size, repetition, done);
}

static void reduce_local(int size, int repetition) {
  const int rounds = rounds_of(size), elements = size / 8;
  double begin = 0;
  if (rank != 0 || size % 8 != 0) return;
  for (int i = -1; i < rounds; ++i) { /* the first only warms up */
    if (i == 0) begin = MPI_Wtime();
    MPI_Reduce_local(out, in, elements, MPI_DOUBLE, MPI_SUM);
  }
  report("reduce", size, repetition, (MPI_Wtime() - begin) / rounds);
}

static void copy_own(int size, int repetition, int most) {
  const int rounds = rounds_of(size), places = most / size;
  double begin = 0;
  MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, kTag, NULL, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = -1; i < rounds; ++i) { /* the first only warms up */
    const size_t at = (size_t)size * (size_t)((repetition * rounds + i + 1) % places);
    if (i == 0) begin = MPI_Wtime();
    MPI_Alltoall(out + at, size, MPI_BYTE, in + at, size, MPI_BYTE, MPI_COMM_SELF);
  }
  report("copy", size, repetition, (MPI_Wtime() - begin) / rounds);
}

static int make_sizes(int most, int* sizes) {
  int n = 0;
  for (int size = 1; size <= most && n + 1 < kMostSizes; size *= 2) {
    sizes[n++] = size;
    if (size >= 2 && size / 2 * 3 <= most) sizes[n++] = size / 2 * 3;
    if (size > most / 2) break;
  }
  return n;
}

int main(int argc, char** argv) {
  int ranks, sizes[kMostSizes];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int repetitions = argc > 1 ? atoi(argv[1]) : 30;
  const int most = argc > 2 ? atoi(argv[2]) : 32 << 20;
  const int n = make_sizes(most, sizes);
  out = malloc((size_t)most);
  in = malloc((size_t)most);
  if (ranks < 2 || out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(out, 1, (size_t)most);
  memset(in, 2, (size_t)most);
  peer = rank == 0 ? ranks - 1 : 0;
  if (rank == 0) printf("kind,size,repetition,value\n");
  const int measures = rank == 0 || rank == ranks - 1; /* those between have only to be there */
  for (int r = 0; measures && r < repetitions; ++r) {
    for (int i = 0; i < n; ++i) {
      ping_pong(sizes[i], r);
      burst(sizes[i], r, 1, "send", NULL);
      if (sizes[i] <= 65536) burst(sizes[i], r, kBurst, NULL, "gap");
      reduce_local(sizes[i], r);
      copy_own(sizes[i], r, most);
    }
    for (int i = 0; i < n && r < 3; ++i) eager(sizes[i], r);
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
