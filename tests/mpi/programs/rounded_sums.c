/* Reductions of floating-point numbers whose result shows in which order they were combined, to the last bit. Rank 0
   prints a hash of each rank's result of each form. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostRanks = 16, kForms = 6 };

static void product_and_sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((double*)inout)[i] = ((double*)in)[i] * 1.0000001 + ((double*)inout)[i];
}

static uint64_t hash_of(const void* data, size_t bytes) {
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  return hash;
}

int main(int argc, char** argv) {
  static const int counts[] = {0, 1, 3, 100, 1000, 5000, 70000};
  int rank, ranks, blocks[kMostRanks];
  MPI_Op own;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op_create(product_and_sum, 0, &own);
  const MPI_Op operations[] = {MPI_SUM, MPI_PROD, MPI_MAX, own};
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
    const int n = counts[c];
    double* in = malloc(sizeof(double) * (size_t)(n + 1));
    double* out = malloc(sizeof(double) * (size_t)(n + 1));
    srand(7 * rank + 1);
    for (int i = 0; i < n; ++i) in[i] = 0.5 + (double)rand() / RAND_MAX * (1 + rank);
    for (int i = 0; i < ranks; ++i) blocks[i] = i == 1 ? 0 : n / ranks; /* one is empty */
    for (int o = 0; o < 4; ++o) {
      for (int form = 0; form < kForms; ++form) {
        memset(out, 0, sizeof(double) * (size_t)(n + 1));
        memcpy(out, in, form == 2 ? sizeof(double) * (size_t)n : 0);
        const int root = (int)c % ranks;
        if (form == 0) MPI_Reduce(in, out, n, MPI_DOUBLE, operations[o], root, MPI_COMM_WORLD);
        if (form == 1) MPI_Allreduce(in, out, n, MPI_DOUBLE, operations[o], MPI_COMM_WORLD);
        if (form == 2) MPI_Scan(MPI_IN_PLACE, out, n, MPI_DOUBLE, operations[o], MPI_COMM_WORLD);
        if (form == 3) MPI_Exscan(in, out, n, MPI_DOUBLE, operations[o], MPI_COMM_WORLD);
        if (form == 4) MPI_Reduce_scatter(in, out, blocks, MPI_DOUBLE, operations[o], MPI_COMM_WORLD);
        if (form == 5)
          MPI_Reduce_scatter_block(in, out, n / ranks, MPI_DOUBLE, operations[o], MPI_COMM_WORLD);
        uint64_t hash = form != 0 || rank == root ? hash_of(out, sizeof(double) * (size_t)n) : 0,
                 hashes[kMostRanks];
        MPI_Gather(&hash, 1, MPI_UINT64_T, hashes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (rank != 0) continue; /* lines of several ranks may mix */
        printf("%d numbers, operation %d, form %d:", n, o, form);
        for (int i = 0; i < ranks; ++i) printf(" %016llx", (unsigned long long)hashes[i]);
        printf("\n");
      }
    }
    free(in);
    free(out);
  }
  MPI_Op_free(&own);
  MPI_Finalize();
  return 0;
}
