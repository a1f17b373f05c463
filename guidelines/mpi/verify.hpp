// Compares a mock-up with its original on random data: before it is timed, and in its test. All ranks of the
// communicator call together and get the same answer.
#pragma once

#include <functional>
#include <string>

#include "guidelines/mpi/buffers.hpp"

namespace nplus1::guidelines {

/// A mock-up of ours or of the user's (own_mock_up.hpp).
using AnyRun = std::function<int(const Call&, Scratch&)>;

/// Runs both and compares the results of every rank, byte for byte. Empty, or what is wrong, for people: the
/// first rank that differs.
[[nodiscard]] std::string difference(const Operation& operation, const AnyRun& mock_up, const Case& c,
                                     MPI_Comm comm);

}  // namespace nplus1::guidelines
