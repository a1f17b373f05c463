/* Two ranks throw a message to and fro. With L + s/B a round takes exactly 2 (L + s/B) of virtual time.
 * Arguments: [rounds] [bytes] [--times]; further ranks only watch. --times adds the time per round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  const int bytes = argc > 2 ? atoi(argv[2]) : 1024;
  const int times = argc > 3 && strcmp(argv[3], "--times") == 0;
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  unsigned char* ball = calloc((size_t)bytes + 1, 1);
  const int peer = 1 - rank;
  const double start = MPI_Wtime();
  for (int round = 0; round < rounds && rank < 2; ++round) {
    if (rank == 0) MPI_Send(ball, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(ball, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (bytes > 0) ball[0]++;
    if (rank == 1) MPI_Send(ball, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
  }
  const double elapsed = MPI_Wtime() - start;
  if (rank == 0) {
    printf("ping_pong: %d rounds of %d bytes, last byte %d\n", rounds, bytes, ball[0]);
    if (times) printf("%.12f s per round\n", elapsed / rounds);
  }
  free(ball);
  MPI_Finalize();
  return 0;
}
