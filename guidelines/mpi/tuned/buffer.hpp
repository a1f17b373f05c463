// What one rank sends or receives, as the call has it, and what MPI refuses about it. Any thread.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace nplus1::guidelines::tuned {

inline constexpr std::uint64_t kNoSize = UINT64_MAX;  // of what is no number of elements, or no type

#ifdef OPEN_MPI
inline constexpr bool kGathersInOneBuffer = true;  // a root may have the same buffer twice
#else
inline constexpr bool kGathersInOneBuffer = false;
#endif

struct Buffer {
  const void* address;
  int count;
  MPI_Datatype type;

  [[nodiscard]] bool is_in_place() const { return address == MPI_IN_PLACE; }

  [[nodiscard]] std::uint64_t bytes() const;

  /// False where MPI refuses it: nothing, MPI_IN_PLACE, a type that is not committed. Of types with absolute addresses, which
  /// begin elsewhere than at 0, null is MPI_BOTTOM. To be asked of a buffer that has a size.
  [[nodiscard]] bool is_there() const;

  /// There, and so many bytes.
  [[nodiscard]] bool holds(std::uint64_t size) const { return bytes() == size && is_there(); }
};

/// The same memory, other than MPI_BOTTOM.
[[nodiscard]] bool are_one(const Buffer& a, const Buffer& b);

/// Both buffers of a rank that sends and receives: `size` bytes each, of which `placed` may be in place.
[[nodiscard]] bool are_there(const Buffer& placed, const Buffer& other, std::uint64_t size);

}  // namespace nplus1::guidelines::tuned
