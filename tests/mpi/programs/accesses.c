/* accesses WHAT: touches the memory of messages in one way each; two ranks. Lines that touch are marked TOUCH(name),
 * and printed are only things that do not depend on time. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kCount = 20000 };
static int rank;
static double of_module[kCount];
static volatile double sink;

static void exchange(double* to) {
  static double from[kCount];
  for (int i = 0; i < kCount; i++) from[i] = i;
  if (rank == 0)
    MPI_Send(from, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(to, kCount, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void read_one(const double* from, int at) {
  sink = from[at]; /* TOUCH(read) */
}

static void heap(void) {
  double* data = malloc(kCount * sizeof *data);
  exchange(data);
  if (rank == 1) read_one(data, 777);
  free(data);
}

static void small(void) {
  double* data = malloc(4 * sizeof *data);
  double* other = malloc(4 * sizeof *other);
  if (rank == 0)
    MPI_Send(of_module, 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(data, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; i++) other[i] = i; /* the same page, another array */
  if (rank == 1) read_one(data, 2);
  free(data);
  free(other);
}

static void module(void) {
  exchange(of_module);
  if (rank == 1) read_one(of_module, 5000);
}

static void stack(void) {
  double data[kCount];
  exchange(data);
  if (rank == 1) read_one(data, 9000);
}

static void strided(void) {
  double* matrix = calloc(100 * 100, sizeof *matrix);
  MPI_Datatype column;
  MPI_Type_vector(100, 1, 100, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  if (rank == 0)
    MPI_Send(matrix, 1, column, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(matrix + 7, 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 5; i++) matrix[i * 2300 + 8] = 1; /* gaps */
  if (rank == 1) read_one(matrix, 33 * 100 + 7);
  MPI_Type_free(&column);
  free(matrix);
}

static void race(int correct) {
  double* data = calloc(kCount, sizeof *data);
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(data, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    sink = data[3];              /* legal */
    if (!correct) data[100] = 1; /* TOUCH(write) */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data[100] = 2;
  } else {
    MPI_Irecv(data, kCount, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
    if (!correct) read_one(data, 200);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("%g\n", data[3]);
  }
  free(data);
}

static sigjmp_buf back;
static char* own_stack;
static volatile int handled, on_own_stack;

static void handler(int signal, siginfo_t* info, void* context) {
  char here;
  (void)signal, (void)info, (void)context;
  handled++;
  on_own_stack = own_stack != NULL && &here >= own_stack && &here < own_stack + 65536;
  siglongjmp(back, 1);
}

static void own_handler(int with_stack) {
  double* data = malloc(kCount * sizeof *data);
  struct sigaction action = {0}, old;
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | (with_stack ? SA_ONSTACK : 0);
  if (with_stack) {
    own_stack = malloc(65536);
    stack_t stack = {own_stack, 0, 65536};
    sigaltstack(&stack, NULL);
  }
  sigaction(SIGSEGV, &action, NULL);
  char* guard = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 3; i++) {
    exchange(data);
    if (sigsetjmp(back, 1) == 0) *(volatile char*)guard = 1; /* its own guard page */
    if (rank == 1) read_one(data, 12);
  }
  sigaction(SIGSEGV, NULL, &old);
  printf("handled %d, on its stack %d, kept %d\n", handled, on_own_stack, old.sa_sigaction == handler);
  free(data);
}

static void* touch_in_a_thread(void* data) {
  read_one(data, 4321);
  return NULL;
}

static void threads(void) {
  double* data = malloc(kCount * sizeof *data);
  exchange(data);
  if (rank == 1) {
    pthread_t thread;
    pthread_create(&thread, NULL, touch_in_a_thread, data);
    pthread_join(thread, NULL);
  }
  free(data);
}

static void children(void) {
  double* data = malloc(kCount * sizeof *data);
  exchange(data);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const ssize_t n = write(STDOUT_FILENO, data, 0);
    _exit(n == 0 && (rank == 0 || data[10] == 10) ? 7 : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  if (rank == 1) read_one(data, 55);
  free(data);
}

static void system_calls(void) {
  double* data = malloc(kCount * sizeof *data);
  int ends[2];
  if (pipe(ends) != 0) abort();
  exchange(data);
  if (rank == 1) {
    const double one = 5;
    if (write(ends[1], &one, sizeof one) != sizeof one) abort();
    const ssize_t n = read(ends[0], data + 40, sizeof one); /* TOUCH(system) */
    printf("read %zd, %g\n", n, data[40]);
  }
  close(ends[0]);
  close(ends[1]);
  free(data);
}

static void freed(void) {
  double* data =
      mmap(NULL, kCount * sizeof *data, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  exchange(data);
  munmap(data, kCount * sizeof *data); /* TOUCH(release) */
}

static void packed(void) {
  double* data = malloc(kCount * sizeof *data);
  char pack[64];
  int position = 0;
  exchange(data);
  if (rank == 1)
    MPI_Pack(data + 9, 2, MPI_DOUBLE, pack, sizeof pack, &position, MPI_COMM_WORLD); /* TOUCH(pack) */
  free(data);
}

static void untouched(void) {
  double* data = malloc(kCount * sizeof *data);
  exchange(data);
  exchange(data);
  exit(MPI_Finalize());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "heap") == 0) heap();
  if (strcmp(what, "small") == 0) small();
  if (strcmp(what, "module") == 0) module();
  if (strcmp(what, "stack") == 0) stack();
  if (strcmp(what, "strided") == 0) strided();
  if (strcmp(what, "race") == 0) race(0);
  if (strcmp(what, "correct") == 0) race(1);
  if (strcmp(what, "handler") == 0) own_handler(0);
  if (strcmp(what, "own_stack") == 0) own_handler(1);
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "children") == 0) children();
  if (strcmp(what, "system_calls") == 0) system_calls();
  if (strcmp(what, "freed") == 0) freed();
  if (strcmp(what, "packed") == 0) packed();
  if (strcmp(what, "untouched") == 0) untouched();
  MPI_Finalize();
  return 0;
}
