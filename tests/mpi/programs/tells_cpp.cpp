// tells.c in C++.
#include <mpi.h>

#include <array>
#include <vector>

#include "nplus1.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> reals;
  for (int i = 0; i < 12; ++i) reals.push_back(rank + i / 10.0);
  std::array<int, 4> integers{};
  for (int i = 0; i < 4; ++i) integers[i] = 10 * rank + i;
  nplus1_send_to_self(reals.data(), static_cast<int>(reals.size()), MPI_DOUBLE);  // TELLS(1)
  nplus1_send_to_self(integers.data(), 4, MPI_INT);                               // TELLS(2)
  MPI_Finalize();
}
