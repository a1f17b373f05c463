#include "guidelines/mpi/verify.hpp"

#include <cstring>

#include "guidelines/mpi/reference.hpp"

namespace nplus1::guidelines {
namespace {

/// The lowest rank that says false, or -1.
int first_false(bool good, int rank, int ranks, MPI_Comm comm) {
  int mine = good ? ranks : rank, lowest = ranks;
  MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
  return lowest == ranks ? -1 : lowest;
}

}  // namespace

std::string difference(const Operation& operation, const AnyRun& run, const Case& c, MPI_Comm comm) {
  Scratch scratch;
  Buffers expected{operation, c, comm}, found{operation, c, comm};
  const Run reference = c.in_place ? nullptr : reference_of(operation);
  int codes = (reference != nullptr ? reference : operation.run)(expected.call(), scratch);
  if (codes == MPI_SUCCESS) codes = run(found.call(), scratch);
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
