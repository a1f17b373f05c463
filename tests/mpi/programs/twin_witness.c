/* What a copy of a rank that executes parts of the program again could spoil, and what would tell. Each stretch between two
 * calls of MPI does another of these, in turn, STEPS times each; at the end everything is counted.
 *   twin_witness STEPS SECONDS_PER_STRETCH [multiple]      multiple: by MPI_Init_thread, for threads that it does not have
 * Prints, by rank: steps, sums, counts of shared memory, lines and bytes of a file, signals, children. Exit code 3. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals, faults;
static void count_signal(int s) {
  (void)s;
  ++signals;
}
static sigjmp_buf past_fault;
static void count_fault(int s) {
  (void)s;
  ++faults;
  siglongjmp(past_fault, 1);
}

struct node {
  struct node* next;
  double value[30];
};
static struct node* list;
static double sum;
static long work_done;

static void spend(double seconds) {
  for (long i = 0; i < (long)(seconds * 3e8); ++i) sum += 1e-9 * (double)(i & 7);
  ++work_done;
}

/* Frees what is there and makes something new: a second time without the memory of the first would free it twice. */
static void renew_list(void) {
  while (list) {
    struct node* const gone = list;
    list = gone->next;
    sum += gone->value[3];
    memset(gone, 0x5a, sizeof *gone);
    free(gone);
  }
  for (int i = 0; i < 200; ++i) {
    struct node* const made = malloc(sizeof *made);
    made->value[3] = i;
    made->next = list;
    list = made;
  }
  char* const large = malloc(1 << 20);
  memset(large, 1, 1 << 20);
  sum += large[77];
  free(large);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 10;
  const double seconds = argc > 2 ? atof(argv[2]) : 1e-4;
  if (argc > 3) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  _Atomic long* const shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char* const closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FILE* const file = tmpfile();
  signal(SIGUSR1, count_signal);
  signal(SIGSEGV, count_fault);
  static long counter;
  for (int s = 0; s < steps; ++s)
    for (volatile int way = 0; way < 8; way = way + 1) {
      spend(seconds);
      switch (way) {
        case 0:
          break;
        case 1:
          renew_list();
          break;
        case 2:
          atomic_fetch_add(shared, 1);
          break;
        case 3:
          fprintf(file, "line %d\n", s);
          fflush(file);
          break;
        case 4:
          raise(SIGUSR1);
          break;
        case 5:
          if (sigsetjmp(past_fault, 1) == 0) closed[8] = 1;
          break;
        case 6:
          ++counter;
          sum += 1.0 / (double)counter;
          break;
        default:
          if (s % 8 == 0) {
            const pid_t child = fork();
            if (child == 0) _exit(7);
            int status = 0;
            if (wait(&status) != child || WEXITSTATUS(status) != 7) ++shared[1];
          }
      }
      spend(seconds / 4);
      double all = 0;
      MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      sum = all / (double)ranks;
    }
  fseek(file, 0, SEEK_END);
  char line[300];
  snprintf(line, sizeof line,
           "rank %d: %ld stretches, sum %.9e, shared %ld %ld, file %ld, signals %d, faults %d, counter %ld, "
           "other children %d\n",
           rank, work_done, sum, atomic_load(shared), atomic_load(shared + 1), ftell(file), (int)signals,
           (int)faults, counter, waitpid(-1, NULL, WNOHANG | __WALL) != -1);
  fputs(line, stdout);
  fflush(stdout);
  MPI_Finalize();
  return 3;
}
