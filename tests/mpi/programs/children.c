/* A rank with children, which are no ranks. Compiled with -finstrument-functions.
 *   children fork         forks from the main thread; the child works and exits
 *   children thread       forks from a thread that calls MPI, while others do too; the child exits
 *   children exit         a thread that is not the main one, and calls MPI, ends the program after MPI_Finalize
 *   children tell         rank 0's children print what they inherit, started in all ways
 *   children mpirun ...   rank 0 runs the rest of the line in a shell */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { kRounds = 20, kCalls = 2000 };

static int rank, size;

__attribute__((noinline)) int only_in_a_child(int x) {
  return x * 3 + 1;
}

static void exchange(int tag) {
  int sent = rank, got = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, tag, &got, 1, MPI_INT, (rank + size - 1) % size, tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (got != (rank + size - 1) % size) MPI_Abort(MPI_COMM_WORLD, 3);
}

static void fork_and_wait(void) {
  const pid_t child = fork();
  if (child == 0) {
    volatile int sum = 0;
    for (int i = 0; i < kCalls; ++i) sum += only_in_a_child(i);
    exit(sum == 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, 4);
}

static void* forks(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    exchange(1);
    fork_and_wait();
  }
  return unused;
}

static int finalized;

static void* ends_all(void* unused) {
  exchange(3);
  while (!__atomic_load_n(&finalized, __ATOMIC_ACQUIRE)) usleep(1000);
  exit(7);
  return unused;
}

static void spawn(const char* const words[]) {
  pid_t child = -1;
  fflush(stdout);
  if (posix_spawnp(&child, words[0], NULL, NULL, (char* const*)words, environ) == 0) waitpid(child, NULL, 0);
}

static void tell(void) {
  const char* env[] = {"env", NULL};
  fflush(stdout);
  if (system("env") != 0) return;
  char line[65536];
  FILE* pipe = popen("env", "r");
  while (fgets(line, sizeof line, pipe) != NULL) fputs(line, stdout);
  pclose(pipe);
  spawn(env);
  const pid_t child = fork();
  if (child == 0) {
    execvp(env[0], (char* const*)env);
    _exit(1);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t thread;
  const char* what = argc > 1 ? argv[1] : "";
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "fork") == 0) forks(NULL);
  if (strcmp(what, "thread") == 0) {
    pthread_create(&thread, NULL, forks, NULL);
    for (int i = 0; i < kRounds * 50; ++i) exchange(2);
    pthread_join(thread, NULL);
  }
  if (strcmp(what, "tell") == 0 && rank == 0) tell();
  if (strcmp(what, "mpirun") == 0 && rank == 0) {
    char line[4096] = "";
    for (int i = 2; i < argc; ++i) strcat(strcat(line, argv[i]), " ");
    fflush(stdout);
    if (system(line) != 0) MPI_Abort(MPI_COMM_WORLD, 5);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int ends_in_thread = strcmp(what, "exit") == 0;
  if (ends_in_thread) pthread_create(&thread, NULL, ends_all, NULL);
  exchange(4);
  if (ends_in_thread) usleep(100000);
  MPI_Finalize();
  __atomic_store_n(&finalized, 1, __ATOMIC_RELEASE);
  while (ends_in_thread) pause();
  return 0;
}
