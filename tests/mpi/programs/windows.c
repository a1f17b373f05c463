// windows SCENARIO [KIND]: one-sided communication whose times follow from a network of 1 ms and 1 MB/s. Each rank says how
// long its calls took, in microseconds of MPI_Wtime: "RANK CALL MICROSECONDS". Ends with 1 if what was moved is wrong.
// KIND of the window: allocated (the default), created, shared or dynamic.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/programs/timed.h"

enum { kBytes = 1000, kMostRanks = 16 };
static char* memory;
static MPI_Win window;
static MPI_Aint start_of[kMostRanks];  // of a dynamic window, by rank
static int unit = 1;

static MPI_Aint at(int target, int displacement) {
  return start_of[target] == 0 ? displacement : start_of[target] + displacement * unit;
}

static char mine[kBytes], got[kBytes];

static void fence(void) {
  TIMED("fence", MPI_Win_fence(0, window));
  memset(mine, 'a' + rank, kBytes);
  if (rank == 0) TIMED("put", MPI_Put(mine, kBytes, MPI_CHAR, 1, at(1, 0), kBytes, MPI_CHAR, window));
  TIMED("fence", MPI_Win_fence(0, window));
  if (rank == 1) expect(memory[kBytes - 1] == 'a', "put");
  if (rank == 0) TIMED("get", MPI_Get(got, kBytes, MPI_CHAR, 1, at(1, 0), kBytes, MPI_CHAR, window));
  TIMED("fence", MPI_Win_fence(0, window));
  if (rank == 0) expect(got[0] == 'a', "get");
}

static MPI_Group other(void) {
  MPI_Group all, one;
  const int them = 1 - rank;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &them, &one);
  MPI_Group_free(&all);
  return one;
}

static void groups(void) {
  MPI_Group group = other();
  int ended = 0, looks = 0;
  if (rank == 1) {
    TIMED("post", MPI_Win_post(group, 0, window));
    TIMED("wait", MPI_Win_wait(window));
    expect(memory[0] == 'x', "put");
    MPI_Win_post(group, 0, window);
    for (; !ended; ++looks) MPI_Win_test(window, &ended);
    printf("%d looks %d\n", rank, looks);
  } else {
    memset(mine, 'x', kBytes);
    TIMED("start", MPI_Win_start(group, 0, window));
    TIMED("put", MPI_Put(mine, kBytes, MPI_CHAR, 1, at(1, 0), kBytes, MPI_CHAR, window));
    TIMED("complete", MPI_Win_complete(window));
    MPI_Win_start(group, 0, window);
    MPI_Win_complete(window);
  }
  MPI_Group_free(&group);
}

// All others add to a counter of rank 0's without atomic operations: the locks must keep them apart, and say what they find.
static void locks(void) {
  int value;
  if (rank == 0) return;
  for (int round = 0; round < 5; ++round) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&value, 1, MPI_INT, 0, at(0, 0), 1, MPI_INT, window);
    MPI_Win_flush(0, window);
    printf("%d found %d\n", rank, value++);
    MPI_Put(&value, 1, MPI_INT, 0, at(0, 0), 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
  }
}

static void turns(void) {
  if (rank == 0) return;
  TIMED("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
  TIMED("put", MPI_Put(mine, kBytes, MPI_CHAR, 0, at(0, 0), kBytes, MPI_CHAR, window));
  TIMED("unlock", MPI_Win_unlock(0, window));
}

static void requests(void) {
  MPI_Request request[2];
  MPI_Status statuses[2];
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Rput(mine, kBytes, MPI_CHAR, 1, at(1, 0), kBytes, MPI_CHAR, window, &request[0]);
    MPI_Rget(got, kBytes, MPI_CHAR, 1, at(1, 0), kBytes, MPI_CHAR, window, &request[1]);
    TIMED("waitall", MPI_Waitall(2, request, statuses));
    TIMED("flush", MPI_Win_flush(1, window));
    MPI_Rput(mine, kBytes, MPI_CHAR, MPI_PROC_NULL, 0, kBytes, MPI_CHAR, window, &request[0]);
    TIMED("nobody", MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  }
  MPI_Win_unlock_all(window);
}

static void fetch(void) {
  const int one = 1, minus = -1;
  int before = 0, sum = 0, swapped = 0, vector[2] = {3, 4}, had[2];
  MPI_Win_lock_all(0, window);
  TIMED("fetch", MPI_Fetch_and_op(&one, &before, MPI_INT, 0, at(0, 0), MPI_SUM, window));
  TIMED("flush", MPI_Win_flush(0, window));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    TIMED("read", MPI_Fetch_and_op(NULL, &sum, MPI_INT, 1, at(1, 0), MPI_NO_OP, window));
    TIMED("flush", MPI_Win_flush(1, window));
    MPI_Compare_and_swap(&minus, &sum, &swapped, MPI_INT, 1, at(1, 0), window);
    TIMED("flush", MPI_Win_flush(1, window));
    expect(swapped == 0, "compare and swap");
    MPI_Get_accumulate(vector, 2, MPI_INT, had, 2, MPI_INT, 1, at(1, 1), 2, MPI_INT, MPI_SUM, window);
    MPI_Accumulate(vector, 2, MPI_INT, 1, at(1, 1), 2, MPI_INT, MPI_SUM, window);
    MPI_Win_flush(1, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  if (rank == 0) expect(*(int*)memory == ranks, "sum");
  if (rank == 1)
    expect(*(int*)memory == -1 && ((int*)memory)[1] == 6 && ((int*)memory)[2] == 8, "accumulated");
  MPI_Win_unlock(rank, window);
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

// What MPI refuses takes no part in anything.
static void errors(void) {
  int value = 0;
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  printf("%d epoch %d\n", rank, class_of(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window)));
  printf("%d unlock %d\n", rank, class_of(MPI_Win_unlock(0, window)));
  printf("%d flush %d\n", rank, class_of(MPI_Win_flush(0, window)));
  printf("%d complete %d\n", rank, class_of(MPI_Win_complete(window)));
  printf("%d rank %d\n", rank, class_of(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, window)));
  printf("%d kind %d\n", rank, class_of(MPI_Win_lock(12345, 0, 0, window)));
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  printf("%d target %d\n", rank, class_of(MPI_Put(&value, 1, MPI_INT, ranks, 0, 1, MPI_INT, window)));
  printf("%d count %d\n", rank, class_of(MPI_Get(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, window)));
  printf("%d type %d\n", rank, class_of(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, window)));
  printf("%d free %d\n", rank, class_of(MPI_Win_fence(0, window)));
  MPI_Win_unlock(0, window);
  printf("%d null %d\n", rank, class_of(MPI_Win_fence(0, MPI_WIN_NULL)));
}

static void make_window(const char* kind) {
  const MPI_Aint size = 4 * kBytes;
  const MPI_Comm all = MPI_COMM_WORLD;
  if (strcmp(kind, "allocated") == 0)
    MPI_Win_allocate(size, unit, MPI_INFO_NULL, all, &memory, &window);
  else if (strcmp(kind, "shared") == 0)
    MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, all, &memory, &window);
  else
    MPI_Alloc_mem(size, MPI_INFO_NULL, &memory);
  if (strcmp(kind, "created") == 0) MPI_Win_create(memory, size, unit, MPI_INFO_NULL, all, &window);
  MPI_Aint mine_at = 0;
  if (strcmp(kind, "dynamic") == 0) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, all, &window);
    MPI_Win_attach(window, memory, size);
    MPI_Get_address(memory, &mine_at);
  }
  MPI_Allgather(&mine_at, 1, MPI_AINT, start_of, 1, MPI_AINT, all);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } scenarios[] = {{"fence", fence},       {"groups", groups}, {"locks", locks},  {"turns", turns},
                   {"requests", requests}, {"fetch", fetch},   {"errors", errors}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unit = strcmp(argv[1], "fetch") == 0 ? 4 : 1;
  make_window(argc > 2 ? argv[2] : "allocated");
  memset(memory, 0, 4 * kBytes);
  MPI_Barrier(MPI_COMM_WORLD);
  for (unsigned i = 0; i < sizeof scenarios / sizeof *scenarios; ++i)
    if (strcmp(argv[1], scenarios[i].name) == 0) scenarios[i].run();
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "locks") == 0 && rank == 0)
    expect(*(int*)memory == 5 * (ranks - 1), "a lock is held twice");
  MPI_Win_free(&window);
  MPI_Finalize();
  return wrong;
}
