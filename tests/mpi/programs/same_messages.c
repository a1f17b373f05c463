/* Three threads in each of two ranks (MPI_THREAD_MULTIPLE) that in each round all send and receive messages with the same
 * tag and communicator: by MPI_Recv, and by MPI_Irecv and a wait. Whichever thread gets a message, all come once, and
 * whole: checked by number. Argument: [rounds]. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 3, kBurst = 6, kMost = 64 };

static int rank, rounds;
static int seen[1 << 16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const int* in, const MPI_Status* status) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  if (count != 1 + in[0] % kMost) MPI_Abort(MPI_COMM_WORLD, 3);
  pthread_mutex_lock(&lock);
  ++seen[in[0]];
  pthread_mutex_unlock(&lock);
}

static void send_burst(int thread, int round) {
  for (int i = 0; i < kBurst; ++i) {
    int out[kMost + 1];
    out[0] = (round * kThreads + thread) * kBurst + i;
    MPI_Send(out, 1 + out[0] % kMost, MPI_INT, 1 - rank, round, MPI_COMM_WORLD);
  }
}

static void receive_burst(int round) {
  int in[kBurst][kMost + 1];
  MPI_Request requests[2];
  MPI_Status statuses[kBurst];
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(in[i], kMost + 1, MPI_INT, 1 - rank, round, MPI_COMM_WORLD, &requests[i]);
  MPI_Recv(in[2], kMost + 1, MPI_INT, 1 - rank, round, MPI_COMM_WORLD, &statuses[2]);
  MPI_Recv(in[3], kMost + 1, MPI_INT, 1 - rank, round, MPI_COMM_WORLD, &statuses[3]);
  MPI_Recv(in[4], kMost + 1, MPI_INT, 1 - rank, round, MPI_COMM_WORLD, &statuses[4]);
  MPI_Recv(in[5], kMost + 1, MPI_INT, 1 - rank, round, MPI_COMM_WORLD, &statuses[5]);
  MPI_Waitall(2, requests, statuses);
  for (int i = 0; i < kBurst; ++i) note(in[i], &statuses[i]);
}

static void* talk(void* argument) {
  const int thread = (int)(long)argument;
  for (int round = 0; round < rounds; ++round) {
    if (rank == 1) send_burst(thread, round);
    receive_burst(round);
    if (rank == 0) send_burst(thread, round);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rounds = argc > 1 ? atoi(argv[1]) : 20;
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  pthread_t threads[kThreads];
  for (long t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, talk, (void*)t);
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int i = 0; i < rounds * kThreads * kBurst; ++i)
    if (seen[i] != 1) MPI_Abort(MPI_COMM_WORLD, 4);
  if (rank == 0) printf("all came once\n");
  MPI_Finalize();
  return 0;
}
