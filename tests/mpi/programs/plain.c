/* What a program does around MPI:
 *   early CODE    exits before MPI_Init        late CODE     exits after MPI_Finalize
 *   stdin         rank 0 tells what it reads   who WORDS...  every rank says who it is
 *   stopwatch     asks the system's clock, and never MPI's, how long each of ten barriers takes
 *   helpers       two threads that never call MPI compute for 50 ms, and live as long as the program
 *   vfork         a child of vfork() ends at once, before a barrier
 *   until         after an hour of nplus1_compute, how many ms a sleep until 20 ms later takes
 *   forever       sleeps until the last time that there is, and a signal comes; then until one before the first
 *   clocks        how long 60 s of nplus1_compute are on clock_gettime, gettimeofday, time and MPI_Wtime */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "nplus1.h"

static int rank, size;

static void read_input(void) {
  char line[256];
  int lines = 0;
  unsigned long sum = 0;
  while (rank == 0 && fgets(line, sizeof line, stdin) != NULL) {
    ++lines;
    for (const char* c = line; *c != '\0'; ++c) sum = sum * 31 + (unsigned char)*c;
  }
  MPI_Bcast(&lines, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == size - 1) printf("%d lines\n", lines);
  if (rank == 0) printf("sum %lu\n", sum);
}

static double monotonic(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_of_day(void) {
  struct timeval t;
  gettimeofday(&t, NULL);
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void measure_a_minute(void) {
  const double start[] = {monotonic(), time_of_day(), (double)time(NULL), MPI_Wtime()};
  nplus1_compute(60);
  const double end[] = {monotonic(), time_of_day(), (double)time(NULL), MPI_Wtime()};
  for (int i = 0; i < 4 && rank == 0; ++i) printf("%.0f\n", end[i] - start[i]);
}

static void time_barriers(void) {
  double longest = 0;
  for (int i = 0; i < 10; ++i) {
    const double start = time_of_day();
    MPI_Barrier(MPI_COMM_WORLD);
    const double taken = time_of_day() - start;
    if (taken > longest) longest = taken;
  }
  if (rank == 0) printf("%g\n", longest);
}

static void* help(void* unused) {
  struct timespec t = {0, 0};
  while (t.tv_nsec < 50000000 && t.tv_sec == 0) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  for (;;) pause();
  return unused;
}

static void compute_with_helpers(void) {
  pthread_t helpers[2];
  for (int i = 0; i < 2; ++i) pthread_create(&helpers[i], NULL, help, NULL);
  struct timespec t = {0, 0};
  while (t.tv_nsec < 200000000 && t.tv_sec == 0) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
}

static void end_child(void) {
  if (vfork() == 0) _exit(0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void sleep_until(void) {
  struct timespec begin, end;
  nplus1_compute(3600);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  end = begin;
  end.tv_nsec += 20000000;
  if (end.tv_nsec >= 1000000000) {
    end.tv_nsec -= 1000000000;
    ++end.tv_sec;
  }
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (rank == 0)
    printf("%.0f\n",
           1e3 * (double)(end.tv_sec - begin.tv_sec) + 1e-6 * (double)(end.tv_nsec - begin.tv_nsec));
}

static void wake(int signal) {
  (void)signal;
}

/* Until a signal comes. */
static void sleep_for_ever(void) {
  const struct sigaction on_alarm = {.sa_handler = wake};
  const struct itimerval soon = {{0, 0}, {0, 100000}};
  const struct timespec never = {(time_t)(~0UL >> 1), 999999999}, before_time = {-1, 0};
  sigaction(SIGALRM, &on_alarm, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  const int interrupted = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &never, NULL) == EINTR;
  const int refused = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &before_time, NULL) == EINVAL;
  if (rank == 0) printf("%s %s\n", interrupted ? "interrupted" : "back", refused ? "refused" : "taken");
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "early") == 0) exit(atoi(argv[2]));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(name, "stdin") == 0) read_input();
  if (strcmp(name, "who") == 0) printf("rank %d of %d: %s\n", rank, size, argc > 2 ? argv[2] : "");
  if (strcmp(name, "vfork") == 0) end_child();
  if (strcmp(name, "clocks") == 0) measure_a_minute();
  if (strcmp(name, "until") == 0) sleep_until();
  if (strcmp(name, "forever") == 0) sleep_for_ever();
  if (strcmp(name, "stopwatch") == 0) time_barriers();
  if (strcmp(name, "helpers") == 0) compute_with_helpers();
  fflush(stdout);
  MPI_Finalize();
  if (strcmp(name, "late") == 0) exit(atoi(argv[2]));
  return 0;
}
