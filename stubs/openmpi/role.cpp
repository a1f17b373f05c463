// Under Open MPI all processes of the job are ranks, whatever launcher starts them, and `nplus1 run` starts the simulator
// itself, beside it.
#include "stubs/runtime/launch/beside.hpp"

namespace nplus1::stubs {

Role decide_role() {
  const std::string job = job_of_launcher();
  if (job.empty() || !environment_number("PMIX_RANK"))
    return passive(
        "not started by Open MPI's mpirun, nor by another launcher of its programs: watching nothing");
  return decide_role_beside(job);
}

}  // namespace nplus1::stubs
