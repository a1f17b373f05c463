#include "guidelines/mpi/tuned/buffer.hpp"

#include "guidelines/mpi/tuned/types.hpp"

namespace nplus1::guidelines::tuned {

std::uint64_t Buffer::bytes() const {
  int size = 0;
  if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0)
    return kNoSize;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

bool Buffer::is_there() const {
  if (is_in_place()) return false;
  if (is_predefined(type)) return address != nullptr;
  MPI_Aint begin = 0, extent = 0;
  if (address == nullptr && PMPI_Type_get_true_extent(type, &begin, &extent) == MPI_SUCCESS && begin == 0)
    return false;
  int packed = 0;
  return PMPI_Pack_size(1, type, MPI_COMM_SELF, &packed) == MPI_SUCCESS;
}

bool are_one(const Buffer& a, const Buffer& b) {
  return a.address == b.address && a.address != nullptr;
}

bool are_there(const Buffer& placed, const Buffer& other, std::uint64_t size) {
  return other.holds(size) && (placed.is_in_place() || placed.holds(size));
}

}  // namespace nplus1::guidelines::tuned
