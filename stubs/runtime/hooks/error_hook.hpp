// Errors that MPI finds in calls of ours, reported as those of the program's call. We look whether a request is complete,
// and wait for it, by other functions than the program has called, and MPI would report an error there: twice, at
// MPI_COMM_WORLD's error handler instead of the communicator's (MPICH's receives do not know theirs), and in the other
// function's name. MPICH calls handlers in one function, MPIR_Err_return_comm, which is interposed.
//
// Where MPI has no such function, all is as MPI does it. Any thread; nothing here fails.
#pragma once

#include <mpi.h>

namespace nplus1::stubs {

/// While one lives, what this thread calls of MPI returns its code and reports no error. They may be nested.
class QuietErrors {
 public:
  QuietErrors() noexcept;
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
};

/// What MPI says at the end of a call of the program's on `comm`: an error `code` goes to the handler of `comm` in that
/// call's name. Returns what the call returns. Without the runtime's lock.
int report(MPI_Comm comm, int code);

/// PMPI_Request_get_status without a word of an error: whether MPI is done with it.
[[nodiscard]] bool is_complete(MPI_Request native, MPI_Status* status = MPI_STATUS_IGNORE);

}  // namespace nplus1::stubs
