/* Prints what a rank sees of its world, then ends as told: `world HOW`, HOW being
     ok         0 everywhere
     return N   rank 0 returns N
     abort N    MPI_Abort(N) on every rank
     signal     rank 0 dies of SIGSEGV
     early N    every rank exits with N without ever calling MPI
     key        rank 0 asks Hydra for the simulator's address (key nplus1) and prints it */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void converse(const char* question, char* answer, size_t size) {
  int fd = atoi(getenv("PMI_FD"));
  size_t length = 0;
  if (write(fd, question, strlen(question)) < 0) exit(90);
  while (length + 1 < size && read(fd, answer + length, 1) == 1 && answer[length] != '\n') ++length;
  answer[length] = 0;
}

static void print_key(void) {
  char kvs[256] = "", question[600], answer[512];
  converse("cmd=get_my_kvsname\n", answer, sizeof answer);
  sscanf(answer, "cmd=my_kvsname kvsname=%255s", kvs);
  snprintf(question, sizeof question, "cmd=get kvsname=%s key=nplus1\n", kvs);
  converse(question, answer, sizeof answer);
  const char* value = strstr(answer, "value=");
  printf("key %s\n", value ? value + 6 : "none");
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "ok";
  int number = argc > 2 ? atoi(argv[2]) : 0, rank, size, sum, length;
  char name[MPI_MAX_OBJECT_NAME];
  if (!strcmp(how, "early")) return number;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("world %d %d %s\n", size, sum, name);
  if (rank == 0 && !strcmp(how, "key")) print_key();
  fflush(stdout);
  if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, number);
  if (rank == 0 && !strcmp(how, "signal")) raise(SIGSEGV);
  MPI_Finalize();
  return rank == 0 && !strcmp(how, "return") ? number : 0;
}
