/* Collectives whose types have gaps on some ranks and none on others, which MPI allows: the same bytes either
 * way. Prints "ok" on rank 0, or says what differs. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kInts = 3, kStride = 2, kSpan = kInts * kStride, kMost = 16, kGap = -7 };

static int rank, ranks, bad;

static void fill(int* buffer, int n, int value) {
  for (int i = 0; i < n; ++i) buffer[i] = value;
}

/* Block b of a strided buffer holds value, value + 1, ... and its gaps are untouched. */
static void expect_strided(const char* what, const int* buffer, int block, int value) {
  for (int i = 0; i < kInts; ++i) {
    const int* at = buffer + block * kSpan + i * kStride;
    if (at[0] != value + i || (at[1] != kGap)) {
      printf("%s on rank %d, block %d: %d and %d\n", what, rank, block, at[0], at[1]);
      bad = 1;
    }
  }
}

int main(int argc, char** argv) {
  MPI_Datatype vector, strided;
  int wide[kMost * kSpan], own[kInts], all[kMost * kInts];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_vector(kInts, 1, kStride, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, kSpan * (MPI_Aint)sizeof(int), &strided);
  MPI_Type_commit(&strided);
  const int root = ranks - 1;

  fill(wide, kSpan, kGap);
  for (int i = 0; i < kInts; ++i) own[i] = 100 + i;
  if (rank == root)
    MPI_Bcast(own, kInts, MPI_INT, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(wide, 1, strided, root, MPI_COMM_WORLD);
  if (rank != root) expect_strided("Bcast", wide, 0, 100);

  fill(wide, kMost * kSpan, kGap);
  for (int i = 0; i < kInts; ++i) own[i] = 10 * rank + i;
  MPI_Gather(own, kInts, MPI_INT, wide, 1, strided, root, MPI_COMM_WORLD);
  for (int b = 0; rank == root && b < ranks; ++b) expect_strided("Gather", wide, b, 10 * b);

  fill(wide, kMost * kSpan, kGap);
  MPI_Allgather(own, kInts, MPI_INT, wide, 1, strided, MPI_COMM_WORLD);
  for (int b = 0; b < ranks; ++b) expect_strided("Allgather", wide, b, 10 * b);

  fill(wide, kMost * kSpan, kGap);
  for (int i = 0; i < kMost * kInts; ++i) all[i] = 10 * (i / kInts) + i % kInts;
  MPI_Scatter(all, kInts, MPI_INT, wide, 1, strided, root, MPI_COMM_WORLD);
  expect_strided("Scatter", wide, 0, 10 * rank);

  fill(wide, kMost * kSpan, kGap);
  for (int i = 0; i < kMost * kInts; ++i) all[i] = 100 * rank + 10 * (i / kInts) + i % kInts;
  MPI_Alltoall(all, kInts, MPI_INT, wide, 1, strided, MPI_COMM_WORLD);
  for (int b = 0; b < ranks; ++b) expect_strided("Alltoall", wide, b, 100 * b + 10 * rank);

  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", bad ? "different" : "ok");
  MPI_Type_free(&vector);
  MPI_Type_free(&strided);
  MPI_Finalize();
  return bad;
}
