// Compares an original or a mock-up, on random data, with what it must give: before it is timed, and in its test. All
// ranks of the communicator call together and get the same answer.
#pragma once

#include <functional>
#include <string>

#include "guidelines/mpi/buffers.hpp"

namespace nplus1::guidelines {

/// An original, or a mock-up of ours or of the user's (own_mock_up.hpp).
using AnyRun = std::function<int(const Call&, Scratch&)>;

/// Compares the results of every rank, byte for byte, with those of messages alone (reference.hpp), or where there are none or
/// in place, of the original. Empty, or what is wrong, for people: the first rank that differs.
[[nodiscard]] std::string difference(const Operation& operation, const AnyRun& run, const Case& c,
                                     MPI_Comm comm);

}  // namespace nplus1::guidelines
