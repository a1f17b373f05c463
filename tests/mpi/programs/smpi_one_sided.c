// One-sided communication for the comparison with SMPI: smpi_one_sided FORM PATTERN BYTES, plain MPI, so that smpicc builds it
// as well. Each rank prints its start, and when it has ended: "RANK START END", in seconds of MPI_Wtime. FORM is
//   calls      the one-sided calls
//   equations  messages that do what docs/one_sided.md says of them: legs, acknowledgements, notices, locks that are asked for
//   smpis      messages that do what SMPI's calls do: no acknowledgement, no request, fences of two barriers
// Messages find their receives posted, so that each is one flow from its start on, but for SMPI's notices. For two ranks or more.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostRanks = 64, kAlign = 4000000, kPause = 20000 };
enum Tag { kOut, kBack, kPost, kComplete, kAsk, kGrant, kRelease, kTags };
static int me, n, size;
static char *mine, *theirs, *memory;
static MPI_Win window;
static MPI_Comm all;
static enum { kCalls, kEquations, kSmpis } form;
static MPI_Request coming[kTags][kMostRanks];  // a receive of each message that may come
static MPI_Request sent;
static double ended;  // before it has done everything for others

static void send(int to, enum Tag tag, int bytes) {
  MPI_Send(mine, bytes, MPI_BYTE, to, (int)tag, all);
}
static void receive(int from, enum Tag tag) {
  if (coming[tag][from] == MPI_REQUEST_NULL)
    MPI_Recv(theirs, size, MPI_BYTE, from, (int)tag, all, MPI_STATUS_IGNORE);
  else
    MPI_Wait(&coming[tag][from], MPI_STATUS_IGNORE);
}

// In messages: rank 0's transfer of `out` bytes to rank 1 and `back` from there.
static void legs(int out, int back) {
  if (me == 0) {
    MPI_Isend(mine, out, MPI_BYTE, 1, kOut, all, &sent);
    receive(1, kBack);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  } else if (me == 1) {
    receive(0, kOut);
    send(0, kBack, back);
  }
}
// One that ends when it is there.
static void leg(int bytes) {
  if (me == 0) MPI_Ssend(mine, bytes, MPI_BYTE, 1, kOut, all);
}

static void put(void) {
  if (form == kEquations) return legs(size, 0);
  if (form == kSmpis) return leg(size);
  if (me != 0) return;
  MPI_Put(mine, size, MPI_BYTE, 1, 0, size, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}
static void get(void) {
  if (form == kEquations) return legs(0, size);
  if (form == kSmpis) return leg(size);
  if (me != 0) return;
  MPI_Get(theirs, size, MPI_BYTE, 1, 0, size, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}
static void accumulate(void) {
  if (form == kEquations) return legs(size, 0);
  if (form == kSmpis) return leg(size);
  if (me != 0) return;
  MPI_Accumulate(mine, size / 8, MPI_DOUBLE, 1, 0, size / 8, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_flush(1, window);
}
static void get_accumulate(void) {
  if (form != kCalls) return legs(size, size);
  if (me != 0) return;
  MPI_Get_accumulate(mine, size / 8, MPI_DOUBLE, theirs, size / 8, MPI_DOUBLE, 1, 0, size / 8, MPI_DOUBLE,
                     MPI_SUM, window);
  MPI_Win_flush(1, window);
}
static void read_atomically(void) {
  if (form == kEquations) return legs(0, size);
  if (form == kSmpis) return leg(size);
  if (me != 0) return;
  MPI_Get_accumulate(mine, size / 8, MPI_DOUBLE, theirs, size / 8, MPI_DOUBLE, 1, 0, size / 8, MPI_DOUBLE,
                     MPI_NO_OP, window);
  MPI_Win_flush(1, window);
}
static void fetch_and_op(void) {
  if (form != kCalls) return legs(8, 8);
  if (me != 0) return;
  MPI_Fetch_and_op(mine, theirs, MPI_DOUBLE, 1, 0, MPI_SUM, window);
  MPI_Win_flush(1, window);
}
static void compare_and_swap(void) {  // succeeds: all is 0
  const long compare = 0;
  if (form == kEquations) return legs(16, 8);
  if (form == kSmpis) return legs(8, 8);
  if (me != 0) return;
  MPI_Compare_and_swap(mine, &compare, theirs, MPI_LONG, 1, 0, window);
  MPI_Win_flush(1, window);
}
static void rput(void) {
  MPI_Request request;
  if (form == kEquations && size >= 65536) return leg(size);
  if (form != kCalls || me != 0) return;  // sent from a copy
  MPI_Rput(mine, size, MPI_BYTE, 1, 0, size, MPI_BYTE, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void rget(void) {
  MPI_Request request;
  if (form == kEquations) return legs(0, size);
  if (form == kSmpis) return leg(size);
  if (me != 0) return;
  MPI_Rget(theirs, size, MPI_BYTE, 1, 0, size, MPI_BYTE, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// In messages: transfers from `origins` ranks and to `targets` ranks, listed, each with its acknowledgement or without. The rank's
// own part has ended when its own are; it goes on to acknowledge others'.
static void exchange(int origins, const int* from, int targets, const int* to) {
  MPI_Request in[2 * kMostRanks], out[kMostRanks];
  MPI_Request* back = in + origins;
  int which, left = targets;
  for (int i = 0; i < origins; ++i) in[i] = coming[kOut][from[i]];
  for (int i = 0; i < targets; ++i) {
    back[i] = coming[kBack][to[i]];
    MPI_Issend(mine, size, MPI_BYTE, to[i], kOut, all, &out[i]);
  }
  for (int i = 0; form == kEquations && i < origins + targets; ++i) {
    MPI_Waitany(origins + targets, in, &which, MPI_STATUS_IGNORE);
    if (which < origins)
      send(from[which], kBack, 0);
    else if (--left == 0)
      ended = MPI_Wtime();
  }
  MPI_Waitall(targets, out, MPI_STATUSES_IGNORE);
}
static int others(int* list) {
  int found = 0;
  for (int r = 0; r < n; ++r)
    if (r != me) list[found++] = r;
  return found;
}

static void to_all(void) {
  int list[kMostRanks], zero = 0;
  const int count = me == 0 ? others(list) : 0;
  if (form != kCalls) return exchange(me != 0, &zero, count, list);
  for (int i = 0; i < count; ++i) MPI_Put(mine, size, MPI_BYTE, list[i], 0, size, MPI_BYTE, window);
  if (me == 0) MPI_Win_flush_all(window);
}
static void from_all(void) {
  int list[kMostRanks], zero = 0;
  const int count = me == 0 ? others(list) : 0;
  if (form != kCalls) return exchange(count, list, me != 0, &zero);
  if (me == 0) return;
  MPI_Put(mine, size, MPI_BYTE, 0, 0, size, MPI_BYTE, window);
  MPI_Win_flush(0, window);
}
static void ring(void) {
  const int left = (me + n - 1) % n, right = (me + 1) % n;
  if (form != kCalls) return exchange(1, &left, 1, &right);
  MPI_Put(mine, size, MPI_BYTE, right, 0, size, MPI_BYTE, window);
  MPI_Win_flush(right, window);
}

static void fence(void) {  // that begins
  if (form == kCalls)
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  else
    MPI_Barrier(all);
}
static void fences(void) {
  const int left = (me + n - 1) % n, right = (me + 1) % n;
  fence();
  if (form == kEquations) {
    exchange(1, &left, 1, &right);
    ended = 0;
    MPI_Barrier(all);
  } else if (form == kSmpis) {
    MPI_Issend(mine, size, MPI_BYTE, right, kOut, all, &sent);
    MPI_Barrier(all);
    receive(left, kOut);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Barrier(all);
  } else {
    MPI_Put(mine, size, MPI_BYTE, right, 0, size, MPI_BYTE, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  }
}

static MPI_Group group_of(int rank) {
  MPI_Group everybody, one;
  MPI_Comm_group(all, &everybody);
  MPI_Group_incl(everybody, 1, &rank, &one);
  MPI_Group_free(&everybody);
  return one;
}
// Rank 1 posts, rank 0 starts, puts and completes, rank 1 waits.
static void groups(void) {
  if (me > 1) return;
  MPI_Group other = group_of(1 - me);
  if (form == kCalls && me == 0) {
    MPI_Win_start(other, 0, window);
    MPI_Put(mine, size, MPI_BYTE, 1, 0, size, MPI_BYTE, window);
    MPI_Win_complete(window);
  } else if (form == kCalls) {
    MPI_Win_post(other, 0, window);
    MPI_Win_wait(window);
  } else if (me == 0) {
    receive(1, kPost);
    MPI_Isend(mine, size, MPI_BYTE, 1, kOut, all, &sent);
    if (form == kEquations) receive(1, kBack);
    send(1, kComplete, 0);
  } else {
    send(0, kPost, 0);
    if (form == kSmpis) receive(0, kComplete);
    receive(0, kOut);
    if (form == kEquations) send(0, kBack, 0);
    if (form == kEquations) receive(0, kComplete);
  }
  if (form == kEquations && me == 0) MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Group_free(&other);
}
// The same round a ring: each is origin and target. SMPI's calls wait in MPI_Win_complete for what has come into their own
// window by then, too, which is nothing that messages could show.
static void groups_ring(void) {
  const int left = (me + n - 1) % n, right = (me + 1) % n;
  if (form == kCalls) {
    MPI_Group origins = group_of(left), targets = group_of(right);
    MPI_Win_post(origins, 0, window);
    MPI_Win_start(targets, 0, window);
    MPI_Put(mine, size, MPI_BYTE, right, 0, size, MPI_BYTE, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
  } else if (form == kEquations) {
    MPI_Request in[2] = {coming[kOut][left], coming[kBack][right]};
    send(left, kPost, 0);
    receive(right, kPost);
    MPI_Isend(mine, size, MPI_BYTE, right, kOut, all, &sent);
    for (int i = 0, which; i < 2; ++i) {
      MPI_Waitany(2, in, &which, MPI_STATUS_IGNORE);
      send(which == 0 ? left : right, which == 0 ? kBack : kComplete, 0);
    }
    receive(left, kComplete);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

// In messages: what who locks `target`, puts and unlocks, does; and what the target's side does for it.
static void put_locked(int target) {
  send(target, kAsk, 0);
  receive(target, kGrant);
  MPI_Isend(mine, size, MPI_BYTE, target, kOut, all, &sent);
  receive(target, kBack);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  send(target, kRelease, 0);
}
static void serve_locked(int origin) {
  send(origin, kGrant, 0);
  receive(origin, kOut);
  send(origin, kBack, 0);
  receive(origin, kRelease);
}
static void put_in_lock(int target) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Put(mine, size, MPI_BYTE, target, 0, size, MPI_BYTE, window);
  MPI_Win_unlock(target, window);
}
static void lock(void) {
  if (form == kSmpis) return leg(size);
  if (form == kCalls && me == 0) put_in_lock(1);
  if (form == kEquations && me == 0) put_locked(1);
  if (form == kEquations && me == 1) {
    receive(0, kAsk);
    serve_locked(0);
  }
}
// Of all others, one exclusive lock after the other. SMPI's rule is none that messages could show.
static void turns(void) {
  if (form == kCalls && me != 0) put_in_lock(0);
  if (form == kEquations && me != 0) put_locked(0);
  for (int turn = 1, which; form == kEquations && me == 0 && turn < n; ++turn) {
    MPI_Waitany(n, coming[kAsk], &which, MPI_STATUS_IGNORE);
    serve_locked(which);
  }
}
static void lock_all(void) {
  int list[kMostRanks];
  const int count = me == 0 && form == kEquations ? others(list) : 0;
  if (form == kCalls && me == 0) {
    MPI_Win_lock_all(0, window);
    MPI_Win_unlock_all(window);
  }
  for (int i = 0; i < count; ++i) send(list[i], kAsk, 0);
  for (int i = 0; i < count; ++i) receive(list[i], kGrant);
  if (form != kEquations || me == 0) return;
  receive(0, kAsk);
  send(0, kGrant, 0);
}

static const struct {
  const char* name;
  void (*run)(void);
  int passive;  // in an epoch of MPI_Win_lock_all that has begun
} kPatterns[] = {{"put", put, 1},
                 {"get", get, 1},
                 {"accumulate", accumulate, 1},
                 {"get_accumulate", get_accumulate, 1},
                 {"read_atomically", read_atomically, 1},
                 {"fetch_and_op", fetch_and_op, 1},
                 {"compare_and_swap", compare_and_swap, 1},
                 {"rput", rput, 1},
                 {"rget", rget, 1},
                 {"to_all", to_all, 1},
                 {"from_all", from_all, 1},
                 {"ring", ring, 1},
                 {"fence", fence, 0},
                 {"fences", fences, 0},
                 {"groups", groups, 0},
                 {"groups_ring", groups_ring, 0},
                 {"lock", lock, 0},
                 {"turns", turns, 0},
                 {"lock_all", lock_all, 0}};

// Until nothing is under way: SMPI simulates the pause, nplus1 is told to by a table of compute times, whose MPI_Ssend this is.
static void pause_virtually(void) {
  usleep(kPause);
  MPI_Ssend(mine, 0, MPI_BYTE, MPI_PROC_NULL, 0, all);
}
// All start together, as far as paths are equally long: some time after ranks 0 and 1, who come last and together. So one
// platform has the same starts in either simulator.
static void align(void) {
  char* large = malloc(kAlign);
  if (me == 0) MPI_Send(large, kAlign, MPI_BYTE, 1, kTags, all);
  if (me == 1) MPI_Recv(large, kAlign, MPI_BYTE, 0, kTags, all, MPI_STATUS_IGNORE);
  MPI_Barrier(all);
  for (int step = 1; step < n; step *= 2)
    MPI_Sendrecv(large, 8, MPI_BYTE, (me + step) % n, kTags, large + 8, 8, MPI_BYTE, (me + n - step) % n,
                 kTags, all, MPI_STATUS_IGNORE);
  free(large);
  pause_virtually();
}

static void post_receives(void) {
  for (int tag = 0; tag < kTags; ++tag)
    for (int r = 0; r < kMostRanks; ++r) {
      coming[tag][r] = MPI_REQUEST_NULL;
      const int late =
          form == kSmpis && (tag == kPost || tag == kComplete);  // received by the call that waits for it
      if (form == kCalls || late || r == me || r >= n) continue;
      MPI_Irecv(theirs, size + 16, MPI_BYTE, r, tag, all, &coming[tag][r]);
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  all = MPI_COMM_WORLD;
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &n);
  if (argc < 4 || n > kMostRanks) return 1;
  form = strcmp(argv[1], "calls") == 0 ? kCalls : strcmp(argv[1], "smpis") == 0 ? kSmpis : kEquations;
  size = atoi(argv[3]);
  mine = calloc(1, (size_t)size + 16);
  theirs = calloc(1, (size_t)size + 16);
  int chosen = -1;
  for (int i = 0; i < (int)(sizeof kPatterns / sizeof *kPatterns); ++i)
    if (strcmp(kPatterns[i].name, argv[2]) == 0) chosen = i;
  if (chosen < 0) return 1;
  post_receives();
  MPI_Win_allocate(size + 16, 1, MPI_INFO_NULL, all, &memory, &window);
  memset(memory, 0, (size_t)size + 16);
  if (kPatterns[chosen].passive) MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  align();
  const double start = MPI_Wtime();
  kPatterns[chosen].run();
  const double end = ended > 0 ? ended : MPI_Wtime();
  printf("%d %.12f %.12f\n", me, start, end);
  pause_virtually();
  if (kPatterns[chosen].passive) MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();  // receives that nobody needed are left
  return 0;
}
