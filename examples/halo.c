/* A one-dimensional halo exchange with non-blocking calls, and a sum every ten steps.
 * Arguments: [steps] [bytes per border] [iterations of work per step]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  const int bytes = argc > 2 ? atoi(argv[2]) : 1024;
  const long work = argc > 3 ? atol(argv[3]) : 10000;

  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  unsigned char* buffers =
      calloc(4, (size_t)bytes + 1); /* to the left, to the right, from the left, from the right */
  unsigned char *to_left = buffers, *to_right = buffers + bytes;
  unsigned char *from_left = to_right + bytes, *from_right = from_left + bytes;
  unsigned long checksum = (unsigned long)rank + 1, total = 0;
  volatile double x = 1.0;
  for (int step = 0; step < steps; ++step) {
    memset(to_left, (int)(checksum % 251), (size_t)bytes * 2);
    MPI_Request requests[4];
    MPI_Irecv(from_left, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_right, bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(to_left, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(to_right, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[3]);
    for (long i = 0; i < work; ++i) x = x * 0.999 + 0.001;
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (bytes > 0) checksum = checksum * 31 + from_left[0] + 7UL * from_right[bytes - 1];
    if (step % 10 == 9) MPI_Allreduce(&checksum, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("halo: %d ranks, %d steps of %d bytes, checksum %lu\n", size, steps, bytes, total);
  free(buffers);
  MPI_Finalize();
  return 0;
}
