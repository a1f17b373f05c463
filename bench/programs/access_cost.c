/* access_cost PATTERN BYTES WHEN ROUNDS: receives a buffer ROUNDS times and touches it, or what lies beside it, in one way;
 * two ranks. Prints the touches of a round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kPage = 4096, kBeside = 512 };
static volatile double sink;

static double busy(int steps) {
  double x = 1;
  for (int i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
  return x;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 5) {
    if (rank == 0)
      fprintf(stderr, "usage: access_cost contiguous|strided|random|beside BYTES early|late ROUNDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const char* pattern = argv[1];
  const long bytes = atol(argv[2]);
  const int late = strcmp(argv[3], "late") == 0, rounds = atoi(argv[4]);
  const long n = bytes / (long)sizeof(double);
  /* The buffer ends in the middle of a page: there its neighbours begin. */
  char* area =
      mmap(NULL, (size_t)bytes + 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  double* data = (double*)(area + kPage / 2);
  double* beside = data + n;
  memset(area, 1, (size_t)bytes + 2 * kPage);
  unsigned long random = 12345;
  double total = 0;
  long touches = 0;
  for (int round = 0; round < rounds; round++) {
    if (rank == 0)
      MPI_Send(data, (int)n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data, (int)n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (late) sink = busy(200000);
    touches = 0;
    if (strcmp(pattern, "contiguous") == 0) {
      for (long i = 0; i < n; i++, touches++) total += data[i];
    } else if (strcmp(pattern, "strided") == 0) {
      for (long i = 0; i < n; i += kPage / (long)sizeof(double), touches++) total += data[i];
    } else if (strcmp(pattern, "random") == 0) {
      for (long i = 0; i < n / 8; i++, touches++) {
        random = random * 6364136223846793005UL + 1442695040888963407UL;
        total += data[(random >> 33) % (unsigned long)n];
      }
    } else {
      for (int k = 0; k < 20; k++)
        for (int i = 0; i < kBeside / 2; i++, touches++) total += beside[i % 200];
    }
    if (!late) sink = busy(200000);
  }
  sink = total;
  if (rank == 1) printf("%ld touches\n", touches);
  MPI_Finalize();
  return 0;
}
