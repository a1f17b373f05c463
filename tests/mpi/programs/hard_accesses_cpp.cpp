// Exceptions through frames whose arrays were received into, and vectors that grow; two ranks.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int rank = 0;

double received(int depth) {
  std::vector<double> data(5000, -1.0);
  double local[600] = {};
  if (rank == 0) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i);
    MPI_Send(data.data(), 5000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(data.data(), 600, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(data.data(), 5000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(local, 600, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (depth > 0) {
    try {
      return received(depth - 1) + data[17];
    } catch (const std::runtime_error& error) {
      throw std::runtime_error{std::string{error.what()} + (local[599] > 0 ? "x" : "y")};
    }
  }
  data.resize(9000, data[4999]);
  if (data[8999] > 0) throw std::runtime_error{"far"};
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    try {
      received(4);
    } catch (const std::exception& error) {
      std::printf("%d: %s\n", rank, error.what());
    }
  }
  MPI_Finalize();
}
