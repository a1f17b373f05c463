// The end of an access to a file that does not block (docs/files.md). With the runtime's lock held; nothing fails.
#pragma once

#include "stubs/runtime/requests/requests.hpp"

namespace nplus1::stubs {

/// Whether MPI has ended the access, which only MPI_Test and MPI_Wait make some of MPI's files go on with: from then on
/// `native` is a request of ours that is complete, with the same status.
bool has_ended(Request& access);

}  // namespace nplus1::stubs
