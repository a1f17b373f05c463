/* hard_accesses WHAT: correct programs that do with the memory of their messages, with signals, and with processes what is
 * easily broken by whoever watches that memory; two ranks. What is printed does not depend on time. */
#include <alloca.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kCount = 20000 };
extern char** environ;
static int rank;
static volatile double sink;

static void exchange(void* to, int bytes) {
  char* from = malloc((size_t)bytes);
  for (int i = 0; i < bytes; i++) from[i] = (char)('a' + i % 26);
  if (rank == 0)
    MPI_Send(from, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(to, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) memcpy(to, from, (size_t)bytes);
  free(from);
}

/* ---- signals ---- */

static char* buffer;
static char* alternative;
static volatile int seen, on_alternative, sum;

static void reads(int signal, siginfo_t* info, void* context) {
  char here;
  (void)signal, (void)info, (void)context;
  seen++;
  on_alternative = alternative != NULL && &here >= alternative && &here < alternative + 65536;
  for (int i = 0; i < 100; i++) sum += buffer[i * 100];
}

static void signals(int with_stack) {
  char* const block = malloc(65536 + kCount); /* the stack's first frames lie on a page of the buffer's */
  buffer = block + 65536;
  stack_t old;
  sigaltstack(NULL, &old);
  printf("before: %d\n", old.ss_flags);
  if (with_stack) {
    alternative = block;
    const stack_t stack = {alternative, 0, 65536};
    sigaltstack(&stack, NULL);
  }
  struct sigaction action = {0}, told;
  action.sa_sigaction = reads;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR1, NULL, &told);
  printf("kept %d, flags %x\n", told.sa_sigaction == reads, told.sa_flags & ~0x04000000);
  for (int i = 0; i < 3; i++) {
    exchange(buffer, kCount);
    raise(SIGUSR1);
  }
  printf("seen %d, on its stack %d, sum %d\n", seen, on_alternative, sum);
  const stack_t none = {NULL, SS_DISABLE, 0};
  sigaltstack(&none, NULL);
  free(block);
}

static sigjmp_buf back;
static jmp_buf plain_back;
static void leaves(int signal) {
  (void)signal;
  siglongjmp(back, 1);
}
static void leaves_plainly(int signal) {
  (void)signal;
  seen++;
  longjmp(plain_back, 1);
}

/* One instruction that touches a watched page and faults on a page of the program's. */
static void jumps(void) {
  char* data = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* guard = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {0};
  action.sa_handler = leaves;
  sigaction(SIGSEGV, &action, NULL);
  volatile int left = 0; /* kept over siglongjmp */
  for (volatile int i = 0; i < 5; i = i + 1) {
    exchange(data + 64, 4096);
    if (sigsetjmp(back, 1) == 0) {
      const char* from = data; /* beside the cells: a miss */
      char* to = guard;
      asm volatile("movsb" : "+S"(from), "+D"(to) : : "memory");
    } else {
      left = left + 1;
    }
    sum += data[100];
  }
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("left %d, sum %d, blocked %d %d\n", left, sum, sigismember(&mask, SIGSEGV),
         sigismember(&mask, SIGUSR1));
  action.sa_handler = leaves_plainly;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 5; i = i + 1) {
    exchange(data + 64, 4096);
    if (setjmp(plain_back) == 0) {
      const char* from = data;
      char* to = guard;
      asm volatile("movsb" : "+S"(from), "+D"(to) : : "memory");
    }
    sum += data[100];
  }
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("left %d, sum %d, blocked %d %d\n", seen, sum, sigismember(&mask, SIGSEGV),
         sigismember(&mask, SIGUSR1));
}

static volatile int ticks;
static void tick(int signal) {
  (void)signal;
  ticks++;
  sum += buffer[ticks % kCount];
}

/* A timer's signals come while pages are closed, opened and stepped through. */
static void timer(void) {
  buffer = malloc(kCount);
  struct sigaction action = {0};
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const int before = sum;
  ualarm(2000, 2000);
  long total = 0;
  for (int i = 0; i < 40; i++) {
    exchange(buffer, kCount);
    for (int k = 0; k < kCount; k += 7) total += buffer[k];
    for (int k = 0; k < 3000; k++) sink = sink + k;
  }
  ualarm(0, 0);
  printf("total %ld, ticked %d\n", total, sum >= before);
}

/* ---- processes ---- */

static void children(void) {
  char* data = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char text[64];
  exchange(data, 8192);
  strcpy(data + 3000, "exit 3"); /* the argument lies in a watched page */
  exchange(data, 2000);
  printf("system %d\n", WEXITSTATUS(system(data + 3000)));
  exchange(data, 2000);
  strcpy(data + 3000, "echo out");
  exchange(data, 2000);
  fflush(stdout);
  FILE* pipe = popen(data + 3000, "r");
  if (pipe == NULL || fgets(text, sizeof text, pipe) == NULL) abort();
  pclose(pipe);
  printf("popen %s", text);
  exchange(data, 2000);
  strcpy(data + 3000, "exit 5");
  char* words[] = {"sh", "-c", data + 3000, NULL};
  exchange(data, 2000);
  pid_t child;
  int status = 0;
  if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) != 0) abort();
  waitpid(child, &status, 0);
  printf("posix_spawn %d\n", WEXITSTATUS(status));
  exchange(data, 2000);
  child = vfork();
  if (child == 0) {
    execv("/bin/sh", words);
    _exit(99);
  }
  waitpid(child, &status, 0);
  printf("vfork %d\n", WEXITSTATUS(status));
  exchange(data, 2000);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    long total = 0;
    for (int i = 0; i < 2000; i++) total += data[i];
    data[10] = 1; /* its own copy */
    _exit(total == 2000 / 26 * (26 * 97 + 325) + (2000 % 26) * 97 + (2000 % 26) * (2000 % 26 - 1) / 2 ? 6
                                                                                                      : 7);
  }
  waitpid(child, &status, 0);
  printf("fork %d, %c\n", WEXITSTATUS(status), data[10]);
}

/* ---- memory ---- */

static void in_place(void) {
  double* data = malloc(kCount * sizeof *data);
  double total = 0;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kCount; i++) data[i] = rank + i % 5;
    MPI_Allreduce(MPI_IN_PLACE, data, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, kCount / 2, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, kCount / 2, MPI_DOUBLE, MPI_COMM_WORLD);
    if (rank == 0)
      MPI_Reduce(MPI_IN_PLACE, data, kCount, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    else
      MPI_Reduce(data, NULL, kCount, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(data, kCount, MPI_DOUBLE, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    for (int i = 0; i < kCount; i += 3) total += data[i];
  }
  printf("%d: %g\n", rank, total);
  free(data);
}

static void nothing(void) {
  double one = 1;
  MPI_Request requests[4];
  for (int i = 0; i < 3; i++) {
    MPI_Irecv(NULL, 0, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&one, 0, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(NULL, 0, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&one, 0, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &requests[3]);
    one += 1;
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
    MPI_Type_commit(&empty);
    MPI_Sendrecv(&one, 5, empty, 1 - rank, 2, NULL, 7, empty, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&empty);
    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  }
  printf("%g\n", one);
}

/* 40,000 cells of eight bytes, a page apart. */
static void huge(void) {
  enum { kCells = 40000 };
  char* data = mmap(NULL, (size_t)kCells * 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MPI_Datatype type;
  MPI_Type_create_hvector(kCells, 1, 4096, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  double total = 0;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < kCells; i++) *(double*)(data + (size_t)i * 4096) = i;
    MPI_Sendrecv_replace(data, 1, type, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kCells; i += 100) total += *(double*)(data + (size_t)i * 4096);
  }
  printf("%g\n", total);
  MPI_Type_free(&type);
  munmap(data, (size_t)kCells * 4096);
}

static double on_stack(int n) {
  double* data = alloca((size_t)n * sizeof *data);
  double variable[n];
  double total = 0;
  MPI_Request requests[2];
  for (int i = 0; i < n; i++) data[i] = i, variable[i] = -1;
  MPI_Isend(data, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(variable, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  if (n > 10) total += on_stack(n / 3); /* frames below the buffers */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++) total += variable[i];
  return total;
}

static void stack(void) {
  for (int i = 0; i < 5; i++) printf("%g\n", on_stack(30000));
}

/* Two sends of one buffer, that are waited for in the other order; then the buffer is used again. */
static void twice(void) {
  double* data = malloc(kCount * sizeof *data);
  double* to = malloc(2 * kCount * sizeof *to);
  double total = 0;
  for (int round = 0; round < 3; round++) {
    MPI_Request requests[2];
    for (int i = 0; i < kCount; i++) data[i] = i + round;
    if (rank == 0) {
      MPI_Isend(data, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(data, kCount, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &requests[1]);
      for (int i = 0; i < kCount; i++) total += data[i];
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      data[0] = 7;
    } else {
      MPI_Irecv(to, kCount, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(to + kCount, kCount, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[1]);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      for (int i = 0; i < kCount; i++) total += to[kCount + i];
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      for (int i = 0; i < kCount; i++) total += to[i];
    }
  }
  printf("%g\n", total);
  free(data);
  free(to);
}

/* As above, and wrong: the first send is not complete. */
static void twice_wrong(void) {
  static double data[kCount];
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Isend(data, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, kCount, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    data[500] = 7; /* TOUCH(race) */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    data[600] = 8; /* TOUCH(write) */
  } else {
    MPI_Recv(data, kCount, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, kCount, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* ---- what others work on ---- */

static void pending(void) {
  double* data = calloc(2 * kCount, sizeof *data);
  double* window = calloc(kCount, sizeof *window);
  double total = 0;
  MPI_Request request;
  exchange(data, 8000);
  for (int i = 0; i < 3; i++) {
    MPI_Iallreduce(data, data + kCount, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    total += data[7]; /* reading what is sent is legal */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data[7] = total + data[kCount + 7];
    MPI_Ibcast(data, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Win win;
  MPI_Win_create(window, kCount * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < 3; i++) {
    MPI_Win_fence(0, win);
    const double mine = rank + i;
    MPI_Put(&mine, 1, MPI_DOUBLE, 1 - rank, 5 + i, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    total += window[5 + i];
    MPI_Sendrecv_replace(window + 100, 50, MPI_DOUBLE, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    window[120] += 1;
  }
  MPI_Win_free(&win);
  printf("%d: %g %g\n", rank, total, window[120]);
  free(data);
  free(window);
}

static double* shared;
static void* worker(void* argument) {
  const long which = (long)argument;
  double total = 0;
  for (int i = (int)which; i < kCount; i += 4) total += shared[i];
  for (int i = (int)which; i < kCount; i += 4) shared[i] = total;
  return NULL;
}

static void threads(void) {
  shared = malloc(kCount * sizeof *shared);
  double total = 0;
  for (int round = 0; round < 10; round++) {
    exchange(shared, kCount * (int)sizeof *shared);
    memset(shared, 0, kCount * sizeof *shared);
    exchange(shared, 80);
    for (int i = 0; i < kCount; i++) shared[i] = i;
    pthread_t all[4];
    for (long i = 0; i < 4; i++) pthread_create(&all[i], NULL, worker, (void*)i);
    for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
    total += shared[0] + shared[1] + shared[2] + shared[3];
  }
  printf("%g\n", total);
  free(shared);
}

/* Messages in what belongs to a thread: its thread-local memory, and its outermost frame beside that; in another thread's
 * frames; and in the memory of threads that have ended, which the next one gets for its stack. */
enum { kOwn = 12288 };
static __thread unsigned char local[kOwn];
static unsigned char* another;
static pthread_barrier_t turn;

static void swap(void* out, void* in, int bytes) {
  MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - rank, 0, in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static long total_of(const unsigned char* bytes) {
  long total = 0;
  for (int i = 0; i < kOwn; i++) total += bytes[i] * (i % 7 + 1);
  return total;
}

static void* talks(void* argument) {
  unsigned char own[kOwn];
  memset(own, 1 + rank, sizeof own);
  swap(own, local, kOwn);
  long total = total_of(local);
  swap(local, own, kOwn);
  total += total_of(own);
  own[kOwn - 1] = 7;
  *(long*)argument += total + own[kOwn - 1];
  return NULL;
}

static void* lends(void* argument) {
  unsigned char own[kOwn];
  memset(own, 1, sizeof own);
  another = own;
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
  *(long*)argument += total_of(own);
  own[5] = 3;
  return NULL;
}

static void thread_memory(void) {
  long total = 0;
  unsigned char* out = malloc(kOwn);
  pthread_barrier_init(&turn, NULL, 2);
  for (int round = 0; round < 3; round++) {
    pthread_t thread;
    talks(&total);
    pthread_create(&thread, NULL, talks, &total);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, lends, &total);
    memset(out, 2 + rank, kOwn);
    pthread_barrier_wait(&turn);
    swap(out, another, kOwn);
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
  }
  printf("%ld\n", total);
  free(out);
}

/* A thread's table of thread-local memory, which glibc keeps in the heap, among messages: the thread touches what lies
 * on a closed page, and whoever looks at that must not need the table. */
enum { kBeside = 32, kBlock = 1200 };
static char* cell;

static void* touches(void* argument) {
  pthread_barrier_wait(&turn);
  for (int i = 0; i < 5; i++) cell[kBlock / 2]++;
  pthread_barrier_wait(&turn);
  return argument;
}

static void thread_table(void) {
  unsigned char* blocks[2 * kBeside];
  MPI_Request requests[2 * kBeside];
  unsigned char out[kBlock];
  long total = 0;
  memset(out, 3 + rank, sizeof out);
  pthread_barrier_init(&turn, NULL, 2);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kBeside; i++) blocks[i] = malloc(kBlock);
    cell = calloc(1, kBlock);
    pthread_t thread;
    pthread_create(&thread, NULL, touches, NULL);
    for (int i = kBeside; i < 2 * kBeside; i++) blocks[i] = malloc(kBlock);
    for (int i = 0; i < 2 * kBeside; i++)
      MPI_Irecv(blocks[i], kBlock, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2 * kBeside; i++) MPI_Send(out, kBlock, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD);
    MPI_Waitall(2 * kBeside, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * kBeside; i++) total += blocks[i][i] + blocks[i][kBlock - 1];
    total += cell[kBlock / 2];
  }
  printf("%ld\n", total);
}

/* Vectors of system calls, and addresses that are wrong, in watched pages. */
static void kernel(void) {
  char* data = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* guard = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int ends[2];
  if (pipe(ends) != 0) abort();
  for (int i = 0; i < 3; i++) {
    exchange(data, 4000);
    struct iovec* parts = (struct iovec*)(data + 4096);
    parts[0] = (struct iovec){data + 10, 5};
    parts[1] = (struct iovec){data + 100, 5};
    exchange(data, 4000);
    const ssize_t out = writev(ends[1], parts, 2);
    exchange(data, 4000);
    const ssize_t in = read(ends[0], data + 200, 10);
    errno = 0;
    const ssize_t wrong = write(ends[1], guard, 10);
    printf("%zd %zd %.10s %zd %d\n", out, in, data + 200, wrong, errno == EFAULT);
  }
}

/* Receives that are told of more memory than is theirs: what does not come stays the neighbour's. */
static void more_than_comes(void) {
  enum { kSaid = 600, kComes = 3 };
  struct {
    int cells[4], neighbour[kSaid];
  }* memory = malloc(sizeof *memory);
  MPI_Datatype large;
  MPI_Type_contiguous(kSaid, MPI_INT, &large);
  MPI_Type_commit(&large);
  for (int way = 0; way < 2; way++) {
    const int out[kComes] = {rank + way, 5, 7};
    MPI_Request request;
    MPI_Status status;
    int got;
    memset(memory, 0, sizeof *memory);
    MPI_Irecv(memory, way == 0 ? kSaid : 1, way == 0 ? MPI_INT : large, 1 - rank, 0, MPI_COMM_WORLD,
              &request);
    memory->neighbour[kSaid - 50 * way - 20] = 9; /* TOUCH(neighbour) */
    MPI_Send(out, kComes, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &got);
    printf("%d: %d %d %d, %d came, %d %d\n", rank, memory->cells[0], memory->cells[1], memory->cells[2], got,
           memory->cells[3], memory->neighbour[kSaid - 50 * way - 20]);
  }
  MPI_Type_free(&large);
  free(memory);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv,
                  strcmp(what, "thread_memory") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(what, "signals") == 0) signals(0);
  if (strcmp(what, "signals_on_stack") == 0) signals(1);
  if (strcmp(what, "jumps") == 0) jumps();
  if (strcmp(what, "timer") == 0) timer();
  if (strcmp(what, "children") == 0) children();
  if (strcmp(what, "in_place") == 0) in_place();
  if (strcmp(what, "nothing") == 0) nothing();
  if (strcmp(what, "huge") == 0) huge();
  if (strcmp(what, "stack") == 0) stack();
  if (strcmp(what, "twice") == 0) twice();
  if (strcmp(what, "twice_wrong") == 0) twice_wrong();
  if (strcmp(what, "pending") == 0) pending();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "thread_memory") == 0) thread_memory();
  if (strcmp(what, "thread_table") == 0) thread_table();
  if (strcmp(what, "kernel") == 0) kernel();
  if (strcmp(what, "more_than_comes") == 0) more_than_comes();
  MPI_Finalize();
  return 0;
}
