/* A master hands out tasks to whoever answers first (MPI_ANY_SOURCE): which worker gets which task depends on
 * the network. The sum does not. Arguments: [tasks] [iterations of work per unit] [--order]; --order prints
 * who did what.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTaskTag = 1, kResultTag = 2, kStopTag = 3 };

static long master(int size, int tasks, int* worker_of) {
  long sum = 0, result = 0;
  int next = 0, running = 0, none = 0;
  for (int worker = 1; worker < size; ++worker) {
    if (next < tasks) {
      worker_of[next] = worker;
      MPI_Send(&next, 1, MPI_INT, worker, kTaskTag, MPI_COMM_WORLD);
      ++next, ++running;
    } else {
      MPI_Send(&none, 1, MPI_INT, worker, kStopTag, MPI_COMM_WORLD);
    }
  }
  while (running > 0) {
    MPI_Status status;
    MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, kResultTag, MPI_COMM_WORLD, &status);
    sum += result;
    if (next < tasks) {
      worker_of[next] = status.MPI_SOURCE;
      MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, kTaskTag, MPI_COMM_WORLD);
      ++next;
    } else {
      MPI_Send(&none, 1, MPI_INT, status.MPI_SOURCE, kStopTag, MPI_COMM_WORLD);
      --running;
    }
  }
  return sum;
}

static void worker(long unit) {
  volatile double x = 1.0;
  for (;;) {
    int task;
    MPI_Status status;
    MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kStopTag) return;
    for (long i = 0; i < unit * (1 + task % 7); ++i) x = x * 0.999 + 0.001;
    long result = (long)task * task;
    MPI_Send(&result, 1, MPI_LONG, 0, kResultTag, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int tasks = argc > 1 ? atoi(argv[1]) : 100;
  const long unit = argc > 2 ? atol(argv[2]) : 2000;
  const int order = argc > 3 && strcmp(argv[3], "--order") == 0;
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  if (rank == 0) {
    int* worker_of = calloc((size_t)tasks + 1, sizeof *worker_of);
    const long sum = master(size, tasks, worker_of);
    printf("master_worker: %d tasks, sum %ld\n", tasks, sum);
    for (int task = 0; order && task < tasks; ++task) printf("task %d by rank %d\n", task, worker_of[task]);
    free(worker_of);
  } else {
    worker(unit);
  }
  MPI_Finalize();
  return 0;
}
