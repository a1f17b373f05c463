// launched windows|files FILE|threads: what a launcher's line may start besides messages (tests/launchers/table.py). What
// is printed depends on nobody's speed; the exit code is 1 where something is not as it must be.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// With MPICH 4.0 windows of MPI_Win_allocate of 4,008 bytes take each other's data, bare as well.
enum { kCount = 1000, kThreads = 3, kRounds = 20, kWindow = 8192 };
static int rank, ranks;
static _Atomic int wrong;

static void expect(int held, const char* what) {
  if (held) return;
  wrong = 1;
  printf("rank %d: %s is wrong\n", rank, what);
}

static MPI_Group group_of(int member) {
  MPI_Group all, one;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &member, &one);
  MPI_Group_free(&all);
  return one;
}

// Fences, groups and locks; put, get and the atomic forms.
static void windows(void) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, one = 1;
  int *memory, mine[kCount], got[kCount], before = 0;
  MPI_Win window;
  MPI_Win_allocate(kWindow, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memset(memory, 0, kWindow);
  for (int i = 0; i < kCount; ++i) mine[i] = rank;
  MPI_Win_fence(0, window);
  MPI_Put(mine, kCount, MPI_INT, right, 0, kCount, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(memory[0] == left && memory[kCount - 1] == left, "put");

  MPI_Group origins = group_of(left), targets = group_of(right);
  MPI_Win_post(origins, 0, window);
  MPI_Win_start(targets, 0, window);
  MPI_Get(got, kCount, MPI_INT, right, 0, kCount, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  expect(got[0] == rank && got[kCount - 1] == rank, "get");
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);

  MPI_Win_lock_all(0, window);
  for (int r = 0; r < ranks; ++r) {
    MPI_Accumulate(&one, 1, MPI_INT, r, kCount, 1, MPI_INT, MPI_SUM, window);
    MPI_Fetch_and_op(&one, &before, MPI_INT, r, kCount + 1, MPI_SUM, window);
    MPI_Win_flush(r, window);
    expect(before >= 0 && before < ranks, "fetch and op");
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  expect(memory[kCount] == ranks && memory[kCount + 1] == ranks, "sum");
  MPI_Win_unlock(rank, window);
  printf("rank %d of %d: %d updates\n", rank, ranks, memory[kCount] + memory[kCount + 1]);
  MPI_Win_free(&window);
}

// Collective, individual, shared and non-blocking accesses.
static void files(const char* name) {
  int mine[kCount], got[kCount] = {0};
  const MPI_Offset mine_at = (MPI_Offset)rank * (MPI_Offset)sizeof mine;
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  MPI_Offset size = 0;
  for (int i = 0; i < kCount; ++i) mine[i] = rank * kCount + i;
  expect(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &file) == MPI_SUCCESS,
         "opening");
  MPI_File_write_at_all(file, mine_at, mine, kCount, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % ranks;
  MPI_File_iread_at(file, (MPI_Offset)next * (MPI_Offset)sizeof mine, got, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  expect(got[kCount - 1] == next * kCount + kCount - 1, "what was read");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_size(file, &size);
  expect(size == (MPI_Offset)ranks * (MPI_Offset)sizeof mine, "size");
  printf("rank %d of %d: %lld bytes\n", rank, ranks, (long long)size);
  MPI_File_close(&file);
}

// Each thread exchanges with the same one of the next rank.
static void* exchange(void* argument) {
  const int tag = *(int*)argument, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  for (int round = 0; round < kRounds; ++round) {
    int mine = rank * kThreads + tag, got = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, tag, &got, 1, MPI_INT, left, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect(got == left * kThreads + tag, "what a thread received");
  }
  return NULL;
}
static void threads(void) {
  pthread_t thread[kThreads];
  int tag[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    tag[i] = i;
    pthread_create(&thread[i], NULL, exchange, &tag[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  printf("rank %d of %d: %d threads\n", rank, ranks, kThreads);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(what, "windows") == 0) windows();
  if (strcmp(what, "files") == 0 && argc > 2) files(argv[2]);
  if (strcmp(what, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) threads();
  MPI_Finalize();
  return wrong;
}
