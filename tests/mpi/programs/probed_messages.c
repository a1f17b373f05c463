/* Two threads of rank 1 (MPI_THREAD_MULTIPLE) take the messages that rank 0 sends, all with one tag: one by MPI_Mprobe and
 * MPI_Mrecv, the other by MPI_Recv. Whichever gets a message, all come once, and whole: checked by number. Argument:
 * [messages for each thread]. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 500, kThreads = 2 };

static int each;
static int seen[1 << 16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const int* in, MPI_Status* status) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  if (count != 1 + in[0] % kMost) MPI_Abort(MPI_COMM_WORLD, 3);
  pthread_mutex_lock(&lock);
  ++seen[in[0]];
  pthread_mutex_unlock(&lock);
}

static void* probe(void* unused) {
  int in[kMost + 1];
  (void)unused;
  for (int i = 0; i < each; ++i) {
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, kMost + 1, MPI_INT, &message, &status);
    note(in, &status);
  }
  return NULL;
}

static void* receive(void* unused) {
  int in[kMost + 1];
  (void)unused;
  for (int i = 0; i < each; ++i) {
    MPI_Status status;
    MPI_Recv(in, kMost + 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);
    note(in, &status);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  each = argc > 1 ? atoi(argv[1]) : 50;
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  if (rank == 0) {
    int out[kMost + 1];
    for (int i = 0; i < kThreads * each; ++i) {
      out[0] = i;
      MPI_Send(out, 1 + i % kMost, MPI_INT, 1, 7, MPI_COMM_WORLD);
    }
    printf("all sent\n");
  } else if (rank == 1) {
    pthread_t prober, receiver;
    pthread_create(&prober, NULL, probe, NULL);
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_join(prober, NULL);
    pthread_join(receiver, NULL);
    for (int i = 0; i < kThreads * each; ++i)
      if (seen[i] != 1) MPI_Abort(MPI_COMM_WORLD, 4);
    printf("all came once\n");
  }
  MPI_Finalize();
  return 0;
}
