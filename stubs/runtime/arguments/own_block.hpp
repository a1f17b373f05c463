// The block that a rank sends to itself in a collective, moved at once so that the rank can leave before the
// others come. With arguments that MPI would refuse nothing is moved: the call then goes to MPI as it is,
// which reports the error through the communicator's own error handler. Any thread, with the runtime's lock
// held.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace nplus1::stubs {

/// `displacement` elements of `type` behind `buffer`.
[[nodiscard]] std::byte* block_at(const void* buffer, MPI_Count displacement, MPI_Datatype type);

/// Whether copy_own_block() may be called. `displacement` is in elements of `sendtype`.
[[nodiscard]] bool can_copy_own_block(const void* sendbuf, MPI_Count displacement, MPI_Count sendcount,
                                      MPI_Datatype sendtype, const void* recvbuf, MPI_Count recvcount,
                                      MPI_Datatype recvtype);

/// Moves the block, so that the receive buffer is the application's again. Returns MPI's code.
int copy_own_block(const void* sendbuf, MPI_Count displacement, MPI_Count sendcount, MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype);

}  // namespace nplus1::stubs
