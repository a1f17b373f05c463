// Completing calls: the virtual outcome first (which requests, when), then the native completion.
#pragma once

#include <mpi.h>

#include <span>

#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

/// Waits for the virtual end of all `requests` (one kWait event) and lets the clock go on from there.
void end_all(Call& call, std::span<Request* const> requests);

/// Whether the virtual ends that are known of `requests` can be compared with the call's entry: not those to come of a
/// thread that is adrift.
[[nodiscard]] bool all_can_be_compared(const Call& call, std::span<Request* const> requests);

/// Whether the native part of a virtually complete request must be waited for; if not (an eager send that MPI
/// still holds), it was left in the background and `request.native` is null.
void settle_native(Call& call, Request& request);

/// Whether a virtually complete request need not be complete natively before the program goes on: an eager send, what
/// leaves from a copy, and a collective of which nothing is awaited here any more.
bool may_finish_later(const Call& call, const Request& request);

/// After the native completion: what the application's handle becomes, and what the request leaves behind.
void retire(Call& call, MPI_Request& handle);

/// Clears a status as for a completed send or an inactive request.
void set_empty(MPI_Status* status);

/// The event of a completing call or test over `requests`, with its extension in `slots`.
events::Event completion_event(events::EventKind kind, events::CompletionMode mode,
                               std::span<Request* const> requests, std::vector<std::uint32_t>& slots);

}  // namespace nplus1::stubs
