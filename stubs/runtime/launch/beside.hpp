// A job whose launcher starts the ranks alone (Open MPI's mpirun, srun, flux run ...): `nplus1 run` has started the simulator
// beside it, and its environment, which only this user can read, tells the ranks where. Any thread; nothing here fails.
#pragma once

#include <optional>
#include <string>

#include "stubs/runtime/launch/role.hpp"

namespace nplus1::stubs {

/// What the launcher calls the job, the same for all its processes, for no other job; empty where none says.
[[nodiscard]] std::string job_of_launcher();

/// The role of a process of such a job, and NPLUS1_MEETING kept; called before `main`, once.
[[nodiscard]] Role decide_role_beside(const std::string& job);

/// NPLUS1_MEETING, as it was before `main` in a rank; empty in all others.
[[nodiscard]] const std::string& meeting_word();

}  // namespace nplus1::stubs
