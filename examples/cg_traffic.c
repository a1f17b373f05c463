/* The messages of NPB CG, class S, on 4 ranks, without its arithmetic: the oracle for the message counts in
 * Riesen's paper. Row 0 of the message density is 416 to itself, 1264 to rank 1, none to 2 and 3; one
 * Barrier; one Reduce.
 *
 * CG lays 4 ranks out as 2 x 2. 16 calls of conj_grad (one untimed) make 26 matrix-vector products each: one
 * exchange of 700 doubles with the row partner (reduction) and one with the transpose partner, which for
 * ranks 0 and 3 is the rank itself. 16 * 26 = 416. The row partner also sees the dot products: two per inner
 * iteration (25), rho before and the residual norm after them, and two norms per outer iteration: 16 * (26 +
 * 52 + 1) = 1264. */
#include <mpi.h>
#include <stdio.h>

enum { kOuter = 16, kInner = 25, kSegment = 700, kTag = 1 };

static int rank;
static double checksum = 0;

static void exchange(int partner, int count) {
  static double out[kSegment], in[kSegment];
  MPI_Request request;
  for (int i = 0; i < count; ++i) out[i] = rank + i;
  MPI_Irecv(in, count, MPI_DOUBLE, partner, kTag, MPI_COMM_WORLD, &request);
  MPI_Send(out, count, MPI_DOUBLE, partner, kTag, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  checksum += in[0] + in[count - 1];
}

static void matrix_vector_product(int row_partner, int transpose_partner) {
  exchange(row_partner, kSegment);
  exchange(transpose_partner, kSegment);
}

static void conj_grad(int row_partner, int transpose_partner) {
  exchange(row_partner, 1); /* rho */
  for (int iteration = 0; iteration < kInner; ++iteration) {
    matrix_vector_product(row_partner, transpose_partner);
    exchange(row_partner, 1); /* p.q */
    exchange(row_partner, 1); /* rho */
  }
  matrix_vector_product(row_partner, transpose_partner);
  exchange(row_partner, 1); /* norm of the residual */
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 4) {
    if (rank == 0) fprintf(stderr, "cg_traffic: needs exactly 4 ranks, got %d\n", size);
    MPI_Finalize();
    return 2;
  }
  const int row_partner = rank ^ 1;
  const int transpose_partner = rank % 2 * 2 + rank / 2;
  for (int outer = 0; outer < kOuter; ++outer) {
    if (outer == 1) MPI_Barrier(MPI_COMM_WORLD); /* before the timed part */
    conj_grad(row_partner, transpose_partner);
    exchange(row_partner, 2); /* both norms at once */
  }
  double total = 0;
  MPI_Reduce(&checksum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("cg_traffic: checksum %.0f\n", total);
  MPI_Finalize();
  return 0;
}
