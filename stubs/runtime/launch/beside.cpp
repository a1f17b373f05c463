#include "stubs/runtime/launch/beside.hpp"

#include <cstdlib>
#include <string_view>

namespace nplus1::stubs {
namespace {

std::string& kept_word() {
  static auto* const word = new std::string;  // asked for until the process ends
  return *word;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

/// PMIx (Open MPI's mpirun, prun, srun --mpi=pmix), PMI (srun --mpi=pmi2), Slurm, Flux.
std::string job_of_launcher() {
  for (const char* const name : {"PMIX_NAMESPACE", "PMI_JOBID"})
    if (std::string job = variable(name); !job.empty()) return job;
  if (const std::string step = variable("SLURM_STEP_ID"); !step.empty())
    return "slurm-" + variable("SLURM_JOB_ID") + "." + step;
  return variable("FLUX_JOB_ID");
}

/// Children and wrapped programs inherit a marked environment.
Role decide_role_beside(const std::string& job) {
  const std::string word = variable("NPLUS1_MEETING"), mark = variable("NPLUS1_JOB");
  if (word.empty()) return passive("no simulator (start the job by nplus1 run): watching nothing");
  if (!mark.empty() && mark != job)
    return passive("a job started from within a job that is watched is not watched");
  set_variable("NPLUS1_JOB", job);
  kept_word() = word;
  return Role::kRank;
}

const std::string& meeting_word() {
  return kept_word();
}

}  // namespace nplus1::stubs
