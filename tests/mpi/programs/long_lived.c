/* What comes and goes in a long job, again and again: long_lived SECONDS [PAUSE_US]. Rank 0's clock says when it is over. Prints
 * the rounds. (No datatypes that are made and freed: of those MPICH keeps 60 to 160 bytes each, bare as well, as glibc does of
 * what UCX asks posix_memalign for.) */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kCells = 600, kEvery = 16 };

static int rank, ranks;
static MPI_Datatype column;

static void halo(double* cells) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Request requests[4];
  MPI_Irecv(cells, 100, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(cells + 500, 100, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(cells + 100, 100, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(cells + 400, 100, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* Work for whoever asks: receives from anybody, a probe, a receive that is cancelled. */
static void ask_for_work(void) {
  int work = 0;
  if (rank == 0) {
    for (int i = 1; i < ranks; ++i) {
      MPI_Status status;
      MPI_Recv(&work, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
      MPI_Send(&work, 1, MPI_INT, status.MPI_SOURCE, 4, MPI_COMM_WORLD);
    }
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Probe(0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&work, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Request never;
  MPI_Irecv(&work, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &never);
  MPI_Cancel(&never);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
}

/* Objects that are made and freed. */
static void come_and_go(double* cells) {
  MPI_Comm copy, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank % 2, rank, &half);
  double sum = rank;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);

  MPI_Request pair[2];
  MPI_Send_init(cells, 1, column, (rank + 1) % ranks, 6, MPI_COMM_WORLD, &pair[0]);
  MPI_Recv_init(cells + 1, 1, column, (rank + ranks - 1) % ranks, 6, MPI_COMM_WORLD, &pair[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, pair);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&pair[0]);
  MPI_Request_free(&pair[1]);

  MPI_Win window;
  double* shared;
  MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&sum, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  const struct timespec pause = {0, 1000 * (argc > 2 ? atol(argv[2]) : 0)};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_vector(20, 1, 30, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  static double cells[kCells];
  const time_t begin = time(NULL);
  long rounds = 0;
  int go_on = 1;
  while (go_on) {
    for (int i = 0; i < kEvery; ++i, ++rounds) {
      halo(cells);
      double norm = cells[0];
      MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      MPI_Request reduction;
      MPI_Ireduce(rank == 0 ? MPI_IN_PLACE : &norm, &norm, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD,
                  &reduction);
      MPI_Wait(&reduction, MPI_STATUS_IGNORE);
      nanosleep(&pause, NULL);
    }
    ask_for_work();
    come_and_go(cells);
    go_on = difftime(time(NULL), begin) < seconds;
    MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%ld rounds\n", rounds);
  MPI_Type_free(&column);
  MPI_Finalize();
  return 0;
}
