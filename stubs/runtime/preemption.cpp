#include "stubs/runtime/preemption.hpp"

#include <cstddef>

#if defined(__x86_64__)

// glibc's, since 2.35: where the area is, relative to the thread pointer, and how much of it is in use (0: registration
// failed, or was switched off by a tunable). Weak: with an older one nothing can be told.
extern "C" {
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
}

// A sequence that nobody runs: the kernel wants the signature that glibc registered (RSEQ_SIG, inside of an instruction
// that traps) in the four bytes before the address where an aborted sequence goes on, or it kills the thread.
asm(R"(
  .pushsection .text.nplus1_rseq, "ax", @progbits
  .type nplus1_no_sequence, @function
nplus1_no_sequence:
  ud2
  .byte 0x0f, 0xb9, 0x3d
  .long 0x53053053
nplus1_no_sequence_aborted:
  ud2
  .size nplus1_no_sequence, . - nplus1_no_sequence
  .popsection
  .pushsection .data.rel.ro.nplus1_rseq, "aw", @progbits
  .balign 32
  .hidden nplus1_no_sequence_descriptor
  .globl nplus1_no_sequence_descriptor
nplus1_no_sequence_descriptor:
  .long 0, 0
  .quad nplus1_no_sequence, 2, nplus1_no_sequence_aborted
  .popsection
)");
extern "C" const char nplus1_no_sequence_descriptor[] __attribute__((visibility("hidden")));

namespace nplus1::stubs {
namespace {

/// `rseq_cs` of struct rseq (linux/rseq.h), the third member.
volatile std::uint64_t& sequence() noexcept {
  constexpr std::size_t kSequence = 8;
  char* thread = static_cast<char*>(__builtin_thread_pointer());
  return *reinterpret_cast<volatile std::uint64_t*>(thread + __rseq_offset + kSequence);
}

std::uint64_t ours() noexcept {
  return reinterpret_cast<std::uint64_t>(&nplus1_no_sequence_descriptor);
}

}  // namespace

bool tells_preemption() noexcept {
  return &__rseq_offset != nullptr && &__rseq_size != nullptr && __rseq_size != 0;
}

void arm_preemption() noexcept {
  if (tells_preemption()) sequence() = ours();
}

Disturbance preemption() noexcept {
  if (!tells_preemption()) return Disturbance::kUnknown;
  const std::uint64_t now = sequence();
  return now == ours() ? Disturbance::kNone : now == 0 ? Disturbance::kPreempted : Disturbance::kUnknown;
}

}  // namespace nplus1::stubs

#else

namespace nplus1::stubs {

bool tells_preemption() noexcept {
  return false;
}
void arm_preemption() noexcept {}
Disturbance preemption() noexcept {
  return Disturbance::kUnknown;
}

}  // namespace nplus1::stubs

#endif
