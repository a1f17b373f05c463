#include "guidelines/mpi/verify.hpp"

#include <cstring>

namespace nplus1::guidelines {
namespace {

/// The lowest rank that says false, or -1.
int first_false(bool good, int rank, int ranks, MPI_Comm comm) {
  int mine = good ? ranks : rank, lowest = ranks;
  MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
  return lowest == ranks ? -1 : lowest;
}

}  // namespace

std::string difference(const Operation& operation, const AnyRun& mock_up, const Case& c, MPI_Comm comm) {
  Scratch scratch;
  Buffers expected{operation, c, comm}, found{operation, c, comm};
  int codes = operation.run(expected.call(), scratch);
  if (codes == MPI_SUCCESS) codes = mock_up(found.call(), scratch);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const bool same =
      codes == MPI_SUCCESS && std::memcmp(expected.result(), found.result(), found.result_bytes()) == 0;
  if (const int bad = first_false(same, rank, ranks, comm); bad >= 0)
    return "rank " + std::to_string(bad) + " has another result";
  if (const int bad = first_false(found.unharmed(), rank, ranks, comm); bad >= 0)
    return "rank " + std::to_string(bad) + " wrote where it must not";
  return {};
}

}  // namespace nplus1::guidelines
