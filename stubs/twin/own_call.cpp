#include "stubs/twin/own_call.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#if defined(__x86_64__)
// The kernel gives the filter the address behind the instruction.
asm(R"(
.text
.p2align 4
.hidden nplus1_twin_call
.hidden nplus1_twin_called
.globl nplus1_twin_call
.globl nplus1_twin_called
.type nplus1_twin_call, @function
nplus1_twin_call:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
nplus1_twin_called:
  ret
.size nplus1_twin_call, . - nplus1_twin_call
)");
extern "C" long nplus1_twin_call(long number, long a, long b, long c, long d, long e, long f) noexcept;
extern "C" const char nplus1_twin_called[];
#endif

namespace nplus1::stubs::twin {

#if defined(__x86_64__)
long own_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
  return nplus1_twin_call(number, a, b, c, d, e, f);
}
std::uintptr_t own_call_address() noexcept {
  return reinterpret_cast<std::uintptr_t>(&nplus1_twin_called);
}
#else
long own_call(long, long, long, long, long, long, long) noexcept {
  return -ENOSYS;
}
std::uintptr_t own_call_address() noexcept {
  return 0;
}
#endif

namespace {

constinit OwnReads before_twins;
constinit OwnReads* reads = &before_twins;

long counted(long got) noexcept {
  reads->calls.fetch_add(1, std::memory_order_relaxed);
  if (got > 0) reads->bytes.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
  return got;
}

}  // namespace

const OwnReads& own_reads() noexcept {
  return *reads;
}

void count_own_reads(OwnReads& here) noexcept {
  here.calls = reads->calls.load();
  here.bytes = reads->bytes.load();
  reads = &here;
}

long own_read(long file, void* to, std::size_t bytes) noexcept {
  return counted(own_call(SYS_read, file, as_long(to), static_cast<long>(bytes)));
}

long own_read(long file, void* to, std::size_t bytes, std::uint64_t offset) noexcept {
  return counted(
      own_call(SYS_pread64, file, as_long(to), static_cast<long>(bytes), static_cast<long>(offset)));
}

void leave(int code) noexcept {
  for (;;) own_call(SYS_exit_group, code);
}

#if defined(__x86_64__)
namespace {

void give_up(int /*signal*/) {
  leave(1);
}

/// As the kernel wants it for rt_sigaction.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGABRT};

constexpr std::uint32_t kFutexOperation = offsetof(seccomp_data, args) + sizeof(std::uint64_t);
constexpr std::uint32_t kMapped = offsetof(seccomp_data, args) + 3 * sizeof(std::uint64_t);  // mmap's flags

}  // namespace

unsigned long hold_signals() noexcept {
  constexpr unsigned long kAll = ~0UL;
  unsigned long before = 0;
  own_call(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&kAll), as_long(&before), sizeof(before));
  return before;
}

void hold_signals(unsigned long mask) noexcept {
  own_call(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&mask), 0, sizeof(mask));
}

unsigned long held_in_twins() noexcept {
  unsigned long held = ~0UL;
  for (const int signal : kFaults) held &= ~(1UL << static_cast<unsigned>(signal - 1));
  return held;
}

bool confine(void* stack, std::uint64_t stack_bytes) noexcept {
  // What is sent to the process's group (a Ctrl-Z, a batch system's SIGSTOP) is not for its twin: were it stopped, its process
  // would be told so by a SIGCHLD.
  own_call(SYS_setpgid, 0, 0);
  // A real-time process does not leave its core to the one that would end it: a second of computing is the end. (RLIMIT_CPU would
  // make the clock of CPU time a coarse one.)
  const rlimit64 second{1'000'000, 1'000'000};
  own_call(SYS_prlimit64, 0, RLIMIT_RTTIME, as_long(&second), 0);
  // Signals that tell of a fault, and seccomp's own, end the twin in give_up(); all others are blocked, but SIGKILL.
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = stack_bytes;
  own_call(SYS_sigaltstack, as_long(&alternative));
  constexpr unsigned long kOnStack = 0x08000000, kNoDefer = 0x40000000, kRestorer = 0x04000000;
  KernelAction action{&give_up, kOnStack | kNoDefer | kRestorer, nullptr, 0};
  for (const int signal : kFaults)
    own_call(SYS_rt_sigaction, signal, as_long(&action), 0, sizeof(unsigned long));
  hold_signals(held_in_twins());
  own_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);

  const std::uintptr_t own = own_call_address();
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kEqual = BPF_JMP | BPF_JEQ | BPF_K,
                          kAnyBit = BPF_JMP | BPF_JSET | BPF_K, kReturn = BPF_RET | BPF_K;
  constexpr std::uint32_t kLow = offsetof(seccomp_data, instruction_pointer), kHigh = kLow + 4;
  std::array<sock_filter, 27> program = {{
      {kLoad, 0, 0, offsetof(seccomp_data, arch)},
      {kEqual, 0, 23, AUDIT_ARCH_X86_64},
      {kLoad, 0, 0, kLow},
      {kEqual, 0, 2, static_cast<std::uint32_t>(own)},
      {kLoad, 0, 0, kHigh},
      {kEqual, 20, 0, static_cast<std::uint32_t>(own >> 32U)},
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
      {kEqual, 18, 0, SYS_brk},
      {kEqual, 17, 0, SYS_munmap},
      {kEqual, 16, 0, SYS_mremap},
      {kEqual, 15, 0, SYS_madvise},
      {kEqual, 14, 0, SYS_mprotect},
      {kEqual, 13, 0, SYS_clock_gettime},
      {kEqual, 12, 0, SYS_gettimeofday},
      {kEqual, 11, 0, SYS_rt_sigprocmask},
      {kEqual, 10, 0, SYS_sched_yield},
      {kEqual, 9, 0, SYS_getpid},
      {kEqual, 8, 0, SYS_getcpu},
      {kEqual, 0, 3, SYS_mmap},
      {kLoad, 0, 0, kMapped},
      {kAnyBit, 4, 0, MAP_SHARED},
      {kAnyBit, 4, 3, MAP_ANONYMOUS},
      {kEqual, 0, 2, SYS_futex},
      {kLoad, 0, 0, kFutexOperation},
      {kEqual, 1, 0, FUTEX_WAKE_PRIVATE},  // in its own memory, where nobody waits
      {kReturn, 0, 0, SECCOMP_RET_TRAP},
      {kReturn, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (own_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1) != 0) return false;
  return own_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, as_long(&filter)) == 0;
}
#else
unsigned long hold_signals() noexcept {
  return 0;
}
void hold_signals(unsigned long) noexcept {}
unsigned long held_in_twins() noexcept {
  return 0;
}
bool confine(void*, std::uint64_t) noexcept {
  return false;
}
#endif

}  // namespace nplus1::stubs::twin
