#include "stubs/runtime/completion/file_requests.hpp"

#include <memory>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"

namespace nplus1::stubs {
namespace {

/// How an access has ended, for whoever looks at its request: a generalized one (MPI 4.0, section 13.2).
struct Ended {
  MPI_Count bytes;
  int code;
};

int tell_end(void* state, MPI_Status* status) {
  const auto* const ended = static_cast<const Ended*>(state);
  pmpi::Status_set_elements_x(status, MPI_BYTE, ended->bytes);
  pmpi::Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return ended->code;
}

int release_end(void* state) {
  delete static_cast<Ended*>(state);
  return MPI_SUCCESS;
}

int cancel_nothing(void* /*state*/, int /*complete*/) {
  return MPI_SUCCESS;
}

}  // namespace

bool has_ended(Request& access) {
  if (access.ended) return true;
  const QuietErrors errors;
  int flag = 0;
  MPI_Status status;
  const int code = pmpi::Test(&access.native, &flag, &status);
  if (flag == 0 && code == MPI_SUCCESS) return false;
  auto ended = std::make_unique<Ended>(Ended{0, code});
  if (code == MPI_SUCCESS) pmpi::Get_elements_x(&status, MPI_BYTE, &ended->bytes);
  pmpi::Grequest_start(tell_end, release_end, cancel_nothing, ended.release(), &access.native);
  pmpi::Grequest_complete(access.native);
  return access.ended = true;
}

}  // namespace nplus1::stubs
