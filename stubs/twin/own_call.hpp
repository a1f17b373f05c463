// System calls that a twin may make although the program in it may not: seccomp tells them by the address of their one
// instruction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nplus1::stubs::twin {

/// The kernel's own results: -errno on failure; errno stays as it is.
long own_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept;
/// What seccomp sees as the address of such a call; 0 where there is none.
[[nodiscard]] std::uintptr_t own_call_address() noexcept;

template <class T>
long as_long(T* pointer) noexcept {
  return static_cast<long>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// What own_read() has read in this process and its twins: the kernel counts it as the program's, a twin's when it has ended.
struct OwnReads {
  std::atomic<std::uint64_t> calls{0}, bytes{0};
};
[[nodiscard]] const OwnReads& own_reads() noexcept;
/// From here on it is counted in `here`, of memory that twins share.
void count_own_reads(OwnReads& here) noexcept;
/// `read`, or `pread` from `offset` on.
long own_read(long file, void* to, std::size_t bytes) noexcept;
long own_read(long file, void* to, std::size_t bytes, std::uint64_t offset) noexcept;

/// Leaves the process with the kernel's exit_group and nothing else.
[[noreturn]] void leave(int code) noexcept;

/// Holds back all signals of this thread; what was held back before. Beside the twin's first instruction no handler of the
/// program's may come.
[[nodiscard]] unsigned long hold_signals() noexcept;
void hold_signals(unsigned long mask) noexcept;

/// What a twin holds back: all but the signals that tell of a fault.
[[nodiscard]] unsigned long held_in_twins() noexcept;

/// From here on the process can do nothing but compute, and call own_call(): whatever else it tries, and any
/// signal that would end it, ends it. `stack`: for the handler. False: the kernel has no seccomp.
[[nodiscard]] bool confine(void* stack, std::uint64_t stack_bytes) noexcept;

}  // namespace nplus1::stubs::twin
