// What the environment of a process that Open MPI's mpirun started says, kept from before `main`.
#pragma once

#include <string>

namespace nplus1::stubs {

/// NPLUS1_MEETING, by which `nplus1 run` tells the ranks where the simulator is; empty without. Any thread.
[[nodiscard]] const std::string& meeting_word();

}  // namespace nplus1::stubs
