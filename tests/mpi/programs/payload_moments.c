/* Buffers that change as soon as MPI allows it: what is recorded must be what was sent. Byte i of a message
 * with tag T is (7 T + 13 i) mod 251. Rank 0 sends, rank 1 receives. Argument: BYTES of each message. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 3, kEach = 20, kFirstOfThreads = 100 };

static int bytes;

static void fill(unsigned char* buffer, int tag) {
  for (int i = 0; i < bytes; ++i) buffer[i] = (unsigned char)((7 * tag + 13 * i) % 251);
}

static void spoil(unsigned char* buffer) {
  memset(buffer, 0xee, (size_t)bytes);
}

static void buffered(void) {
  const int space = 4 * (bytes + MPI_BSEND_OVERHEAD);
  unsigned char *buffer = malloc((size_t)bytes), *room = malloc((size_t)space);
  MPI_Request request;
  MPI_Buffer_attach(room, space);
  fill(buffer, 1);
  MPI_Bsend(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  fill(buffer, 2);
  MPI_Ibsend(buffer, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  spoil(buffer);
  MPI_Bsend_init(buffer, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 2; ++round) {
    fill(buffer, 3 + round);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    spoil(buffer);
  }
  MPI_Request_free(&request);
  int size;
  void* old;
  MPI_Buffer_detach(&old, &size);
  free(old);
  free(buffer);
}

/* Created long before they are filled, started together. */
static void persistent(void) {
  unsigned char* buffer[2];
  MPI_Request requests[2];
  for (int k = 0; k < 2; ++k) {
    buffer[k] = malloc((size_t)bytes);
    spoil(buffer[k]);
    MPI_Send_init(buffer[k], bytes, MPI_BYTE, 1, 10 + k, MPI_COMM_WORLD, &requests[k]);
  }
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 2; ++k) fill(buffer[k], 10 + k + 10 * round);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2; ++k) spoil(buffer[k]);
  }
  for (int k = 0; k < 2; ++k) {
    MPI_Request_free(&requests[k]);
    free(buffer[k]);
  }
}

static void replaced(int rank) {
  unsigned char* buffer = malloc((size_t)bytes);
  fill(buffer, 40 + rank);
  MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, 1 - rank, 40, 1 - rank, 40, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  free(buffer);
}

static void* talk(void* argument) {
  const int thread = (int)(long)argument;
  unsigned char* buffer = malloc((size_t)bytes);
  for (int k = 0; k < kEach; ++k) {
    const int tag = kFirstOfThreads + thread * kEach + k;
    MPI_Request request;
    fill(buffer, tag);
    MPI_Isend(buffer, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    spoil(buffer);
  }
  free(buffer);
  return NULL;
}

static void threads(void) {
  pthread_t all[kThreads];
  for (long t = 0; t < kThreads; ++t) pthread_create(&all[t], NULL, talk, (void*)t);
  for (int t = 0; t < kThreads; ++t) pthread_join(all[t], NULL);
}

static void receive(int tag, int count) {
  unsigned char* buffer = malloc((size_t)bytes);
  for (int i = 0; i < count; ++i)
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(buffer);
}

int main(int argc, char** argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bytes = argc > 1 ? atoi(argv[1]) : 100;
  if (rank == 0) {
    buffered();
    persistent();
    threads();
  } else {
    for (int tag = 1; tag <= 3; ++tag) receive(tag, tag == 3 ? 2 : 1);
    for (int tag = 10; tag <= 11; ++tag) receive(tag, 3);
    for (int tag = kFirstOfThreads; tag < kFirstOfThreads + kThreads * kEach; ++tag) receive(tag, 1);
  }
  replaced(rank);
  MPI_Finalize();
  return 0;
}
