// The program's system calls come to us (Linux, PR_SET_SYSCALL_USER_DISPATCH): the kernel refuses arguments in closed
// pages, where the program's own access would only be slower. The pages that a call's arguments lie in are opened for
// the call, what it accesses is told, and mappings that go take their buffers with them. A call that makes a process,
// a thread or a new program is executed in place, by single step, with everything open.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#include <algorithm>
#include <cerrno>

#include "stubs/access/call_arguments.hpp"
#include "stubs/access/mappings.hpp"
#include "stubs/access/signal_actions.hpp"
#include "stubs/access/signal_context.hpp"
#include "stubs/access/state.hpp"
#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs::access {
namespace {

/// Mappings that go, or that the program protects itself.
bool changes_mappings(const Arguments& call, Range& range) noexcept {
  constexpr long kDontNeed = 4, kFree = 8, kFixed = 0x10;
  const long* a = call.of;
  switch (call.number) {
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_mremap:
      range = range_of(a[0], a[1]);
      return true;
    case SYS_madvise:
      range = range_of(a[0], a[1]);
      return a[2] == kDontNeed || a[2] == kFree;
    case SYS_mmap:
      range = range_of(a[0], (a[3] & kFixed) != 0 ? a[1] : 0);
      return true;
    case SYS_shmdt:
    case SYS_brk:
      return true;
    default:
      return false;
  }
}

bool is_in_place(long number) {
  return number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork ||
         number == SYS_execve || number == SYS_execveat;
}

/// The memory in which a new thread begins, its frames and thread-local memory, which may have been another thread's with
/// buffers in it: it has no stack for handlers until its first instruction has been seen. Empty: none begins.
Range memory_of_new_thread(const Arguments& call) noexcept {
  constexpr std::uint64_t kSharesMemory = 0x100, kSetsThreadPointer = 0x80000;  // CLONE_VM, CLONE_SETTLS
  constexpr std::uint64_t kFirstFrames = 1 << 16, kControlBlock = 1 << 12, kFar = 1 << 26;
  struct {
    std::uint64_t flags = 0, others[4] = {}, stack = 0, bytes = 0, thread = 0;
  } wanted;
  if (call.number == SYS_clone) {
    wanted.flags = static_cast<std::uint64_t>(call.of[0]);
    wanted.stack = static_cast<std::uint64_t>(call.of[1]) - kFirstFrames;
    wanted.bytes = call.of[1] != 0 ? kFirstFrames : 0;
    wanted.thread = static_cast<std::uint64_t>(call.of[4]);
  } else if (call.number == SYS_clone3) {
    const iovec here{&wanted, sizeof(wanted)};
    const iovec there{reinterpret_cast<void*>(call.of[0]), sizeof(wanted)};
    const long got = raw_system_call(SYS_process_vm_readv, raw_system_call(SYS_getpid), as_argument(&here), 1,
                                     as_argument(&there), 1, 0);
    if (got != static_cast<long>(sizeof(wanted))) return {};
  }
  if ((wanted.flags & kSharesMemory) == 0 || wanted.bytes == 0) return {};
  Range memory{wanted.stack, wanted.stack + wanted.bytes};
  const bool beside = wanted.thread >= memory.end && wanted.thread - memory.end < kFar;
  if ((wanted.flags & kSetsThreadPointer) != 0 && beside) memory.end = wanted.thread + kControlBlock;
  return memory;
}

/// Calls in which the program may wait for other ranks behind MPI's back, or end.
bool may_wait_or_end(long number) {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_sched_yield:
    case SYS_futex:
    case SYS_flock:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_exit:
    case SYS_exit_group:
      return true;
    default:
      return false;
  }
}

/// As rt_sigreturn would: the frame of the program's handler lies where its stack pointer is.
[[noreturn]] void return_from_handler(std::uint64_t stack_pointer) noexcept {
#if defined(__x86_64__)
  asm volatile(
      "movq %0, %%rsp\n\t"
      "movq $15, %%rax\n\t"
      "syscall"
      :
      : "r"(stack_pointer)
      : "memory");
#endif
  static_cast<void>(stack_pointer);
  __builtin_unreachable();
}

long carry_out(const Arguments& call, void* context, Opened& opened) noexcept {
  const long* a = call.of;
  switch (call.number) {
    case SYS_rt_sigprocmask:
      return change_mask(call, context);
    case SYS_rt_sigaction:
      return change_action(call);
    case SYS_sigaltstack:
      return change_stack(call);
    default:
      break;
  }
  long arguments[6];
  std::copy(call.of, call.of + 6, arguments);
  // Signal masks for the time of the call: without ours.
  unsigned long mask = 0;
  const int mask_at = call.number == SYS_rt_sigsuspend                                    ? 0
                      : call.number == SYS_ppoll                                          ? 3
                      : call.number == SYS_epoll_pwait || call.number == SYS_epoll_pwait2 ? 4
                                                                                          : -1;
  if (mask_at >= 0 && a[mask_at] != 0) {
    mask = *reinterpret_cast<const unsigned long*>(a[mask_at]) & ~kOurSignals;
    arguments[mask_at] = as_argument(&mask);
  }
  // The program's signals may come while the call waits; its handler may leave by a jump.
  unsigned long during = mask_of(context) & ~kOurSignals, all = ~kOurSignals;
  this_watch.selector = kDispatch;
  this_watch.handles = false;
  raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&during), 0, sizeof(during));
  long result = raw_system_call(call.number, arguments[0], arguments[1], arguments[2], arguments[3],
                                arguments[4], arguments[5]);
  raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&all), 0, sizeof(all));
  this_watch.handles = true;
  this_watch.selector = kAllow;
  if (result != -EFAULT || opened.all) return result;
  {
    const Locked guard;
    open_all_locked();
    opened.all = true;
  }
  return raw_system_call(call.number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                         arguments[5]);
}

}  // namespace

void on_system_call(int signal, siginfo_t* info, void* context) {
  constexpr int kUserDispatch = 2;
  if (info->si_code != kUserDispatch) return pass_on(signal, info, context);
  greg_t* const r = registers(context);
  ThreadWatch& t = this_watch;
  t.selector = kAllow;
  const Arguments call{
      static_cast<long>(r[REG_RAX]),
      {static_cast<long>(r[REG_RDI]), static_cast<long>(r[REG_RSI]), static_cast<long>(r[REG_RDX]),
       static_cast<long>(r[REG_R10]), static_cast<long>(r[REG_R8]), static_cast<long>(r[REG_R9])}};
  if (call.number == SYS_rt_sigreturn) {
    t.selector = begun() ? kDispatch : kAllow;
    return_from_handler(static_cast<std::uint64_t>(r[REG_RSP]));
  }
  const Moment begin = moment();
  exclude(state.system_call_entry_ns / 2);
  ++state.cost.system_calls;
  const bool stepped = (r[REG_EFL] & kTrapFlag) != 0;
  if (state.finish != nullptr && begun() && (is_in_place(call.number) || may_wait_or_end(call.number))) {
    state.hit = {true, false, false, events::Toucher::kSystemCall, 0, 0, call.number, {}};
    path_from(context, state.hit.path);
    finish_hit_in(context);
  }
  if (is_in_place(call.number) || stepped) {
    if (begun()) {
      const ThreadClock* clock = nullptr;
      const std::int64_t now_ps = virtual_now(clock);
      const Range memory = memory_of_new_thread(call);
      const Locked guard;
      open_all_locked();
      if (memory.end > memory.begin)
        release_locked(memory, {true, false, events::Toucher::kRelease, now_ps, begin.tick, clock, nullptr});
      t.reopens = true;
    }
    r[REG_RIP] -= 2;
    r[REG_EFL] |= kTrapFlag;
    state.cost.system_call_ns += exclude_since(begin, state.system_call_entry_ns);
    return;
  }
  t.handles = true;
  Opened opened;
  if (begun()) {
    const ThreadClock* clock = nullptr;
    const std::int64_t now_ps = virtual_now(clock);
    Path path;
    Access like{false, false, events::Toucher::kSystemCall, now_ps, begin.tick, clock, &path};
    Range range{};
    const Locked guard;
    if (changes_mappings(call, range)) {
      forget_mappings();
      if (range.end > range.begin) {
        if (concerns_locked(range, true)) path_from(context, path);
        like.who = events::Toucher::kRelease;
        like.write = true;
        release_locked(range, like);
      }
    } else {
      open_for(call, context, opened, like);
    }
  }
  std::int64_t own_ns = exclude_since(begin, 0);
  finish_hit_in(context);
  const long result = carry_out(call, context, opened);
  const Moment after = moment();
  if (opened.count > 0 || opened.all) {
    const Locked guard;
    close_again(opened);
  }
  r[REG_RAX] = result;
  t.handles = false;
  own_ns += exclude_since(after, state.system_call_entry_ns - state.system_call_entry_ns / 2);
  state.cost.system_call_ns += own_ns;
  t.selector = begun() ? kDispatch : kAllow;
}

}  // namespace nplus1::stubs::access
