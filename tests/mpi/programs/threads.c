/* Four threads per rank (MPI_THREAD_MULTIPLE), each receiving from any source with a tag of its own while it
 * sends to the same thread of all other ranks. Argument: [rounds]. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 4 };

static int rank, size, rounds;

static void* talk(void* argument) {
  const int tag = (int)(long)argument;
  long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    int out = 1000 * round + rank, in[16];
    MPI_Request requests[16];
    MPI_Status statuses[16];
    for (int i = 0; i + 1 < size; ++i)
      MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[i]);
    for (int i = 1; i < size; ++i) MPI_Send(&out, 1, MPI_INT, (rank + i) % size, tag, MPI_COMM_WORLD);
    if (round % 2 == 0) {
      MPI_Waitall(size - 1, requests, statuses);
    } else {
      for (int i = 0; i + 1 < size; ++i) MPI_Wait(&requests[i], &statuses[i]);
    }
    for (int i = 0; i + 1 < size; ++i) {
      if (in[i] % 1000 != statuses[i].MPI_SOURCE) MPI_Abort(MPI_COMM_WORLD, 9);
      sum += in[i];
    }
  }
  return (void*)sum;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rounds = argc > 1 ? atoi(argv[1]) : 20;
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  pthread_t threads[kThreads];
  long mine = 0, total = 0;
  for (long t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, talk, (void*)t);
  for (int t = 0; t < kThreads; ++t) {
    void* sum;
    pthread_join(threads[t], &sum);
    mine += (long)sum;
  }
  MPI_Reduce(&mine, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("threads: sum %ld\n", total);
  MPI_Finalize();
  return 0;
}
