/* Receives from any source that are pending while the application does things with their handles. Three
 * ranks: 0 receives, 1 and 2 send. Ends with "wildcards: all well"; a wrong result aborts with its line.
 *   wildcards N    only this: N receives are pending at once */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      fprintf(stderr, "wildcards.c:%d: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 9);                                  \
    }                                                                \
  } while (0)

static int rank;
static MPI_Status status;

static void send(int value, int tag) {
  MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

/* The senders wait for rank 0, so that its receives are pending when they send. */
static void go(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void get_status_then_wait(void) {
  if (rank != 0) {
    go();
    if (rank == 1) send(11, 1);
    return;
  }
  int value = 0, flag = 1;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
  CHECK(request != MPI_REQUEST_NULL);
  MPI_Request_get_status(request, &flag, &status);
  CHECK(!flag);
  go();
  while (!flag) MPI_Request_get_status(request, &flag, &status);
  CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 1);
  CHECK(request != MPI_REQUEST_NULL);
  MPI_Wait(&request, &status);
  CHECK(value == 11 && status.MPI_SOURCE == 1 && request == MPI_REQUEST_NULL);
}

static void cancel(void) {
  int value = 0, cancelled = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
  }
  go();
  if (rank == 1) send(22, 2);
  if (rank != 0) return;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
  CHECK(value == 22); /* the cancelled receive did not take it */
}

static void free_a_pending_receive(void) {
  static int value = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
  go();
  if (rank == 1) send(33, 3), send(34, 4);
  if (rank != 0) return;
  int last = 0, polls = 0, flag;
  MPI_Recv(&last, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &status);
  CHECK(last == 34);
  while (*(volatile int*)&value != 33 && ++polls < 1000000) MPI_Iprobe(1, 99, MPI_COMM_WORLD, &flag, &status);
  CHECK(value == 33);
}

static void truncation(void) {
  if (rank != 0) {
    go();
    const int two[2] = {5, 6};
    if (rank == 2) MPI_Send(two, 2, MPI_INT, 0, 5, MPI_COMM_WORLD);
    return;
  }
  int value = 0, class = MPI_SUCCESS;
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
  go();
  const int code = MPI_Wait(&request, &status);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_TRUNCATE);
}

static void persistent(void) {
  int value = 0;
  MPI_Request request;
  if (rank == 0) MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 6; ++round) {
    if (rank == 0) MPI_Start(&request);
    go();
    if (rank == 1 + round % 2) send(60 + round, 10 + round);
    if (rank != 0) continue;
    MPI_Wait(&request, &status);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK(value == 60 + round && status.MPI_TAG == 10 + round && status.MPI_SOURCE == 1 + round % 2);
  }
  if (rank == 0) MPI_Request_free(&request);
}

static void mixed_with_named(void) {
  if (rank != 0) {
    go();
    send(100 * rank, 20), send(100 * rank + 1, 21), send(100 * rank + 2, rank == 1 ? 21 : 20);
    return;
  }
  int values[6] = {0}, sum = 0, of_rank_2 = 200;
  MPI_Request requests[7];
  MPI_Status statuses[7];
  for (int i = 0; i < 6; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, i % 2 == 0 ? MPI_ANY_SOURCE : 1 + (i == 3), 20 + i % 2, MPI_COMM_WORLD,
              &requests[i]);
  requests[6] = MPI_REQUEST_NULL;
  go();
  MPI_Waitall(7, requests, statuses);
  for (int i = 0; i < 6; ++i) {
    CHECK(values[i] / 100 == statuses[i].MPI_SOURCE && requests[i] == MPI_REQUEST_NULL);
    if (statuses[i].MPI_SOURCE == 2 && i % 2 == 0) { /* in posting order */
      CHECK(values[i] == of_rank_2);
      of_rank_2 += 2;
    }
    sum += values[i];
  }
  CHECK(sum == 100 + 101 + 102 + 200 + 201 + 202);
}

static void free_the_communicator(void) {
  MPI_Comm comm;
  MPI_Request request;
  int value = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank == 0) MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request);
  go();
  if (rank == 2) MPI_Isend(&rank, 1, MPI_INT, 0, 0, comm, &request);
  MPI_Comm_free(&comm);
  CHECK(comm == MPI_COMM_NULL);
  if (rank == 1) return;
  MPI_Wait(&request, &status);
  if (rank == 0) CHECK(value == 2 && status.MPI_SOURCE == 2);
}

#if MPI_VERSION < 4 /* the same, of two requests */
static void both_ways(void* out, void* in, int tag, MPI_Request requests[2]) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Isend(out, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
#endif

static void isendrecv(void) {
  int from_left = -1, size;
  MPI_Request request;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int here = rank;
#if MPI_VERSION >= 4
  MPI_Isendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &from_left, 1, MPI_INT, MPI_ANY_SOURCE, 7,
                MPI_COMM_WORLD, &request);
#else
  MPI_Request requests[2];
  both_ways(&rank, &from_left, 7, requests);
  request = requests[1];
#endif
  MPI_Wait(&request, &status);
  CHECK(from_left == (rank + size - 1) % size); /* MPICH 4.0.2 leaves the status empty */
#if MPI_VERSION >= 4
  MPI_Isendrecv_replace(&here, 1, MPI_INT, (rank + 1) % size, 8, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &request);
#else
  both_ways(&rank, &here, 8, requests);
  request = requests[1];
#endif
  int done = 0;
  while (!done) MPI_Test(&request, &done, &status);
  CHECK(here == (rank + size - 1) % size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 9, &from_left, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
               MPI_COMM_WORLD, &status);
  CHECK(from_left == (rank + size - 1) % size && status.MPI_TAG == 9);
}

static void derived_type_freed_while_pending(void) {
  if (rank != 0) {
    go();
    const int four[4] = {1, 2, 3, 4};
    if (rank == 1) MPI_Send(four, 4, MPI_INT, 0, 6, MPI_COMM_WORLD);
    return;
  }
  int spread[8] = {0};
  MPI_Datatype every_second;
  MPI_Request request;
  MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Irecv(spread, 1, every_second, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
  MPI_Type_free(&every_second);
  go();
  MPI_Wait(&request, &status);
  for (int i = 0; i < 8; ++i) CHECK(spread[i] == (i % 2 == 0 ? i / 2 + 1 : 0));
}

#ifdef MPICH_VERSION
static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

/* Every call that completes requests, without a place for its result: what is wrong is that, not the request. (For Open MPI
 * null is MPI_STATUSES_IGNORE: it would wait.) */
static void completions_that_mpi_refuses(void) {
  int value = 0, flag = 0, count = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
    const MPI_Request before = request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Test(&request, NULL, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Request_get_status(request, NULL, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Waitany(1, &request, NULL, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Testany(1, &request, NULL, &flag, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Testall(1, &request, NULL, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Waitall(1, &request, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Testall(1, &request, &flag, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Waitsome(1, &request, &count, NULL, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Testsome(1, &request, NULL, &flag, &status)) == MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(request == before);
  }
  go();
  if (rank == 1) send(66, 6);
  if (rank == 0) MPI_Wait(&request, &status);
  CHECK(rank != 0 || value == 66);
}

#endif

static void many(int n) {
  int* values = calloc((size_t)n, sizeof(int));
  MPI_Request* requests = calloc((size_t)n, sizeof(MPI_Request));
  CHECK(values != NULL && requests != NULL);
  for (int i = 0; i < n && rank == 0; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, i % 100, MPI_COMM_WORLD, &requests[i]);
  go();
  for (int i = 0; i < n && rank == 1; ++i) send(i, i % 100);
  if (rank == 0) MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  long long sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  CHECK(rank != 0 || sum == (long long)n * (n - 1) / 2);
  free(requests);
  free(values);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1) {
    many(atoi(argv[1]));
    MPI_Finalize();
    return 0;
  }
  get_status_then_wait();
  cancel();
  free_a_pending_receive();
  truncation();
  persistent();
  mixed_with_named();
  free_the_communicator();
  isendrecv();
  derived_type_freed_while_pending();
#ifdef MPICH_VERSION
  completions_that_mpi_refuses();
#endif
  go();
  if (rank == 0) printf("wildcards: all well\n");
  MPI_Finalize();
  return 0;
}
