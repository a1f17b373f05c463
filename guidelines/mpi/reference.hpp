// What a collective must give, made of sends, receives and MPI_Reduce_local alone: the MPI library's own collectives are what
// is in doubt. All ranks of the communicator call together.
#pragma once

#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {

/// The same as the operation of that name, slowly; null for those that are made of messages themselves. Not in place.
[[nodiscard]] Run reference_of(const Operation& operation);

}  // namespace nplus1::guidelines
