// nplus1_send_to_self: data that a rank keeps for itself in what it does by hand, so that no message shows
// it. An event of no duration with the data's hashes, as Send_To_Self of Calotoiu et al. (2012, section 4).
// From any thread; does nothing where nothing is recorded; never fails.
#pragma once

#include <mpi.h>

namespace nplus1::stubs {

/// `return_address`, `frame`: of the function that the application called.
void record_own_part(const void* buffer, MPI_Count count, MPI_Datatype type, const void* return_address,
                     const void* frame);

}  // namespace nplus1::stubs
