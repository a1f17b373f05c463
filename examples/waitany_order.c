/* The Waitany benchmark of Boehme, Hermanns, Geimer and Wolf (2011), section 4.2, figure 4, on 4 ranks.
 * In each round the workers compute in foo, which is imbalanced so that their messages reach rank 0 in the
 * order of ranks, and in bar, whose own imbalance is the other way round and smaller; rank 0 takes the
 * messages with MPI_Waitany as they come, and works on each. With foo balanced, bar reverses the order of
 * arrival. All meet in a barrier after each round. Arguments: [rounds] [--balanced]: foo takes the mean of
 * its lengths everywhere. Under nplus1 with --compute fixed:0 the lengths below are exact virtual times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nplus1.h"

enum { kElements = 1000 };

static double foo_seconds(int rank, int balanced) {
  static const double kLength[] = {0, 0.01, 0.11, 0.21};
  return balanced ? (kLength[1] + kLength[2] + kLength[3]) / 3 : kLength[rank];
}

static double bar_seconds(int rank) {
  static const double kLength[] = {0, 0.07, 0.04, 0.01};
  return kLength[rank];
}

enum { kDigestMs = 20 }; /* rank 0's work on a message */

static void compute(const char* region, double seconds) {
  nplus1_region_begin(region);
  nplus1_compute(seconds);
  nplus1_region_end(region);
}

static void collect(double* buffers, MPI_Request* requests) {
  for (int source = 1; source < 4; ++source)
    MPI_Irecv(buffers + (source - 1) * kElements, kElements, MPI_DOUBLE, source, 0, MPI_COMM_WORLD,
              &requests[source - 1]);
  for (int taken = 0; taken < 3; ++taken) {
    int index;
    MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    compute("digest", kDigestMs * 1e-3);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 10;
  const int balanced = argc > 1 && strcmp(argv[argc - 1], "--balanced") == 0;
  if (size != 4) {
    if (rank == 0) fprintf(stderr, "waitany_order: 4 ranks, please\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  static double buffers[3 * kElements];
  MPI_Request requests[3];
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      collect(buffers, requests);
    } else {
      compute("foo", foo_seconds(rank, balanced));
      compute("bar", bar_seconds(rank));
      MPI_Send(buffers, kElements, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("waitany_order: %d rounds%s\n", rounds, balanced ? ", foo balanced" : "");
  MPI_Finalize();
  return 0;
}
