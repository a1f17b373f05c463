// Generates the six entry points of a collective (blocking, non-blocking, persistent; int and large counts)
// from one description. C is the count type, D the displacement type of the form.
#pragma once

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/collectives/collective.hpp"

#define NPLUS1_UNPACK(...) __VA_ARGS__

#define NPLUS1_FORM(X, IX, describe, C, D, PARAMETERS, ARGUMENTS)                                   \
  int X(NPLUS1_UNPACK PARAMETERS) {                                                                 \
    return run(describe<C, D>(NPLUS1_UNPACK ARGUMENTS));                                            \
  }                                                                                                 \
  int IX(NPLUS1_UNPACK PARAMETERS, MPI_Request* request) {                                          \
    return start(describe<C, D>(NPLUS1_UNPACK ARGUMENTS), request);                                 \
  }                                                                                                 \
  int X##_init(NPLUS1_UNPACK PARAMETERS, MPI_Info info, MPI_Request* request) {                     \
    return make_persistent(describe<C, D>(NPLUS1_UNPACK ARGUMENTS), request,                        \
                           [&] { return pmpi::X##_init(NPLUS1_UNPACK ARGUMENTS, info, request); }); \
  }

namespace nplus1::stubs {

/// The description's start: the communicator and what all kinds share. `own`: the argument that may be MPI_IN_PLACE.
Collective describe(CollectiveKind kind, MPI_Comm comm, bool synchronises, const void* own = nullptr);

}  // namespace nplus1::stubs
