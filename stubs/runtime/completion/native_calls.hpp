// Calls of a native recording (nplus1 run --native --record): MPI does what it does without us, and what came
// of it is told afterwards. Completing calls are MPI's own, on the native requests; called with the lock
// held, which is released while MPI waits.
#pragma once

#include <mpi.h>

#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs::native {

/// The end of a blocking receive or of one half of a combined one.
int finish_receive(Call& call, Request& request, MPI_Status* status);
/// What a probe or a receive has found, for the call's own outcome.
void note_message(Call& call, const Communicator& comm, const MPI_Status& status);

}  // namespace nplus1::stubs::native
