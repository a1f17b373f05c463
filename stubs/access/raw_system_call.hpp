// System calls from our own text, which system call dispatch lets through (stubs/access/dispatch.cpp): usable in
// signal handlers, on any thread, whatever the selector says. The kernel's own results: -errno on failure; errno
// stays as it is.
#pragma once

#include <cstdint>

namespace nplus1::stubs::access {

inline long raw_system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                            long f = 0) noexcept {
#if defined(__x86_64__)
  long result = 0;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#else
  static_cast<void>(number), static_cast<void>(a), static_cast<void>(b), static_cast<void>(c);
  static_cast<void>(d), static_cast<void>(e), static_cast<void>(f);
  return -38;  // ENOSYS: accesses are recorded on x86-64 only
#endif
}

template <class T>
long as_argument(T* pointer) noexcept {
  return static_cast<long>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace nplus1::stubs::access
