// What the program believes of its signals: masks, actions and alternative stacks are ours where accesses are recorded, and
// it is told what it has set. In signal handlers. Each returns what the system call would.
#pragma once

#include "stubs/access/call_arguments.hpp"
#include "stubs/access/state.hpp"

namespace nplus1::stubs::access {

/// Our signals are never blocked: a fault that is blocked ends the process. The program believes that they are.
[[nodiscard]] long change_mask(const Arguments& call, void* context) noexcept;
/// The program's actions for our signals are kept, and called by us; no action of its own blocks them.
[[nodiscard]] long change_action(const Arguments& call) noexcept;
/// Of other signals than ours. A handler that asks for the alternative stack is called by us, on the program's.
[[nodiscard]] long change_other_action(const Arguments& call, KernelAction wanted) noexcept;
[[nodiscard]] long change_stack(const Arguments& call) noexcept;

}  // namespace nplus1::stubs::access
