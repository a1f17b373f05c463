/* Programs in which all ranks seem to wait, and yet go on: somebody acts where the simulator does not look.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static int word = 0;

static int is(const char* name, const char* wanted) {
  return strcmp(name, wanted) == 0;
}

/* Real time only: neither CPU time nor virtual time passes. */
static void pause_for(double seconds) {
  const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Everybody puts its rank into rank 0's memory. */
static void fence(void) {
  int* memory;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)sizeof(int) * size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &window);
  MPI_Win_fence(0, window);
  if (rank == 0) pause_for(1);
  MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  for (int r = 0; r < size && rank == 0; ++r)
    if (memory[r] != r) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Win_free(&window);
}

/* Everybody adds one to rank 0's counter, which waits for a message meanwhile. */
static void lock_and_flush(void) {
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&word, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    const int one = 1;
    int before = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    do { /* in rank order */
      MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_NO_OP, window);
      MPI_Win_flush(0, window);
    } while (before != rank - 1);
    pause_for(0.3);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    MPI_Win_unlock(0, window);
    if (rank == size - 1) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
}

/* Rank 0 polls a flag in memory that rank 1 sets; nobody calls MPI for that. */
static void shared_flag(void) {
  int* memory;
  MPI_Win window;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                          &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
  if (rank == 0) *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    while (__atomic_load_n(memory, __ATOMIC_ACQUIRE) != 42) usleep(1000);
    for (int peer = 1; peer < size; ++peer) MPI_Send(&rank, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  } else {
    if (rank == 1) {
      pause_for(1);
      __atomic_store_n(memory, 42, __ATOMIC_RELEASE);
    }
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_free(&window);
}

static void file(const char* path) {
  MPI_File handle;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle);
  if (rank == 0) pause_for(1);
  MPI_File_write_at_all(handle, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(handle);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % size;
  MPI_File_read_at_all(handle, next * (MPI_Offset)sizeof next, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&handle);
  if (word != next) MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Not known to the simulator while it sleeps: it has made no MPI call yet. */
static void* send_later(void* unused) {
  pause_for(1);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
  return unused;
}

static void helper_thread(void) {
  pthread_t helper;
  if (rank == 0) pthread_create(&helper, NULL, send_later, NULL);
  MPI_Recv(&word, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0)
    pthread_join(helper, NULL);
  else
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
}

static void long_pause(void) {
  if (rank == 0) {
    pause_for(3);
    for (int peer = 1; peer < size; ++peer) MPI_Send(&rank, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&word, 1, MPI_INT, rank == 1 ? 0 : MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Longer than anything may stand still: first a rank that is late, then one whose operation takes long inside MPI. */
static void late_for_fence(void) {
  MPI_Win window;
  MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (rank == 0) pause_for(7);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void sum_slowly(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  pause_for(7);
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void slow_operation(void) {
  MPI_Op slow;
  MPI_Win window;
  MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Op_create(sum_slowly, 1, &slow);
  int one = 1, sum = 0;
  MPI_Reduce(&one, &sum, 1, MPI_INT, slow, 0, MPI_COMM_WORLD);
  MPI_Win_fence(0, window);
  if (rank == 0 && sum != size) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Op_free(&slow);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv, is(name, "thread") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (is(name, "fence")) fence();
  if (is(name, "lock")) lock_and_flush();
  if (is(name, "flag")) shared_flag();
  if (is(name, "file")) file(argv[2]);
  if (is(name, "thread")) helper_thread();
  if (is(name, "pause")) long_pause();
  if (is(name, "late")) late_for_fence();
  if (is(name, "operation")) slow_operation();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: done\n", name);
  MPI_Finalize();
  return 0;
}
