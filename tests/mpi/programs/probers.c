/* Ranks that probe, and go on in different ways: probers WAY SEED. Computing and sizes are drawn.
 *   serve     rank 0 receives what its probes from anybody have found
 *   answer    it answers first, and receives then
 *   progress  an exchange in which everybody probes for anything, so that the library makes progress, and tests receives by name */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 10, kEach = 3, kMost = 16, kBytes = 2000 };

static unsigned state;
static int rank, ranks;
static char in[kMost][kBytes], out[kBytes];

static unsigned drawn(unsigned below) {
  state = state * 1664525U + 1013904223U;
  return (state >> 8) % below;
}

static void compute(unsigned most_us) {
  const double until = MPI_Wtime() + 1e-6 * drawn(most_us);
  while (MPI_Wtime() < until) {
  }
}

static void serve(int answers) {
  for (int left = (ranks - 1) * kEach; left > 0;) {
    MPI_Status status;
    int found = 0, bytes;
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, &status);
    compute(found ? 20 : 3);
    if (!found) continue;
    if (answers) MPI_Send(&found, 1, MPI_INT, status.MPI_SOURCE, 9, MPI_COMM_WORLD);
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    MPI_Recv(in[0], bytes, MPI_CHAR, status.MPI_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    --left;
  }
}

static void ask(int is_answered) {
  for (int i = 0; i < kEach; ++i) {
    MPI_Request request;
    int answer;
    compute(60);
    MPI_Isend(out, 1 + (int)drawn(kBytes), MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
    if (is_answered) MPI_Recv(&answer, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void exchange(void) {
  MPI_Request sends[kMost], receives[kMost];
  for (int r = 0; r < ranks; ++r)
    MPI_Isend(out, 1 + (int)drawn(kBytes), MPI_CHAR, r, 5, MPI_COMM_WORLD, &sends[r]);
  compute(40);
  for (int r = 0; r < ranks; ++r) MPI_Irecv(in[r], kBytes, MPI_CHAR, r, 5, MPI_COMM_WORLD, &receives[r]);
  for (int left = ranks; left > 0;)
    for (int r = 0; r < ranks; ++r) {
      int found, received;
      if (receives[r] == MPI_REQUEST_NULL) continue;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      MPI_Test(&receives[r], &received, MPI_STATUS_IGNORE);
      if (received) compute(15);
      left -= received ? 1 : 0;
    }
  MPI_Waitall(ranks, sends, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || ranks > kMost) MPI_Abort(MPI_COMM_WORLD, 2);
  state = (unsigned)atoi(argv[2]) * 7919U + (unsigned)rank * 104729U + 1U;
  for (int round = 0; round < kRounds; ++round) {
    if (strcmp(argv[1], "progress") == 0)
      exchange();
    else if (rank == 0)
      serve(strcmp(argv[1], "answer") == 0);
    else
      ask(strcmp(argv[1], "answer") == 0);
  }
  MPI_Finalize();
  return 0;
}
