// A private copy of a send buffer, for a send that the application may forget before the MPI library has: in
// virtual time the message has left, natively it waits for its receiver. Sent in place of the original, with
// the same type signature (a span of memory with its datatype, or packed bytes as MPI_PACKED).
//
// A copy may fail: there is no memory for it, or its type spans more addresses than a process may have. Then buffer() is
// null, and who wanted it sends the original and waits for MPI. Only what the type touches is ever read: memory between
// two arrays of one struct type need not be there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace nplus1::stubs {

class PrivateCopy {
 public:
  PrivateCopy() = default;
  /// Copies `count` elements of `type` at `buffer`. `packable`: MPI_PACKED may stand for the type (not in
  /// reductions, nor where blocks are found by their places).
  PrivateCopy(const void* buffer, MPI_Count count, MPI_Datatype type, bool packable = true) noexcept;

  /// Memory for what lies from `first` to `first` + `span` behind a buffer, for add().
  PrivateCopy(MPI_Count first, MPI_Count span) noexcept;
  /// Copies `count` elements of `type`, `offset` bytes behind `buffer`. False if that failed.
  bool add(const void* buffer, MPI_Count offset, MPI_Count count, MPI_Datatype type) noexcept;

  /// What to pass to MPI instead of (buffer, count, type); null if there is no copy.
  [[nodiscard]] const void* buffer() const { return address_; }
  [[nodiscard]] void* buffer() { return address_; }
  [[nodiscard]] MPI_Count count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  struct Release {
    std::size_t mapped;  // bytes, if the memory came from mmap, else 0
    void operator()(std::byte* memory) const noexcept;
  };

  bool reserve(MPI_Count bytes) noexcept;
  void copy_packed(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept;

  std::unique_ptr<std::byte[], Release> memory_;
  void* address_ = nullptr;
  MPI_Count count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

/// Payload bytes of `count` elements of `type`; 0 for a type that cannot be communicated.
[[nodiscard]] MPI_Count payload_bytes(MPI_Count count, MPI_Datatype type);
/// MPI_Pack that takes MPI_BOTTOM too (a type with absolute addresses), which MPICH's refuses. MPI's code.
int pack(const void* buffer, MPI_Count count, MPI_Datatype type, void* packed, MPI_Count size,
         MPI_Count& position);
/// The memory that `count` elements touch: from `first` (relative to the buffer) to `first` + `span`.
void touched(MPI_Count count, MPI_Datatype type, MPI_Count& first, MPI_Count& span);

}  // namespace nplus1::stubs
