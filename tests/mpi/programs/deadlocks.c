/* Programs that never end, by name; the test looks for the lines marked `waits here`. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, word;

static int is(const char* name, const char* wanted) {
  return strcmp(name, wanted) == 0;
}

__attribute__((noinline)) static void both_receive(void) {
  MPI_Recv(&word, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receives: waits here */
  MPI_Send(&word, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void ring_of_synchronous_sends(void) {
  MPI_Ssend(&word, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD); /* ssends: waits here */
  MPI_Recv(&word, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void receive_from_one_that_has_finalized(void) {
  if (rank == 0)
    MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* finalized: waits here */
}

__attribute__((noinline)) static void barrier_against_receive(void) {
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD); /* barrier: waits here */
    word = 1;                    /* after a last call there would be nothing to return to */
  } else {
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* wait: waits here */
  }
}

__attribute__((noinline)) static void anybody(void) {
  MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* anybody: waits here */
}

/* --- what only the MPI library knows: no model has these waits --- */
__attribute__((noinline)) static void fence_of_another_window(void) {
  MPI_Win one, other;
  MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &one);
  MPI_Win_create(&size, sizeof size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
  MPI_Win_fence(0, rank == 0 ? one : other); /* fences: waits here */
  MPI_Win_free(&one);
}

__attribute__((noinline)) static void fence_against_receive(void) {
  MPI_Win window;
  MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (rank == 0)
    MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receive: waits here */
  else
    MPI_Win_fence(0, window); /* fence: waits here */
  MPI_Win_free(&window);
}

__attribute__((noinline)) static void different_collectives(void) {
  double mine = rank, sum = 0;
  if (rank == 0)
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* allreduce: waits here */
  else
    MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* bcast: waits here */
  word = (int)sum;
}

__attribute__((noinline)) static void window_of_one(void) {
  MPI_Win window;
  if (rank != 0) return;
  MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window); /* window: waits here */
  word = 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* name = argc > 1 ? argv[1] : "";
  printf("rank %d begins\n", rank);
  fflush(stdout);
  if (is(name, "receives")) both_receive();
  if (is(name, "ssends")) ring_of_synchronous_sends();
  if (is(name, "finalized")) receive_from_one_that_has_finalized();
  if (is(name, "barrier")) barrier_against_receive();
  if (is(name, "anybody")) anybody();
  if (is(name, "fences")) fence_of_another_window();
  if (is(name, "fence")) fence_against_receive();
  if (is(name, "collectives")) different_collectives();
  if (is(name, "window")) window_of_one();
  MPI_Finalize();
  return 0;
}
