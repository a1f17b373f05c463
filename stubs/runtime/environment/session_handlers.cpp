// MPI_Session_init and MPI_Session_finalize (MPI 4.0, section 11.3): a job that begins with the first of the ones is observed
// until the last of the others.
#include "stubs/guard/guard.hpp"
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/environment.hpp"
#include "stubs/runtime/launch/role.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs::handlers {

int Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  if (active()) {
    const UnmodelledScope scope{current_call()};
    const int code = pmpi::Session_init(info, handler, session);
    if (code == MPI_SUCCESS) count_sessions(+1);
    return code;
  }
  const int threads = count_threads();
  forget_job_environment();
  const int code = pmpi::Session_init(info, handler, session);
  if (code != MPI_SUCCESS) return code;
  guarded([=] { join(threads, Beginning::kSession); });
  count_sessions(+1);
  return code;
}

int Session_finalize(MPI_Session* session) {
  if (count_sessions(-1) > 0 || !world_is_of_sessions()) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Session_finalize(session);
  }
  end_observation();
  free_world_of_sessions();
  return pmpi::Session_finalize(session);
}

}  // namespace nplus1::stubs::handlers
