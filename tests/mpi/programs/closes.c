// closes: a program that closes connections and files in memory of which it owns none, but for the process manager's, and goes
// on. (Without its other descriptors UCX ends the program, bare as well.)
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kRounds = 100, kDescriptors = 256 };

static void close_if_meant(int descriptor, int kept) {
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer;
  char link[64], target[256] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  if (descriptor == kept || readlink(link, target, sizeof target - 1) <= 0) return;
  if (strncmp(target, "/memfd:", 7) == 0 || getpeername(descriptor, (struct sockaddr*)&peer, &size) == 0)
    close(descriptor);
}

int main(int argc, char** argv) {
  const char* const text = getenv("PMI_FD");
  const int kept = text == NULL ? -1 : atoi(text);
  int rank, ranks, sum = 0, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kRounds; ++i) {
    if (i == kRounds / 2)
      for (int descriptor = 3; descriptor < kDescriptors; ++descriptor) close_if_meant(descriptor, kept);
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("%d: %d\n", rank, sum);
  MPI_Finalize();
  return 0;
}
