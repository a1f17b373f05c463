/* Threads (MPI_THREAD_MULTIPLE) that talk to the same thread of other ranks, by name: nothing depends on which of them
 * the machine runs first. Each way to send and receive, with a tag or a communicator of the thread's own.
 * Arguments: [threads [rounds [comm]]]. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostThreads = 16, kMostRanks = 16, kBytes = 4096 };

static int rank, size, rounds, own_communicators;
static MPI_Comm comms[kMostThreads];

static void blocking(MPI_Comm comm, int tag, char* out, char* in) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  if (rank % 2 == 0) {
    MPI_Send(out, kBytes, MPI_BYTE, right, tag, comm);
    MPI_Recv(in, kBytes, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, kBytes, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE);
    MPI_Send(out, kBytes, MPI_BYTE, right, tag, comm);
  }
}

static void burst(MPI_Comm comm, int tag, char* out, char* in) {
  MPI_Request requests[2 * kMostRanks];
  int n = 0;
  for (int k = 1; k < size; ++k)
    MPI_Irecv(in + 16 * k, 16 * k, MPI_BYTE, (rank + k) % size, tag, comm, &requests[n++]);
  for (int k = 1; k < size; ++k)
    MPI_Isend(out, 16 * (size - k), MPI_BYTE, (rank + k) % size, tag, comm, &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void combined(MPI_Comm comm, int tag, char* out, char* in) {
  MPI_Sendrecv(out, kBytes / 2, MPI_BYTE, (rank + 1) % size, tag, in, kBytes, MPI_BYTE,
               (rank + size - 1) % size, tag, comm, MPI_STATUS_IGNORE);
}

static void* talk(void* argument) {
  const int t = (int)(long)argument;
  char out[kBytes], in[kBytes];
  memset(out, t, sizeof(out));
  MPI_Comm comm = own_communicators ? comms[t] : MPI_COMM_WORLD;
  const int tag = own_communicators ? 0 : t;
  for (int round = 0; round < rounds; ++round) {
    blocking(comm, tag, out, in);
    burst(comm, tag, out, in);
    combined(comm, tag, out, in);
    if (own_communicators && round % 8 == 0) MPI_Barrier(comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, threads = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t started[kMostThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rounds = argc > 2 ? atoi(argv[2]) : 20;
  own_communicators = argc > 3;
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int t = 0; t < threads; ++t)
    if (own_communicators) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  for (long t = 0; t < threads; ++t) pthread_create(&started[t], NULL, talk, (void*)t);
  for (int t = 0; t < threads; ++t) pthread_join(started[t], NULL);
  for (int t = 0; t < threads; ++t)
    if (own_communicators) MPI_Comm_free(&comms[t]);
  MPI_Finalize();
  return 0;
}
