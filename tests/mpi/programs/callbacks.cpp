// Functions of the program's that MPI calls. Argument:
//   wtime    MPI_Wtime in an operation, in an attribute's callbacks and in an error handler reads the virtual clock
//   longjmp  an error handler leaves by longjmp; from then on calls are made deeper in the program than the one that failed
//   throw    an error handler throws an exception of C++
//   refuse   a function that copies an attribute reports an error while a communicator is copied: on one rank, which then
//            sends what the others wait for before they come, and on all; each way to copy is tried, and then succeeds
//   refuse-fatal   the same on one rank, where errors end the program
//   day      ranks that are 0.3 s apart read the time of day
#include <mpi.h>
#include <setjmp.h>
#include <time.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "nplus1.h"

namespace {

int rank, size;
double earliest = 1e300, latest = -1e300;
jmp_buf back;
bool throws = false;

void look() {
  const double now = MPI_Wtime();
  earliest = now < earliest ? now : earliest;
  latest = now > latest ? now : latest;
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  look();
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}
int copied(MPI_Comm, int, void*, void*, void*, int* flag) {
  look();
  *flag = 0;
  return MPI_SUCCESS;
}
void noted(MPI_Comm*, int*, ...) {
  look();
}
void leaves(MPI_Comm*, int*, ...) {
  if (throws) throw std::runtime_error{"refused"};
  longjmp(back, 1);
}

/// All readings lie between those of the program before and after: a real clock is at another time altogether.
void wtime() {
  int mine = 1, sum = 0, key = 0;
  MPI_Op op;
  MPI_Errhandler handler;
  MPI_Comm made;
  MPI_Op_create(add, 1, &op);
  MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &mine);
  MPI_Comm_create_errhandler(noted, &handler);
  const double before = MPI_Wtime();
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Reduce(&mine, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_errhandler(made, handler);
  MPI_Send(&mine, 1, MPI_INT, size, 0, made);
  const double after = MPI_Wtime();
  std::printf("%s\n", before <= earliest && earliest <= latest && latest <= after ? "virtual" : "real");
  MPI_Comm_free(&made);
}

bool refuses = false;
int copied_or_not(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 1;
  return refuses ? 17 : MPI_SUCCESS;
}

int duplicate(int way, MPI_Comm* made) {
  if (way == 0) return MPI_Comm_dup(MPI_COMM_WORLD, made);
  if (way == 1) return MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, made);
  MPI_Request request;
#if MPI_VERSION >= 4
  const int code = way == 2 ? MPI_Comm_idup(MPI_COMM_WORLD, made, &request)
                            : MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, made, &request);
#else
  const int code = MPI_Comm_idup(MPI_COMM_WORLD, made, &request);
#endif
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void refuse_once(int way, bool everybody) {
  MPI_Comm made = MPI_COMM_NULL;
  int number = way, sum = 0, error_class = 0;
  refuses = everybody || rank == 0;
  if (refuses) {
    MPI_Error_class(duplicate(way, &made), &error_class);
    std::printf("rank %d, way %d: class %d\n", rank, way, error_class);
    std::fflush(stdout);
  }
  refuses = false;
  for (int other = 1; other < size && rank == 0; ++other)
    MPI_Send(&number, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
  if (rank != 0) MPI_Recv(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int code = duplicate(way, &made);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
  std::printf("rank %d, way %d: %d, sum %d\n", rank, way, code, sum);
  MPI_Comm_free(&made);
}

void refuse(bool fatal) {
  int key = 0;
  MPI_Comm_create_keyval(copied_or_not, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &refuses);
  if (!fatal) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int way = 0; way < 4; ++way)
    for (const bool everybody : {false, true}) refuse_once(way, everybody);
}

/// Fails in the wrong call at the start, at its end (a message that is too long), and in a wait.
void fail(int how) {
  int data[4] = {}, in = 0;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request requests[2];
  if (how == 0) MPI_Send(data, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  if (how == 1) {
    MPI_Send(data, 4, MPI_INT, to, how, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, from, how, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (how == 2) {
    MPI_Irecv(&in, 1, MPI_INT, from, how, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, 4, MPI_INT, to, how, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  if (how == 3) MPI_Allreduce(data, &in, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
}

/// Deeper than the call that was left, and over what it left on the stack.
__attribute__((noinline)) int shift(int depth) {
  volatile char room[256];
  std::memset(const_cast<char*>(room), depth, sizeof(room));
  if (depth > 0) return shift(depth - 1) + room[0];
  int out = rank, in = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 7, &in, 1, MPI_INT, (rank + size - 1) % size, 7,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  return in;
}

void leave() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leaves, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  volatile int failures = 0;
  for (volatile int how = 0; how < 4; how = how + 1) {
    if (throws) {
      try {
        fail(how);
      } catch (const std::runtime_error&) {
        failures = failures + 1;
      }
    } else if (setjmp(back) == 0) {
      fail(how);
    } else {
      failures = failures + 1;
    }
    shift(how * 3);
  }
  std::printf("%d failures\n", failures);
}

void day() {
  timespec wall{}, steady{};
  nplus1_compute(0.3 * rank);
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_MONOTONIC, &steady);
  double mine[2] = {static_cast<double>(wall.tv_sec) + 1e-9 * static_cast<double>(wall.tv_nsec),
                    static_cast<double>(steady.tv_sec) + 1e-9 * static_cast<double>(steady.tv_nsec)};
  double first[2] = {mine[0], mine[1]};
  MPI_Bcast(first, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  std::printf("%.1f %.1f\n", mine[0] - first[0], mine[1] - first[1]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "wtime";
  throws = std::strcmp(what, "throw") == 0;
  if (std::strcmp(what, "wtime") == 0)
    wtime();
  else if (std::strcmp(what, "day") == 0)
    day();
  else if (std::strncmp(what, "refuse", 6) == 0)
    refuse(std::strcmp(what, "refuse-fatal") == 0);
  else
    leave();
  MPI_Finalize();
  return 0;
}
