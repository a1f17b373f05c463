// What a signal's handler may read and change of what it interrupted (sigaction(2), x86-64), and the stack of ours that it
// runs on.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace nplus1::stubs::access {

/// In the flags' register: one instruction is executed, then SIGTRAP comes.
inline constexpr greg_t kTrapFlag = 0x100;
inline constexpr std::size_t kOurStack = 1 << 18;  // bytes

inline greg_t* registers(void* context) {
  return static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
}

/// The signals that are blocked again when the handler returns. The kernel's set has 64 bits, the C library's more.
inline unsigned long& mask_of(void* context) {
  return *reinterpret_cast<unsigned long*>(&static_cast<ucontext_t*>(context)->uc_sigmask);
}

}  // namespace nplus1::stubs::access
