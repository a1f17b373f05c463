// A private copy of a send buffer, for a send that the application may forget before the MPI library has: in
// virtual time the message has left, natively it waits for its receiver. Sent in place of the original, with
// the same type signature (a span of memory with its datatype, or packed bytes as MPI_PACKED).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace nplus1::stubs {

class PrivateCopy {
 public:
  PrivateCopy() = default;
  /// Copies `count` elements of `type` at `buffer`. `packable`: MPI_PACKED may stand for the type (not in
  /// reductions).
  PrivateCopy(const void* buffer, MPI_Count count, MPI_Datatype type, bool packable = true);

  /// What to pass to MPI instead of (buffer, count, type).
  [[nodiscard]] const void* buffer() const { return address_; }
  [[nodiscard]] void* buffer() { return address_; }
  [[nodiscard]] MPI_Count count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  void* address_ = nullptr;
  MPI_Count count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

/// Payload bytes of `count` elements of `type`.
[[nodiscard]] MPI_Count payload_bytes(MPI_Count count, MPI_Datatype type);
/// MPI_Pack that takes MPI_BOTTOM too (a type with absolute addresses), which MPICH's refuses.
void pack(const void* buffer, MPI_Count count, MPI_Datatype type, void* packed, MPI_Count size,
          MPI_Count& position);
/// The memory that `count` elements touch: from `first` (relative to the buffer) to `first` + `span`.
void touched(MPI_Count count, MPI_Datatype type, MPI_Count& first, MPI_Count& span);

}  // namespace nplus1::stubs
