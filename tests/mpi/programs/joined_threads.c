/* Threads that begin late and are joined. Arguments: MANNER [THREADS]. Rank 0 starts threads, each of which gives 1 ms to
 * computing and then exchanges a message with rank 1; rank 0 joins them and sends to rank 1 itself.
 *   once      all at once
 *   chain     one after the other, each after the join of the one before
 *   nested    each thread starts the next one, joins it, and ends
 *   silent    the threads compute and never call MPI
 * Prints for each rank its number and its MPI_Wtime at the end. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nplus1.h"

static int rank, threads, silent;

static void* talk(void* argument) {
  int word = (int)(long)argument;
  nplus1_compute(1e-3);
  if (!silent) MPI_Sendrecv_replace(&word, 1, MPI_INT, 1, word, 1, word, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void* nest(void* argument) {
  const long level = (long)argument;
  pthread_t next;
  talk(argument);
  if (level + 1 < threads) {
    pthread_create(&next, NULL, nest, (void*)(level + 1));
    pthread_join(next, NULL);
  }
  return NULL;
}

static void start_and_join(const char* manner) {
  pthread_t started[16];
  if (strcmp(manner, "nested") == 0) {
    pthread_create(&started[0], NULL, nest, (void*)0);
    pthread_join(started[0], NULL);
    return;
  }
  const int chain = strcmp(manner, "chain") == 0;
  for (long t = 0; t < threads; ++t) {
    pthread_create(&started[t], NULL, talk, (void*)t);
    if (chain) pthread_join(started[t], NULL);
  }
  for (int t = 0; t < threads && !chain; ++t) pthread_join(started[t], NULL);
}

static void answer(void) {
  for (int t = 0; t < threads && !silent; ++t) {
    int word;
    MPI_Recv(&word, 1, MPI_INT, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, t, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int provided, word = 7;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* manner = argc > 1 ? argv[1] : "once";
  threads = argc > 2 ? atoi(argv[2]) : 2;
  silent = strcmp(manner, "silent") == 0;
  if (rank == 0) {
    nplus1_compute(5e-3); /* the threads begin later than the job */
    start_and_join(manner);
    MPI_Send(&word, 1, MPI_INT, 1, 99, MPI_COMM_WORLD);
  } else {
    answer();
    MPI_Recv(&word, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("%d %.12f\n", rank, MPI_Wtime());
  MPI_Finalize();
  return 0;
}
