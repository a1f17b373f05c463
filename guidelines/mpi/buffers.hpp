// The buffers that an operation is measured and verified on, with the datatype and the communicator that it
// needs. All ranks of the communicator construct and destroy together, before MPI_Finalize.
#pragma once

#include <mpi.h>

#include <vector>

#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

struct Case {
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_BOR;
  int root = 0;
  bool in_place = false;
  unsigned seed = 1;
};

/// The buffers of one rank for one operation: random contents, guard bytes behind, null where not
/// significant.
class Buffers {
 public:
  Buffers(const Operation& operation, const Case& c, MPI_Comm comm);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// Stays valid as long as this object does; the buffers' contents are what the last call left.
  [[nodiscard]] Call call();

  /// Random contents again, the same each time.
  void fill();

  /// What the operation defines to be in this rank's receive buffer; of a type with gaps also the gaps, which
  /// it must leave alone.
  [[nodiscard]] const char* result() const { return receive_.data(); }
  [[nodiscard]] std::size_t result_bytes() const { return result_bytes_; }

  /// False when the send buffer has changed or something was written behind a buffer's end.
  [[nodiscard]] bool unharmed() const;

 private:
  void choose_place(const Operation& operation);

  Case case_;
  Call call_;  // with null buffers
  bool own_type_ = false, own_comm_ = false;
  bool send_in_place_ = false, receive_in_place_ = false;
  bool sends_ = false, receives_ = false;
  int rank_ = 0;
  std::size_t result_bytes_ = 0;
  std::vector<char> send_, receive_;
  std::vector<char> send_before_;
};

/// `bytes` bytes in blocks of 8, or of the largest power of two that divides `bytes`, each followed by a gap
/// as long: committed, with an extent of twice its size. `bytes` is positive.
[[nodiscard]] MPI_Datatype vector_of(int bytes);

/// The ranks of `comm` as a torus of two dimensions (MPI_Dims_create), without reordering. A rank that would
/// be a neighbour twice, or of itself, is so once or not at all: MPI libraries differ on which of its blocks
/// is which (MPI 4.0, section 8.6).
[[nodiscard]] MPI_Comm torus_of(MPI_Comm comm);

}  // namespace nplus1::guidelines
