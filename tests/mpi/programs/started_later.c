/* Persistent requests. Usage: started_later freed ROUNDS: each is started after the program has freed its communicator, as MPI
 * allows. started_later threads ROUNDS: four threads make, start and free them beside each other. In each round a rank (a thread)
 * sends a message to the next rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };
static int rank, size, rounds;
static MPI_Comm comms[THREADS];

static void start(MPI_Request requests[], int count) {
  MPI_Startall(count, requests);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) MPI_Request_free(&requests[i]);
}

static void prepare(MPI_Comm comm, int* out, int* in, MPI_Request requests[]) {
  MPI_Send_init(out, 1, MPI_INT, (rank + 1) % size, 0, comm, &requests[0]);
  MPI_Recv_init(in, 1, MPI_INT, (rank + size - 1) % size, 0, comm, &requests[1]);
}

static void freed(void) {
  int in, out = rank;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm comm;
    MPI_Request requests[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    prepare(comm, &out, &in, requests);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[2]);
    MPI_Comm_free(&comm);
    start(requests, 3);
  }
}

static void* in_thread(void* comm) {
  int in, out = rank;
  for (int i = 0; i < rounds; ++i) {
    MPI_Request requests[2];
    prepare(*(MPI_Comm*)comm, &out, &in, requests);
    start(requests, 2);
  }
  return NULL;
}

static void threads(void) {
  pthread_t all[THREADS];
  for (int t = 0; t < THREADS; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  for (int t = 0; t < THREADS; ++t) pthread_create(&all[t], NULL, in_thread, &comms[t]);
  for (int t = 0; t < THREADS; ++t) pthread_join(all[t], NULL);
  for (int t = 0; t < THREADS; ++t) MPI_Comm_free(&comms[t]);
}

int main(int argc, char** argv) {
  int provided;
  if (argc < 3) return 2;
  rounds = atoi(argv[2]);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "freed") == 0)
    freed();
  else
    threads();
  MPI_Finalize();
  return 0;
}
