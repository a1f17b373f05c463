/* One kind of what comes and goes in MPI programs, again and again: comes_and_goes KIND ROUNDS. Prints by how many bytes
 * the heap of the rank in which it grew most grew in the second, third and fourth quarter of the rounds: what stays behind of a
 * round makes it grow in each, a table that has become too small in one. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static double cells[600];

static void copies(void) {
  MPI_Comm copy, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank % 2, rank, &half);
  MPI_Allreduce(MPI_IN_PLACE, cells, 1, MPI_DOUBLE, MPI_SUM, half);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
}

/* All of what is made of a communicator that goes, in several ways. */
static void generations(void) {
  MPI_Comm first, second, third;
  MPI_Win window;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Request request;
  MPI_Comm_idup(first, &second, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Group group;
  MPI_Comm_group(second, &group);
  MPI_Comm_create_group(second, group, 3, &third);
  MPI_Win_create(cells, 80, 8, MPI_INFO_NULL, third, &window);
  MPI_Win_free(&window);
  MPI_Group_free(&group);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  MPI_Comm_free(&third);
}

static void between_groups(void) {
  MPI_Comm half, between, all;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
  MPI_Intercomm_merge(between, rank % 2, &all);
  MPI_Barrier(all);
  MPI_Comm_free(&all);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static void disconnected(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  MPI_Comm_disconnect(&copy);
}

static void exchange_persistently(MPI_Comm comm, MPI_Comm* freed) {
  MPI_Request pair[2];
  MPI_Send_init(cells, 10, MPI_DOUBLE, (rank + 1) % ranks, 6, comm, &pair[0]);
  MPI_Recv_init(cells + 10, 10, MPI_DOUBLE, (rank + ranks - 1) % ranks, 6, comm, &pair[1]);
  if (freed != NULL) MPI_Comm_free(freed);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, pair);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
    MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&pair[0]);
  MPI_Request_free(&pair[1]);
}

static void persistent(void) {
  exchange_persistently(MPI_COMM_WORLD, NULL);
}

/* A communicator that its last requests outlive. */
static void outlived(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  exchange_persistently(copy, &copy);
}

/* The same, where only virtual time decides whose message the request gets. */
static void undecided(void) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Irecv(cells, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 8, copy, &request);
  MPI_Send(cells + 1, 1, MPI_DOUBLE, (rank + 1) % ranks, 8, copy);
  MPI_Comm_free(&copy);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent_collectives(void) {
  MPI_Request request;
  MPI_Allreduce_init(cells, cells + 20, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void windows(void) {
  MPI_Win window;
  double* shared;
  MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Win_fence(0, window);
  MPI_Put(cells, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void anybody(void) {
  int work = rank;
  if (rank != 0) MPI_Send(&work, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; ++i)
    MPI_Recv(&work, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void probed(void) {
  int work = rank;
  MPI_Request request;
  MPI_Isend(&work, 1, MPI_INT, (rank + 1) % ranks, 4, MPI_COMM_WORLD, &request);
  const int from = (rank + ranks - 1) % ranks;
  MPI_Probe(from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int got = 0;
  MPI_Recv(&got, 1, MPI_INT, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void cancelled(void) {
  int work = 0;
  MPI_Request never;
  MPI_Irecv(&work, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &never);
  MPI_Cancel(&never);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
}

static const struct {
  const char* name;
  void (*round)(void);
} kinds[] = {{"copies", copies},
             {"generations", generations},
             {"between_groups", between_groups},
             {"disconnected", disconnected},
             {"persistent", persistent},
             {"outlived", outlived},
             {"undecided", undecided},
             {"persistent_collectives", persistent_collectives},
             {"windows", windows},
             {"anybody", anybody},
             {"probed", probed},
             {"cancelled", cancelled}};

static long heap(void) {
  const struct mallinfo2 now = mallinfo2();
  return (long)(now.uordblks + now.hblkhd);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 2 ? atoi(argv[2]) : 100;
  void (*round)(void) = NULL;
  for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(argv[1], kinds[i].name) == 0) round = kinds[i].round;
  if (round == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  enum { QUARTERS = 4 };
  long at_end[QUARTERS], grown[QUARTERS - 1];
  for (int quarter = 0; quarter < QUARTERS; ++quarter) {
    for (int i = 0; i < rounds / QUARTERS; ++i) {
      round();
      MPI_Barrier(MPI_COMM_WORLD);
    }
    at_end[quarter] = heap();
  }
  for (int quarter = 1; quarter < QUARTERS; ++quarter)
    grown[quarter - 1] = at_end[quarter] - at_end[quarter - 1];
  MPI_Allreduce(MPI_IN_PLACE, grown, QUARTERS - 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld %ld %ld\n", grown[0], grown[1], grown[2]);
  MPI_Finalize();
  return 0;
}
