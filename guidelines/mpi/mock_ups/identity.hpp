// Data movement by reduction: everybody's block at its place, zeros elsewhere, and a bitwise or over all
// ranks. Bytes and MPI_BOR, because their identity is 0 whatever the type.
#pragma once

#include "guidelines/mpi/mock_ups/call.hpp"

namespace nplus1::guidelines {

/// Fills `buffer` (shape.all() bytes) with zeros but for the own block, which may stand there already.
inline void insert_into_identity(void* buffer, const void* own, const Shape& shape, Scratch& scratch) {
  const std::size_t begin = shape.offset(shape.rank);
  scratch.copy(at(buffer, begin), own, shape.block);
  scratch.zero(buffer, begin);
  scratch.zero(at(buffer, begin + shape.block), shape.all() - begin - shape.block);
}

}  // namespace nplus1::guidelines
