/* Again and again a thread is started that receives one message from anybody, and joined. Argument: rounds.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static void* receive_one(void* unused) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}

int main(int argc, char** argv) {
  int provided, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = argc > 1 ? atoi(argv[1]) : 20; round > 0; --round) {
    pthread_t thread;
    pthread_create(&thread, NULL, receive_one, NULL);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
