// Under Open MPI `nplus1 run` starts the simulator itself, beside mpirun: all processes of the job are ranks, and learn
// from their environment where it is.
#include "stubs/openmpi/role.hpp"

#include <cstdlib>
#include <string_view>

#include "stubs/runtime/role.hpp"

namespace nplus1::stubs {
namespace {

std::string& kept_word() {
  static auto* const word = new std::string;  // asked for until the process ends
  return *word;
}

}  // namespace

const std::string& meeting_word() {
  return kept_word();
}

/// A job has a name, which its processes have from mpirun. Children and wrapped programs inherit a marked environment.
Role decide_role() {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  const char* const word = std::getenv("NPLUS1_MEETING");
  if (job == nullptr || !environment_number("OMPI_COMM_WORLD_RANK"))
    return passive("not started by Open MPI's mpirun: watching nothing");
  if (word == nullptr) return passive("no simulator (start the job by nplus1 run): watching nothing");
  const char* const mark = std::getenv("NPLUS1_JOB");
  if (mark != nullptr && std::string_view{mark} != job)
    return passive("a job started from within a job that is watched is not watched");
  set_variable("NPLUS1_JOB", job);
  kept_word() = word;
  return Role::kRank;
}

}  // namespace nplus1::stubs
