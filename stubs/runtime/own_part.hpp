// Data that a rank keeps for itself in what it does by hand, so that no message shows it: an event of no
// duration with the data's hashes, as Send_To_Self of Calotoiu et al. (2012, section 4). Told by the program
// (nplus1_send_to_self), or inferred (stubs/runtime/capture/kept_parts.hpp). From any thread; does nothing where
// nothing is recorded; never fails.
#pragma once

#include <mpi.h>

#include "stubs/runtime/point_to_point.hpp"

namespace nplus1::stubs {

/// `return_address`, `frame`: of the function that the application called.
void record_own_part(const void* buffer, MPI_Count count, MPI_Datatype type, const void* return_address,
                     const void* frame);

/// Before the event of a send, a receive: parts that may be kept, by the addresses of messages so far.
void infer_block_kept(Call& call, const Transfer& send);
void infer_parts_added_to(Call& call, const Transfer& receive);

}  // namespace nplus1::stubs
