// Calls through inlined functions and a class; a line with SEND(tag) marks each call, BY(tag) who made it.
// Built with -O2 by GCC and by clang, there with DWARF 5.
#include <mpi.h>

#include <vector>

namespace {

inline __attribute__((always_inline)) void send_values(const std::vector<double>& values, int tag) {
  MPI_Send(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);  // SEND(1)
}

class Solver {
 public:
  __attribute__((noinline)) void step(int tag) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<double>(i) + 0.5;
    send_values(values_, tag);  // BY(1)
    asm volatile("" ::: "memory");
  }

 private:
  std::vector<double> values_ = std::vector<double>(32);
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    Solver solver;
    solver.step(1);  // FROM(1)
  } else {
    std::vector<double> values(32);
    MPI_Recv(values.data(), 32, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}
