#include "stubs/runtime/hooks/error_hook.hpp"

#include <string>

#include "events/mpi_call.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/pmpi.hpp"

namespace nplus1::stubs {
namespace {

constinit thread_local int silenced = 0;
/// MPI's own object of the last error's communicator.
constinit thread_local void* communicator_of_error = nullptr;

using Return = int(void* communicator, const char* function, int code);
Return* next() noexcept {
  static Return* const function = reinterpret_cast<Return*>(pmpi::next_symbol("MPIR_Err_return_comm"));
  return function;
}

}  // namespace

/// A call within a callback of the program's has its own errors.
int return_error(void* communicator, const char* function, int code) {
  if (silenced == 0 || call_state.depth > 1) return next()(communicator, function, code);
  communicator_of_error = communicator;
  return code;
}

QuietErrors::QuietErrors() noexcept {
  ++silenced;
}
QuietErrors::~QuietErrors() {
  --silenced;
}

int report(MPI_Comm comm, int code) {
  if (code == MPI_SUCCESS || next() == nullptr) return code;
  {
    const QuietErrors errors;
    communicator_of_error = nullptr;
    pmpi::Comm_rank(comm, nullptr);  // an error, of which we learn MPI's own object
  }
  if (communicator_of_error == nullptr) return code;  // MPI does not call handlers by that function
  const std::string function =
      "internal" + std::string{events::name(current_call()).substr(3)};  // as MPICH has it
  pmpi::detail::InMpi inside;
  const int reported = next()(communicator_of_error, function.c_str(), code);
  inside.has_returned = true;
  return reported;
}

bool is_complete(MPI_Request native, MPI_Status* status) {
  const QuietErrors errors;
  int flag = 0;
  return pmpi::Request_get_status(native, &flag, status) != MPI_SUCCESS || flag != 0;
}

}  // namespace nplus1::stubs

// NOLINT: name and types are MPICH's.
extern "C" __attribute__((visibility("default"))) int MPIR_Err_return_comm(void* communicator,
                                                                           const char* function, int code) {
  return nplus1::stubs::return_error(communicator, function, code);
}
