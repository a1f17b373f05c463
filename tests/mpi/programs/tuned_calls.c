/* Calls that a tuned library must not make another thing of. Argument: one of the names below. Each rank prints a hash of
 * what its buffers hold in the end, or the classes of the errors that MPI returned. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kInts = 4096, kThreads = 3 };
static int rank, ranks, a[kInts], b[kInts];
static unsigned long hash = 1469598103934665603UL;
static MPI_Comm world; /* returns errors */

static void take(const void* bytes, size_t n) {
  const unsigned char* c = bytes;
  while (n-- > 0) hash = (hash ^ *c++) * 1099511628211UL;
}

static void take_class(int code) {
  int class = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  take(&class, sizeof class);
}

static MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

/* Two integers, the second first: as long as they are far, without gaps. */
static MPI_Datatype turned(void) {
  MPI_Datatype type;
  const int lengths[2] = {1, 1}, offsets[2] = {1, 0};
  MPI_Type_indexed(2, lengths, offsets, MPI_INT, &type);
  return committed(type);
}

/* Two integers, three apart, between which those of the next element are: as long as they are far, too. */
static MPI_Datatype interleaved(void) {
  MPI_Datatype vector, type;
  MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &type);
  return committed(type);
}

static MPI_Datatype at_its_address(void* where, int count) {
  MPI_Datatype type;
  MPI_Aint address;
  MPI_Get_address(where, &address);
  MPI_Type_create_hindexed(1, &count, &address, MPI_INT, &type);
  return committed(type);
}

static void types(MPI_Datatype type) { /* of two integers */
  if (rank == 0)
    MPI_Bcast(a, 8, type, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(a, 16, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(a, 4, type, b, 8, MPI_INT, MPI_COMM_WORLD);
  MPI_Gather(a, 8, MPI_INT, b + 500, 4, type, ranks - 1, MPI_COMM_WORLD);
  MPI_Scatter(a, 4, type, b + 1000, 8, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Alltoall(a, 4, type, b + 1500, 8, MPI_INT, MPI_COMM_WORLD);
}

static void bottom(void) {
  MPI_Bcast(MPI_BOTTOM, 1, at_its_address(a, 16), 0, MPI_COMM_WORLD);
  MPI_Gather(MPI_BOTTOM, 1, at_its_address(a, 16), b, 16, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(b, 16, MPI_INT, MPI_BOTTOM, 1, at_its_address(a + 32, 16), 0, MPI_COMM_WORLD);
  MPI_Allgather(MPI_BOTTOM, 1, at_its_address(a, 16), b + 500, 16, MPI_INT, MPI_COMM_WORLD);
}

static void nothing(void) {
  int counts[64] = {0};
  MPI_Datatype empty;
  MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter(NULL, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Bcast(a, 1000000000, committed(empty), 0, MPI_COMM_WORLD);
}

/* Each is refused on every rank. */
static void refused(void) {
  take_class(MPI_Bcast(a, 4, MPI_INT, ranks + 5, world));
  take_class(MPI_Bcast(a, 4, MPI_INT, -1, world));
  take_class(MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, ranks + 100000, world));
  take_class(MPI_Gather(a, 4, MPI_INT, b, 4, MPI_INT, -7, world));
  take_class(MPI_Scatter(a, 4, MPI_INT, b, 4, MPI_INT, ranks, world));
  take_class(MPI_Bcast(a, 4, MPI_INT, 0, MPI_COMM_NULL));
  take_class(MPI_Allreduce(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_NULL));
  take_class(MPI_Bcast(a, -1, MPI_INT, 0, world));
  take_class(MPI_Bcast(a, 4, MPI_DATATYPE_NULL, 0, world));
  take_class(MPI_Allreduce(a, b, 4, MPI_DATATYPE_NULL, MPI_SUM, world));
  take_class(MPI_Allreduce(a, b, 4, MPI_INT, MPI_OP_NULL, world));
  take_class(MPI_Allreduce(a, b, 4, MPI_DOUBLE, MPI_BOR, world));
  take_class(MPI_Allreduce(MPI_IN_PLACE, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, world));
}

/* Likewise, by MPICH. */
static void refused_buffers(void) {
  MPI_Datatype never_committed;
  MPI_Type_contiguous(4, MPI_INT, &never_committed);
  take_class(MPI_Bcast(a, 1, never_committed, 0, world));
  take_class(MPI_Bcast(NULL, 4, MPI_INT, 0, world));
  take_class(MPI_Allreduce(NULL, b, 4, MPI_INT, MPI_SUM, world));
  take_class(MPI_Scan(a, NULL, 4, MPI_INT, MPI_SUM, world));
  take_class(MPI_Reduce_scatter_block(a, NULL, 4, MPI_INT, MPI_SUM, world));
  take_class(MPI_Allgather(NULL, 4, MPI_INT, b, 4, MPI_INT, world));
  take_class(MPI_Alltoall(a, 4, MPI_INT, NULL, 4, MPI_INT, world));
  take_class(MPI_Allreduce(a, a, 4, MPI_INT, MPI_SUM, world));
  take_class(MPI_Scan(a, a, 4, MPI_INT, MPI_SUM, world));
  take_class(MPI_Alltoall(a, 4, MPI_INT, a, 4, MPI_INT, world));
}

/* MPI's own calls, which reach the preloaded functions too. */
static void file(void) {
  MPI_File handle;
  MPI_File_open(MPI_COMM_WORLD, "written", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle);
  MPI_File_write_at_all(handle, rank * 400, a, 100, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(handle, rank * 400, b, 100, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&handle);
}

static void* in_a_thread(void* comm) {
  int x[64], y[64 * 8];
  for (int k = 0; k < 20; ++k) {
    for (int i = 0; i < 64; ++i) x[i] = i + rank + k;
    MPI_Bcast(x, 64, MPI_INT, k % ranks, *(MPI_Comm*)comm);
    MPI_Allreduce(x, y, 64, MPI_INT, MPI_SUM, *(MPI_Comm*)comm);
    if (y[63] != ranks * (63 + k % ranks + k)) abort();
  }
  return NULL;
}

static void threads(void) {
  MPI_Comm comms[kThreads];
  pthread_t running[kThreads];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&running[i], NULL, in_a_thread, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(running[i], NULL);
}

int main(int argc, char** argv) {
  int provided;
  const char* what = argc > 1 ? argv[1] : "";
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kInts; ++i) {
    a[i] = 7 * i + 13 * rank + 1;
    b[i] = -i - rank;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (strcmp(what, "turned") == 0) types(turned());
  if (strcmp(what, "interleaved") == 0) types(interleaved());
  if (strcmp(what, "bottom") == 0) bottom();
  if (strcmp(what, "nothing") == 0) nothing();
  if (strcmp(what, "file") == 0) file();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "elsewhere") == 0 && chdir("/") == 0)
    MPI_Allreduce(a, b, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (strncmp(what, "refused", 7) == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (what[7] == '\0') refused();
    if (what[7] != '\0') refused_buffers();
  }
  take(a, sizeof a);
  take(b, sizeof b);
  printf("%s on rank %d: %lx\n", what, rank, hash);
  MPI_Comm_free(&world);
  MPI_Finalize();
  return 0;
}
