/* What others see of a process that makes copies of itself: memory and files, signals to the group, whoever follows it, its own
 * next child. Each stretch between two calls of MPI computes, and does what WAY says.
 *   twin_neighbors WAY STEPS
 * WAY: opened (shared memory that is open for writing within stretches only), reused (memory that is given back, where a sparse
 * file is mapped then), signalled (the group, by a process that is not in it), filtered (who makes a child is killed),
 * first (the next child is the first of a PID namespace), spawns (makes processes: core files would be the twins').
 * Prints, by rank, what should be the same without copies. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
enum { kPage = 4096, kMany = 256 * kPage };

static const char* way;
static double sum;
static _Atomic long* shared;
static _Atomic int* over; /* 1: to the sender; 2: it has ended */
static char* memory;
static int file = -1;
static pid_t me;

static int is(const char* name) {
  return strcmp(way, name) == 0;
}

static void spend(double seconds) {
  for (long i = 0; i < (long)(seconds * 3e8); ++i) sum += 1e-9 * (double)(i & 7);
}

static void tell_if_a_copy(int s) {
  (void)s;
  if (getpid() != me && write(file, "x", 1) != 1) abort();
}

/* A process that is not in the group, nor a child: what it does to the group is the group's only. */
static void send_to_group(void) {
  const pid_t group = getpgrp();
  over = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t between = fork();
  if (between != 0) {
    waitpid(between, NULL, 0);
    return;
  }
  if (fork() != 0) _exit(0);
  setpgid(0, 0);
  for (int i = 0; i < 20000 && !*over; ++i) {
    kill(-group, SIGUSR1);
    usleep(20);
  }
  *over = 2;
  _exit(0);
}

static void kill_who_makes_children(void) {
  struct sock_filter all[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog filter = {sizeof all / sizeof *all, all};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) printf("no filters here\n");
}

static void begin(void) {
  if (is("opened")) shared = mmap(NULL, kPage, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (is("reused")) memory = mmap(NULL, kMany, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is("reused")) file = memfd_create("sparse", 0);
  if (is("reused") && ftruncate(file, kMany) != 0) abort();
  if (is("filtered")) kill_who_makes_children();
  if (is("first") && unshare(CLONE_NEWPID) != 0) printf("no namespaces here\n");
  if (is("signalled")) {
    file = memfd_create("bytes", 0);
    me = getpid();
    setpgid(0, 0);
    signal(SIGUSR1, SIG_IGN); /* by the processes that are made here */
    send_to_group();
    signal(SIGUSR1, tell_if_a_copy);
  }
}

static void stretch(int step, int steps) {
  spend(2e-4);
  if (is("opened")) {
    mprotect((void*)shared, kPage, PROT_READ | PROT_WRITE);
    atomic_fetch_add(shared, 1);
    mprotect((void*)shared, kPage, PROT_READ);
  }
  if (is("reused") && step < steps / 2) memset(memory, step, kMany);
  if (is("reused") && step == steps / 2)
    memory = mmap(memory, kMany, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  if (is("spawns") && step % 4 == 0) {
    char* words[] = {"true", NULL};
    pid_t child;
    int status = 1;
    if (posix_spawnp(&child, "true", NULL, NULL, words, environ) == 0) waitpid(child, &status, 0);
    if (status != 0) printf("a child ended with %d\n", status);
  }
}

static void tell(int rank) {
  struct stat of = {0};
  for (int zero = 0; over && *over != 2; zero = 0)
    if (!atomic_compare_exchange_strong(over, &zero, 1)) usleep(100);
  if (file >= 0) fstat(file, &of);
  int first = 0;
  if (is("first")) {
    const pid_t child = fork();
    if (child == 0) _exit(7);
    first = child < 0 ? -1 : waitpid(child, &first, 0) == child ? WEXITSTATUS(first) : -2;
  }
  printf("rank %d: shared %ld, blocks %ld, signals handled by copies %ld, the first child's code %d\n", rank,
         shared ? atomic_load(shared) : 0, is("reused") ? (long)of.st_blocks : 0,
         is("signalled") ? (long)of.st_size : 0, first);
  fflush(stdout);
}

int main(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "";
  const int steps = argc > 2 ? atoi(argv[2]) : 40;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  begin();
  for (int s = 0; s < steps; ++s) {
    stretch(s, steps);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  tell(rank);
  MPI_Finalize();
  return 3;
}
