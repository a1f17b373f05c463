// Sends and receives, as the handlers of blocking, non-blocking, persistent and combined calls use them.
#pragma once

#include <mpi.h>

#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

/// A send or receive as the application asked for it.
struct Transfer {
  const void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int peer = MPI_PROC_NULL;
  int tag = 0;
  Communicator* comm = nullptr;
  events::SendMode mode = events::SendMode::kStandard;
  std::optional<Payload> shown{};  // what the application passed, where the above is a copy of it
  KnownDatatype datatype{};        // its type, where it may have been freed since
  const OwnType* own = nullptr;    // where `type` is ours
};

/// Starts the send natively and in virtual time (kIsend); fills `request` (not yet in the table). MPI's
/// return code; on failure nothing has happened.
int start_send(Call& call, const Transfer& transfer, Request& request);
/// Starts the receive (kIrecv); holds it back where only the simulator can tell its match.
int start_receive(Call& call, const Transfer& transfer, Request& request);

/// Native part of a send only: `request.native`, `request.copy`, `request.eager`.
int post_send(Call& call, const Transfer& transfer, Request& request);
/// Publishes a posted send to simulator and receiver as `kind`; returns when it is free if that is known
/// here.
void announce_send(Call& call, const Transfer& transfer, Request& request, events::EventKind kind,
                   std::uint8_t flags = 0);
/// Native part of a receive and its entry in the mailbox.
int post_receive(Call& call, const Transfer& transfer, Request& request);
void announce_receive(Call& call, const Transfer& transfer, Request& request, events::EventKind kind,
                      std::uint8_t flags = 0);

/// Whether the virtual completion of `request` can be found out without the simulator.
[[nodiscard]] bool locally_decided(const Runtime& rt, const Request& request);

/// What a finished virtual send leaves behind natively: nothing, or a native send in the background.
void release_send(Call& call, Request& request);
/// Whether a virtually complete send must be waited for natively: MPI works on the application's own buffer,
/// and may do so for long.
bool waits_natively(const Request& send);

/// Takes back a native receive that was posted in vain (its call failed otherwise).
void abandon(Request& receive);

/// Refuses what MPI would (arguments.hpp): before anything is told.
void check_send(const Transfer& transfer);
void check_receive(const Transfer& transfer);

/// Finds the communicator, or passes the whole call through as unmodelled.
[[nodiscard]] Communicator* communicator(MPI_Comm comm);

}  // namespace nplus1::stubs
