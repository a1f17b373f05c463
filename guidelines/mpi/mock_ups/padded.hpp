// The input of a reduction in ranks x ceil(count / ranks) elements.
#pragma once

#include "guidelines/mpi/mock_ups/call.hpp"

namespace nplus1::guidelines {

struct Padded {
  const char* input;  // the contribution, followed by zeros
  int piece;          // elements of each rank
  std::size_t piece_bytes;
  std::size_t bytes;
  bool copied;  // false: the ranks divide the count, and `input` is the caller's buffer
};

/// Uses the scratch's slot 0 if it has to pad.
[[nodiscard]] inline Padded pad(const Call& call, const Shape& shape, Scratch& scratch) {
  const int piece = padded_piece(call.count, shape.ranks);
  const std::size_t piece_bytes = shape.element * static_cast<std::size_t>(piece);
  const std::size_t bytes = piece_bytes * static_cast<std::size_t>(shape.ranks);
  if (bytes == shape.block) return {input(call), piece, piece_bytes, bytes, false};
  char* buffer = scratch.bytes(0, bytes);
  scratch.copy(buffer, input(call), shape.block);
  scratch.zero(buffer + shape.block, bytes - shape.block);
  return {buffer, piece, piece_bytes, bytes, true};
}

}  // namespace nplus1::guidelines
