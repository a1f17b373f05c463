// Open MPI calls all handlers of communicators in ompi_errhandler_invoke, also those of requests that have failed.
#include "stubs/runtime/hooks/error_hook.hpp"

#include <string>

#include "events/mpi_call.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/pmpi.hpp"

namespace nplus1::stubs {
namespace {

constinit thread_local int calls_are_quiet = 0;
/// The function in whose name the next error is reported; null: MPI's own word.
constinit thread_local const char* reporting_as = nullptr;

using Invoke = int(void* handler, void* object, int type, int code, const char* function);

/// A call within a callback of the program's has its own errors.
int invoke(void* handler, void* object, int type, int code, const char* function) {
  static auto* const next = reinterpret_cast<Invoke*>(pmpi::next_symbol("ompi_errhandler_invoke"));
  if (calls_are_quiet > 0 && call_state.depth <= 1) return code;
  const char* const name = reporting_as == nullptr ? function : reporting_as;
  reporting_as = nullptr;
  return next(handler, object, type, code, name);
}

}  // namespace

QuietErrors::QuietErrors() noexcept {
  ++calls_are_quiet;
}
QuietErrors::~QuietErrors() {
  --calls_are_quiet;
}

int report(MPI_Comm comm, int code) {
  if (code == MPI_SUCCESS) return code;
  const std::string function{events::name(current_call())};
  reporting_as = function.c_str();
  pmpi::Comm_call_errhandler(comm, code);
  reporting_as = nullptr;
  return code;
}

bool is_complete(MPI_Request native, MPI_Status* status) {
  const QuietErrors errors;
  int flag = 0;
  return pmpi::Request_get_status(native, &flag, status) != MPI_SUCCESS || flag != 0;
}

}  // namespace nplus1::stubs

// NOLINT: name and types are Open MPI's.
extern "C" __attribute__((visibility("default"))) int ompi_errhandler_invoke(void* handler, void* object,
                                                                             int type, int code,
                                                                             const char* function) {
  return nplus1::stubs::invoke(handler, object, type, code, function);
}
