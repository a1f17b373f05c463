/* Each rank tells of two parts that it keeps: 12 doubles, rank + i / 10 (i from 0), and 4 integers, 10 rank +
 * i. No message is sent. TELLS(n) marks the lines that payload_test.py looks for; so do the same in C++ and
 * Fortran. */
#include <mpi.h>

#include "nplus1.h"

int main(int argc, char** argv) {
  double reals[12];
  int integers[4], rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 12; ++i) reals[i] = rank + i / 10.0;
  for (int i = 0; i < 4; ++i) integers[i] = 10 * rank + i;
  nplus1_send_to_self(reals, 12, MPI_DOUBLE); /* TELLS(1) */
  nplus1_send_to_self(integers, 4, MPI_INT);  /* TELLS(2) */
  MPI_Finalize();
  return 0;
}
