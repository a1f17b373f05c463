// Parallel regions of OpenMP: what a team computes, and members that call MPI.
//
//   teams work THREADS ROUNDS US   each member computes US us, the member t US t more under "uneven"; an Allreduce after it
//   teams uneven THREADS ROUNDS US
//   teams barriers THREADS ROUNDS US  two parts that differ in opposite ways, with a barrier between them
//   teams nested THREADS ROUNDS US  each of two members forks a team of its own
//   teams loop THREADS ROUNDS US    parallel loops, dynamic and static, one iteration a member
//   teams tasks THREADS ROUNDS US   one member makes a task for each; the others find them while they wait
//   teams calls THREADS ROUNDS      each member receives from its like on the rank before, and sends to that on the next
//   teams any THREADS ROUNDS        rank 0's members receive from any source; the others' send
//   teams sometimes THREADS ROUNDS  members call MPI in every third region
//   teams stuck THREADS             a member waits for a message that nobody sends
//   teams random THREADS ROUNDS SEED  members do what random numbers say: barriers, loops, critical sections, messages, teams
//   teams shared THREADS ROUNDS SEED  loops with a dynamic schedule, sections and tasks, at random; prints how long they take on cores
//                                   of their own, each piece taken by who is free first
//   teams in_order THREADS ROUNDS US  tasks that depend on each other: a chain
//   teams nests_late THREADS ROUNDS US  members that have not called MPI for some regions fork teams of their own, and then call it
//   teams task_calls THREADS ROUNDS tasks that call MPI, while those who made none wait
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, threads, rounds;
static double microseconds;

/// Processor time of the calling thread, whoever else has its core meanwhile.
static void compute(double us) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const double end = t.tv_sec * 1e6 + t.tv_nsec * 1e-3 + us;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  while (t.tv_sec * 1e6 + t.tv_nsec * 1e-3 < end);
}

static void all_agree(void) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != ranks) MPI_Abort(MPI_COMM_WORLD, 3);
}

static void exchange(int tag) {
  int mine = rank * 1000 + tag, theirs = -1;
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(&mine, 1, MPI_INT, next, tag, &theirs, 1, MPI_INT, before, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (theirs != before * 1000 + tag) MPI_Abort(MPI_COMM_WORLD, 4);
}

static void work(int uneven) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(threads)
    compute(microseconds * (uneven ? 1 + omp_get_thread_num() : 1));
    all_agree();
  }
}

static void barriers(void) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(threads)
    {
      compute(microseconds * (1 + omp_get_thread_num()));
#pragma omp barrier
      compute(microseconds * (omp_get_num_threads() - omp_get_thread_num()));
#pragma omp for schedule(static, 1)
      for (int k = 0; k < omp_get_num_threads(); ++k) compute(0);
    }
    all_agree();
  }
}

static void nested(void) {
  omp_set_max_active_levels(2);
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(2)
    {
      compute(microseconds);
#pragma omp parallel num_threads(threads)
      compute(microseconds);
    }
    all_agree();
  }
}

static void loop(void) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int k = 0; k < threads; ++k) compute(microseconds);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < threads; ++k) compute(microseconds);
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
      compute(microseconds);
#pragma omp section
      compute(microseconds);
    }
    all_agree();
  }
}

static void tasks(void) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(threads)
#pragma omp master
    for (int k = 0; k < threads; ++k) {
#pragma omp task
      compute(microseconds);
    }
    all_agree();
  }
}

static void calls(int every) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(threads)
    if (i % every == 0) exchange(omp_get_thread_num());
  }
}

static void any(void) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(threads)
    {
      const int tag = omp_get_thread_num();
      int value = rank;
      for (int k = 1; k < ranks; ++k) {
        if (rank == 0)
          MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == k)
          MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
      }
    }
    if (rank != 0) compute(10);
  }
}

static void stuck(void) {
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() > 0) exchange(omp_get_thread_num());
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == 1)
    MPI_Recv(NULL, 0, MPI_INT, (rank + 1) % ranks, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void task_calls(void) {
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(threads)
#pragma omp single nowait
    for (int k = 0; k < threads; ++k) {
#pragma omp task firstprivate(k)
      exchange(k);
    }
    all_agree();
  }
}

/// The same on all ranks.
static unsigned hashed(unsigned seed, int a, int b, int c) {
  unsigned h = seed * 2654435761u + (unsigned)a * 40503u + (unsigned)b * 9973u + (unsigned)c * 101u + 1;
  for (int i = 0; i < 3; ++i) h = (h ^ (h >> 15)) * 2246822519u;
  return h ^ (h >> 13);
}

/// Members call MPI for some regions, and for some they do not: idle ones of which nothing is told.
static int calls_mpi(unsigned seed, int region) {
  return hashed(seed, region / 6, 0, 11) % 2;
}

/// A part of a region's member: which things it does, and with whom, depends on the seed.
static void member(unsigned seed, int region, int mine) {
  static _Thread_local double first;
  const int steps = (int)(hashed(seed, region, 0, 77) % 4);
  for (int s = 0; s < steps; ++s) {
    switch (hashed(seed, region, s, 1) % 8) {  // what all do
      case 0: {
#pragma omp barrier
        break;
      }
      case 1: {
#pragma omp single
        compute(5);
        break;
      }
      case 2: {
#pragma omp for schedule(dynamic, 1)
        for (int k = 0; k < 5; ++k) compute(2);
        break;
      }
      case 3: {
#pragma omp critical
        compute(3);
        break;
      }
      case 4: {
#pragma omp single
        for (int k = 0; k < 5; ++k) {
#pragma omp task depend(inout : first)
          compute(first += 1);
        }
        break;
      }
      case 5: {
#pragma omp for schedule(guided) nowait
        for (int k = 0; k < 7; ++k) {
#pragma omp task firstprivate(k)
          compute(k);
        }
        break;
      }
      default:
        break;
    }
    const unsigned own = hashed(seed, region, s, 100 + mine);  // and each for itself
    if (own % 3 == 0 && calls_mpi(seed, region)) exchange(mine * 10 + s);
    if (own % 5 == 1) compute(own % 40);
  }
}

static void random_regions(void) {
  const unsigned seed = (unsigned)microseconds;
  omp_set_max_active_levels(2);
  for (int i = 0; i < rounds; ++i) {
    const int members = 1 + (int)(hashed(seed, i, 0, 5) % (unsigned)threads);
    const int inner = 1 + (int)(hashed(seed, i, 0, 6) % 3), nests = hashed(seed, i, 0, 7) % 5 == 0;
#pragma omp parallel num_threads(members)
    {
      const int mine = omp_get_thread_num();
      member(seed, i, mine);
      if (nests) {
#pragma omp parallel num_threads(inner)
        if (hashed(seed, i, mine, 8 + omp_get_thread_num()) % 2 && calls_mpi(seed, i))
          exchange(100 + 10 * mine + omp_get_thread_num());
      }
    }
    if (hashed(seed, i, 0, 9) % 4 == 0) all_agree();
  }
}

enum { kMostThreads = 64, kMostPieces = 48 };

/// What a member does before the pieces are there, and each of them, in microseconds.
static double own_us[kMostThreads], piece_us[kMostPieces];

/// When the last of them ends, if who is free first takes the next `chunk` of them.
static double taken_in_turn(int pieces, int chunk) {
  double free_at[kMostThreads], end = 0;
  for (int t = 0; t < threads; ++t) free_at[t] = own_us[t];
  for (int k = 0; k < pieces; k += chunk) {
    int first = 0;
    for (int t = 1; t < threads; ++t)
      if (free_at[t] < free_at[first]) first = t;
    for (int i = k; i < k + chunk && i < pieces; ++i) free_at[first] += piece_us[i];
  }
  for (int t = 0; t < threads; ++t)
    if (free_at[t] > end) end = free_at[t];
  return end;
}

static void piece(int k) {
  compute(piece_us[k]);
}

static void tree(int from, int to) {
  if (to - from == 1) return piece(from);
  const int middle = (from + to) / 2;
#pragma omp task
  tree(from, middle);
#pragma omp task
  tree(middle, to);
#pragma omp taskwait
}

static void shared(void) {
  const unsigned seed = (unsigned)microseconds;
  double truth_us = 0;
  enum { kDynamic, kRuntime, kUnsigned, kSections, kTasks, kPhases, kTaskloop, kTree, kKinds };
  for (int i = 0; i < rounds; ++i) {
    const int kind = (int)(hashed(seed, i, 0, 1) % kKinds), chunk = 1 + (int)(hashed(seed, i, 0, 3) % 3);
    int pieces = 1 + (int)(hashed(seed, i, 0, 2) % kMostPieces);
    const int in_tasks = kind == kTasks || kind == kPhases || kind == kTaskloop || kind == kTree;
    for (int k = 0; k < kMostPieces; ++k) piece_us[k] = 20 + hashed(seed, i, k, 4) % 200;
    for (int t = 0; t < threads; ++t)
      own_us[t] = in_tasks || hashed(seed, i, 0, 5) % 2 ? 0 : hashed(seed, i, t, 6) % 2000;
    if (kind == kSections) pieces = 3;
    if (kind == kTaskloop || kind == kTree) pieces = 4 * threads;
    if (kind == kPhases) {
      for (int k = 0; k < pieces; k += chunk) {
        double longest = 0;
        for (int j = k; j < k + chunk && j < pieces; ++j)
          piece_us[j] = piece_us[k], longest = piece_us[k] * ((j - k) / threads + 1);
        truth_us += longest;
      }
    } else {
      truth_us += taken_in_turn(pieces, in_tasks || kind == kSections ? 1 : chunk);
    }
    omp_set_schedule(omp_sched_dynamic, chunk);
#pragma omp parallel num_threads(threads)
    {
      compute(own_us[omp_get_thread_num()]);
      if (kind == kDynamic) {
#pragma omp for schedule(dynamic, chunk) nowait
        for (int k = 0; k < pieces; ++k) piece(k);
      } else if (kind == kRuntime) {
#pragma omp for schedule(runtime)
        for (int k = 0; k < pieces; ++k) piece(k);
      } else if (kind == kUnsigned) {
#pragma omp for schedule(monotonic : dynamic, chunk)
        for (unsigned long long k = 0; k < (unsigned long long)pieces; ++k) piece((int)k);
      } else if (kind == kSections) {
#pragma omp sections
        {
#pragma omp section
          piece(0);
#pragma omp section
          piece(1);
#pragma omp section
          piece(2);
        }
      } else {
#pragma omp single
        {
          if (kind == kTaskloop) {
#pragma omp taskloop grainsize(1)
            for (int k = 0; k < pieces; ++k) piece(k);
          } else if (kind == kTree) {
            tree(0, pieces);
          } else {
            for (int k = 0; k < pieces; ++k) {
#pragma omp task firstprivate(k)
              piece(k);
              if (kind == kPhases && k % chunk == chunk - 1) {
#pragma omp taskwait
              }
            }
          }
        }
      }
    }
    if (hashed(seed, i, 0, 7) % 4 == 0) all_agree();
  }
  if (rank == 0) printf("truth: %.0f us\n", truth_us);
}

static void nests_late(void) {
  work(0);
  nested();
  calls(1);
}

static void in_order(void) {
  for (int i = 0; i < rounds; ++i) {
    double chain = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int k = 0; k < threads; ++k) {
#pragma omp task depend(inout : chain)
      {
        compute(microseconds);
        chain += 1;
      }
    }
    all_agree();
  }
}

static void even(void) {
  work(0);
}
static void uneven(void) {
  work(1);
}
static void always(void) {
  calls(1);
}
static void sometimes(void) {
  calls(3);
}

static const struct {
  const char* name;
  void (*run)(void);
  int several;  // members call MPI
} kinds[] = {{"work", even, 0},
             {"uneven", uneven, 0},
             {"barriers", barriers, 0},
             {"nested", nested, 0},
             {"loop", loop, 0},
             {"tasks", tasks, 0},
             {"calls", always, 1},
             {"any", any, 1},
             {"sometimes", sometimes, 1},
             {"random", random_regions, 1},
             {"stuck", stuck, 1},
             {"task_calls", task_calls, 1},
             {"shared", shared, 0},
             {"in_order", in_order, 0},
             {"nests_late", nests_late, 1}};

int main(int argc, char** argv) {
  int provided;
  size_t kind = 0;
  while (kind < sizeof kinds / sizeof *kinds && (argc < 2 || strcmp(argv[1], kinds[kind].name))) ++kind;
  if (kind == sizeof kinds / sizeof *kinds) return 2;
  threads = argc > 2 ? atoi(argv[2]) : 2;
  rounds = argc > 3 ? atoi(argv[3]) : 10;
  microseconds = argc > 4 ? atof(argv[4]) : 100;
  MPI_Init_thread(&argc, &argv, kinds[kind].several ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  kinds[kind].run();
  printf("rank %d done\n", rank);
  MPI_Finalize();
  return 0;
}
