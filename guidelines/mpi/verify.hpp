// Compares a mock-up with its original on random data: before it is timed, and in its test. All ranks of the
// communicator call together and get the same answer.
#pragma once

#include <mpi.h>

#include <string>
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

  /// Stays valid as long as this object does; the buffers' contents are what the last call left.
  [[nodiscard]] Call call();

  /// Random contents again, the same each time.
  void fill();

  /// What the operation defines to be in this rank's receive buffer.
  [[nodiscard]] const char* result() const { return receive_.data(); }
  [[nodiscard]] std::size_t result_bytes() const { return result_bytes_; }

  /// False when the send buffer has changed or something was written behind a buffer's end.
  [[nodiscard]] bool unharmed() const;

 private:
  Case case_;
  MPI_Comm comm_;
  bool send_in_place_ = false, receive_in_place_ = false;
  bool sends_ = false, receives_ = false;
  int rank_ = 0;
  std::size_t result_bytes_ = 0;
  std::vector<char> send_, receive_;
  std::vector<char> send_before_;
};

/// Runs both and compares the results of every rank, byte for byte. Empty, or what is wrong, for people: the
/// first rank that differs.
[[nodiscard]] std::string difference(const Operation& operation, Run mock_up, const Case& c, MPI_Comm comm);

}  // namespace nplus1::guidelines
