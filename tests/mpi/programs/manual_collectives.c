/* Hand-written collectives of several kinds, one after the other, with other messages between them:
   a serial broadcast from rank 0 (5 times), a broadcast along a chain with rotating roots (n times), a serial
   scatter from rank 1, an allgather along a ring, a pairwise alltoall. Payloads never come twice. With the
   argument "library" the first is MPI_Bcast. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kWords = 512 };
static int rank, size;
static long payload[kWords], others[64 * kWords];

static void fill(long* at, int words) {
  for (int i = 0; i < words; ++i) at[i] = random() ^ ((long)rank << 40);
}

static void serial_broadcast(void) {
  if (rank == 0) {
    fill(payload, kWords);
    for (int r = 1; r < size; ++r) MPI_Send(payload, kWords, MPI_LONG, r, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(payload, kWords, MPI_LONG, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void chain(int root) {
  const int place = (rank - root + size) % size;
  if (place == 0)
    fill(payload, kWords);
  else
    MPI_Recv(payload, kWords, MPI_LONG, (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (place + 1 < size) MPI_Send(payload, kWords, MPI_LONG, (rank + 1) % size, 2, MPI_COMM_WORLD);
}

static void serial_scatter(void) {
  if (rank == 1) {
    fill(others, size * 16);
    for (int r = 0; r < size; ++r)
      if (r != 1) MPI_Send(others + r * 16, 16, MPI_LONG, r, 3, MPI_COMM_WORLD);
  } else {
    MPI_Recv(payload, 16, MPI_LONG, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void ring_allgather(void) {
  fill(others + rank * 32, 32);
  for (int s = 0; s < size - 1; ++s) {
    const int out = (rank - s + size) % size, in = (rank - s - 1 + size) % size;
    MPI_Sendrecv(others + out * 32, 32, MPI_LONG, (rank + 1) % size, 4, others + in * 32, 32, MPI_LONG,
                 (rank + size - 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void pairwise_alltoall(void) {
  static long out[64 * 8], in[64 * 8];
  fill(out, size * 8);
  for (int s = 1; s < size; ++s) {
    const int to = (rank + s) % size, from = (rank + size - s) % size;
    MPI_Sendrecv(out + to * 8, 8, MPI_LONG, to, 5, in + from * 8, 8, MPI_LONG, from, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  srandom(1 + (unsigned)rank);
  const int library = argc > 1 && strcmp(argv[1], "library") == 0;
  for (int i = 0; i < 5; ++i) {
    if (!library)
      serial_broadcast();
    else
      MPI_Bcast(payload, kWords, MPI_LONG, 0, MPI_COMM_WORLD);
  }
  for (int root = 0; root < size; ++root) chain(root);
  serial_scatter();
  ring_allgather();
  pairwise_alltoall();
  MPI_Finalize();
  return 0;
}
