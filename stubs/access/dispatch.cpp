// The program's system calls come to us (Linux, PR_SET_SYSCALL_USER_DISPATCH): the kernel refuses arguments in closed
// pages, where the program's own access would only be slower. The pages that a call's arguments lie in are opened for
// the call, what it accesses is told, and mappings that go take their buffers with them. A call that makes a process,
// a thread or a new program is executed in place, by single step, with everything open.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <link.h>

#include "stubs/access/mappings.hpp"
#include "stubs/access/signal_context.hpp"
#include "stubs/access/state.hpp"
#include "stubs/runtime/thread_clock.hpp"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

// The unwinder knows a signal's frame by these very bytes.
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .hidden nplus1_access_restorer
  .globl nplus1_access_restorer
  nop
nplus1_access_restorer:
  movq $15, %rax
  syscall
)");
extern "C" void nplus1_access_restorer();
#endif

namespace nplus1::stubs::access {
namespace {

constexpr unsigned long kRestorer = 0x04000000;

/// A system call, its arguments, and the pages that were opened for them.
struct Arguments {
  long number;
  long of[6];
};

struct Opened {
  static constexpr std::size_t kMost = 64;
  std::uint64_t pages[kMost];
  std::size_t count = 0;
  bool all = false;
};

void open_range(Range range, Opened& opened) noexcept {
  for (std::uint64_t page = range.begin >> kPageBits; page <= (range.end - 1) >> kPageBits; ++page) {
    const std::uint8_t* byte = page_byte(page, false);
    if (byte == nullptr) {
      page |= (std::uint64_t{1} << 18U) - 1;  // nothing is closed in this gigabyte
      continue;
    }
    if (mode_of(*byte) == Watched::kNothing) continue;
    if (opened.count == Opened::kMost) {
      opened.all = true;
      return;
    }
    opened.pages[opened.count++] = page;
    protect(page, 1, Watched::kNothing);
  }
}

/// The kernel reads or writes all of `range`: told first, so that the buffers hit are opened for good.
void use(Range range, bool write, void* context, Opened& opened, const Access& like) noexcept {
  if (range.begin == 0 || range.end <= range.begin) return;
  Access access = like;
  access.write = write;
  Path path;
  if (concerns_locked(range, write)) {
    path_from(context, path);
    access.path = &path;
  }
  touch_locked(range, access);
  open_range(range, opened);
}

Range range_of(long address, long bytes) {
  constexpr long kMost = 1L << 40;
  return {static_cast<std::uint64_t>(address),
          static_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(std::clamp(bytes, 0L, kMost))};
}

void use_vector(long address, long count, bool write, void* context, Opened& opened,
                const Access& like) noexcept {
  if (address == 0 || count <= 0 || count > 1024) return;
  const Range list = range_of(address, count * static_cast<long>(sizeof(iovec)));
  open_range(list, opened);
  const auto* parts = reinterpret_cast<const iovec*>(address);
  for (long i = 0; i < count; ++i)
    use(range_of(as_argument(static_cast<char*>(parts[i].iov_base)), static_cast<long>(parts[i].iov_len)),
        write, context, opened, like);
}

void use_message(long address, bool write, void* context, Opened& opened, const Access& like) noexcept {
  if (address == 0) return;
  open_range(range_of(address, sizeof(msghdr)), opened);
  const auto* message = reinterpret_cast<const msghdr*>(address);
  use_vector(as_argument(message->msg_iov), static_cast<long>(message->msg_iovlen), write, context, opened,
             like);
  for (const auto& [at, bytes] :
       {std::pair{as_argument(static_cast<char*>(message->msg_name)), long{message->msg_namelen}},
        std::pair{as_argument(static_cast<char*>(message->msg_control)),
                  static_cast<long>(message->msg_controllen)}})
    if (at != 0 && bytes > 0) open_range(range_of(at, bytes), opened);
}

/// Calls whose buffers are known in full. What else points into closed pages is opened for a page or two.
void open_for(const Arguments& call, void* context, Opened& opened, const Access& like) noexcept {
  const long* a = call.of;
  switch (call.number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_recvfrom:
    case SYS_getdents64:
      use(range_of(a[1], a[2]), true, context, opened, like);
      break;
    case SYS_getrandom:
      use(range_of(a[0], a[1]), true, context, opened, like);
      break;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
      use(range_of(a[1], a[2]), false, context, opened, like);
      break;
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
      use_vector(a[1], a[2], true, context, opened, like);
      break;
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_vmsplice:
      use_vector(a[1], a[2], false, context, opened, like);
      break;
    case SYS_process_vm_readv:
      use_vector(a[1], a[2], true, context, opened, like);
      break;
    case SYS_process_vm_writev:
      use_vector(a[1], a[2], false, context, opened, like);
      break;
    case SYS_recvmsg:
      use_message(a[1], true, context, opened, like);
      break;
    case SYS_sendmsg:
      use_message(a[1], false, context, opened, like);
      break;
    default:
      break;
  }
  for (const long argument : call.of) {
    const auto address = static_cast<std::uint64_t>(argument);
    const std::uint8_t* byte = page_byte(address >> kPageBits, false);
    const std::uint8_t* next = page_byte((address >> kPageBits) + 1, false);
    const bool closed = byte != nullptr && mode_of(*byte) != Watched::kNothing;
    if (!closed && (next == nullptr || mode_of(*next) == Watched::kNothing)) continue;
    if (closed) {
      Access access = like;
      access.write = access.inexact = true;
      touch_locked({address, address + 1}, access);
    }
    open_range({address, address + kPageBytes}, opened);
  }
}

void close_again(const Opened& opened) noexcept {
  if (state.inside > 0 || state.suspended > 0 || !begun()) return;
  if (opened.all) close_all_locked();
  for (std::size_t i = 0; i < opened.count; ++i) {
    const std::uint8_t* byte = page_byte(opened.pages[i], false);
    if (byte != nullptr && mode_of(*byte) != Watched::kNothing) protect(opened.pages[i], 1, mode_of(*byte));
  }
}

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

/// Our signals are never blocked: a fault that is blocked ends the process. The program believes that they are.
long change_mask(const Arguments& call, void* context) noexcept {
  const long* a = call.of;
  constexpr long kMaskBytes = 8;
  if (a[3] != kMaskBytes) return -EINVAL;
  unsigned long& real = mask_of(context);
  const unsigned long before = (real & ~kOurSignals) | this_watch.hidden_mask;
  if (a[1] != 0) {
    unsigned long wanted = *reinterpret_cast<const unsigned long*>(a[1]);
    if (a[0] == SIG_BLOCK)
      wanted |= before;
    else if (a[0] == SIG_UNBLOCK)
      wanted = before & ~wanted;
    else if (a[0] != SIG_SETMASK)
      return -EINVAL;
    wanted &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
    this_watch.hidden_mask = wanted & kOurSignals;
    real = wanted & ~kOurSignals;
  }
  if (a[2] != 0) *reinterpret_cast<unsigned long*>(a[2]) = before;
  return 0;
}

/// A handler that asks for the alternative stack is called by us, on the program's.
long change_other_action(const Arguments& call, KernelAction wanted) noexcept {
  const long* a = call.of;
  constexpr long kSignals = 64;
  if (a[0] < 1 || a[0] > kSignals) return raw_system_call(call.number, a[0], a[1], a[2], a[3]);
  KernelAction& kept = state.program_signals[a[0]];
  const KernelAction told = kept;
  KernelAction old;
  const KernelAction as_wanted = wanted;
  const bool on_stack =
      a[1] != 0 && (wanted.flags & SA_ONSTACK) != 0 && reinterpret_cast<std::uintptr_t>(wanted.handler) > 1;
  wanted.mask &= ~kOurSignals;
  if (on_stack) {
    kept = as_wanted;  // before the first signal comes
    wanted.handler = reinterpret_cast<void*>(&on_program_signal);
    wanted.flags |= SA_SIGINFO;
  }
  const long result =
      raw_system_call(call.number, a[0], a[1] == 0 ? 0 : as_argument(&wanted), as_argument(&old), a[3]);
  if (result != 0) {
    kept = told;
    return result;
  }
  if (a[1] != 0 && !on_stack) kept = KernelAction{};
  const bool was_ours = old.handler == reinterpret_cast<void*>(&on_program_signal);
  if (a[2] != 0) std::memcpy(reinterpret_cast<void*>(a[2]), was_ours ? &told : &old, sizeof(old));
  return result;
}

/// The program's actions for our signals are kept, and called by us; no action of its own blocks them.
long change_action(const Arguments& call) noexcept {
  const long* a = call.of;
  const int which = index_of(static_cast<int>(a[0]));
  KernelAction wanted;
  if (a[1] != 0) std::memcpy(&wanted, reinterpret_cast<const void*>(a[1]), sizeof(wanted));
  if (which < 0) return change_other_action(call, wanted);
  if (a[2] != 0)
    std::memcpy(reinterpret_cast<void*>(a[2]), &state.program_actions[which], sizeof(KernelAction));
  if (a[1] != 0) state.program_actions[which] = wanted;
  return 0;
}

long change_stack(const Arguments& call) noexcept {
  const long* a = call.of;
  constexpr std::size_t kLeast = 2048;
  stack_t& mine = this_watch.program_stack;
  const stack_t before = mine;
  if (a[0] != 0) {
    const auto* wanted = reinterpret_cast<const stack_t*>(a[0]);
    if ((wanted->ss_flags & SS_DISABLE) != 0) {
      mine = stack_t{};
      mine.ss_flags = SS_DISABLE;
    } else {
      if (wanted->ss_size < kLeast) return -ENOMEM;
      mine = *wanted;
      mine.ss_flags = 0;
    }
  }
  if (a[1] != 0) {
    auto* told = reinterpret_cast<stack_t*>(a[1]);
    *told = before;
    if (before.ss_sp == nullptr) told->ss_flags = SS_DISABLE;
  }
  return 0;
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

// ---- beginning --------------------------------------------------------------------------------------------

Moment moment() noexcept {
  timespec t{};
  raw_system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, as_argument(&t));
  return {t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec, ticks()};
}

void exclude(std::int64_t ns) noexcept {
  if (this_watch.clock != nullptr)
    this_watch.clock->exclude(static_cast<double>(ns), static_cast<double>(ns));
}

std::int64_t exclude_since(const Moment& begin, std::int64_t more_ns) noexcept {
  const Moment now = moment();
  const std::int64_t cpu_ns = now.cpu_ns - begin.cpu_ns + more_ns;
  if (ThreadClock* clock = this_watch.clock) {
    const double wall_ns =
        static_cast<double>(now.tick - begin.tick) * nanoseconds_per_tick() + static_cast<double>(more_ns);
    clock->exclude(static_cast<double>(cpu_ns), wall_ns);
  }
  return cpu_ns;
}

std::int64_t virtual_now(const ThreadClock*& clock) noexcept {
  clock = this_watch.clock != nullptr ? this_watch.clock : state.main_clock;
  if (clock == nullptr) return 0;
  return (clock->base() + clock->elapsed()).time_since_epoch().count();
}

void install_handlers() noexcept {
#if defined(__x86_64__)
  struct {
    int signal;
    void (*handler)(int, siginfo_t*, void*);
  } const ours[] = {{SIGSEGV, on_fault}, {SIGTRAP, on_trap}, {SIGSYS, on_system_call}};
  for (const auto& [signal, handler] : ours) {
    KernelAction action;
    action.handler = reinterpret_cast<void*>(handler);
    action.flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kRestorer;
    action.restorer = reinterpret_cast<void*>(&nplus1_access_restorer);
    action.mask = ~kOurSignals;
    raw_system_call(SYS_rt_sigaction, signal, as_argument(&action),
                    as_argument(&state.program_actions[index_of(signal)]), sizeof(action.mask));
  }
  constexpr long kSignals = std::extent_v<decltype(state.program_signals)>;
  for (long signal = 1; signal < kSignals; ++signal) {
    KernelAction action;
    Arguments call{SYS_rt_sigaction, {signal, 0, as_argument(&action), sizeof(action.mask), 0, 0}};
    if (index_of(static_cast<int>(signal)) >= 0 || change_other_action(call, {}) != 0) continue;
    if ((action.flags & SA_ONSTACK) == 0) continue;
    const KernelAction before = action;
    call.of[1] = as_argument(&before);
    call.of[2] = 0;
    static_cast<void>(change_other_action(call, before));
  }
#endif
}

void begin_thread() noexcept {
  ThreadWatch& t = this_watch;
  t.known = true;
  keep_own_pages_open();
  const long memory = raw_system_call(SYS_mmap, 0, kOurStack, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  t.own_stack = reinterpret_cast<void*>(memory);
  const stack_t stack{t.own_stack, 0, kOurStack};
  raw_system_call(SYS_sigaltstack, as_argument(&stack), as_argument(&t.program_stack));
  if ((t.program_stack.ss_flags & SS_DISABLE) != 0) t.program_stack = stack_t{};
  unsigned long mine = kOurSignals;
  raw_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, as_argument(&mine), 0, sizeof(mine));
  t.selector = kAllow;
  raw_system_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, as_argument(state.text_begin),
                  static_cast<long>(state.text_bytes), as_argument(&t.selector));
}

namespace {

/// Our own thread-local memory, at the same distance from each thread's pointer.
void find_thread_local(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_TLS && info.dlpi_tls_data != nullptr) {
      state.tls_distance =
          static_cast<const char*>(info.dlpi_tls_data) - static_cast<const char*>(__builtin_thread_pointer());
      state.tls_bytes = info.dlpi_phdr[i].p_memsz;
    }
}

/// Our own text: its system calls are not dispatched.
int find_text(dl_phdr_info* info, std::size_t /*size*/, void* /*argument*/) {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_text);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || here < begin ||
        here >= begin + segment.p_memsz)
      continue;
    state.text_begin = reinterpret_cast<const unsigned char*>(begin);
    state.text_bytes = segment.p_memsz;
    find_thread_local(*info);
    return 1;
  }
  return 0;
}

/// The text of the module that `argument` lies in.
int find_heap(dl_phdr_info* info, std::size_t /*size*/, void* argument) {
  const auto there = reinterpret_cast<std::uintptr_t>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || there < begin ||
        there >= begin + segment.p_memsz)
      continue;
    state.heap_begin = begin;
    state.heap_end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
}

/// The median of what a thread's CPU clock shows for one round of `once`.
template <class Once>
std::int64_t cost_of(Once&& once) {
  constexpr std::size_t kRounds = 64;
  std::int64_t costs[kRounds];
  for (std::int64_t& cost : costs) {
    const Moment begin = moment();
    once();
    cost = moment().cpu_ns - begin.cpu_ns;
  }
  std::sort(costs, costs + kRounds);
  return costs[kRounds / 2];
}

}  // namespace

/// What a signal costs beyond what its handler sees of itself.
void measure_costs() noexcept {
  const long memory =
      raw_system_call(SYS_mmap, 0, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory < 0) return;
  auto* const byte = reinterpret_cast<volatile char*>(memory);
  *byte = 0;
  const Cells cells{static_cast<std::uint64_t>(memory), 1};
  Buffer* const b = buffer_of(cells, 0, nullptr);
  if (b == nullptr) return;
  const auto round = [&] {
    b->after = Watched::kAll;
    {
      const Locked guard;
      close_all_locked();
    }
    *byte = 1;
    state.records_used = 0;
  };
  const std::int64_t clock_ns = cost_of([] {});
  cost_of(round);
  state.cost = Cost{};
  const std::int64_t protect_ns =
      cost_of([&] { protect(static_cast<std::uint64_t>(memory) >> kPageBits, 1, Watched::kNothing); });
  const std::int64_t whole_ns = cost_of(round) - clock_ns - protect_ns;
  const std::int64_t inside_ns = state.cost.fault_ns / 64;
  state.fault_entry_ns = std::max<std::int64_t>(0, whole_ns - inside_ns);
  this_watch.selector = kDispatch;
  const std::int64_t call_ns = cost_of([] { static_cast<void>(syscall(SYS_getppid)); }) - clock_ns;
  const std::int64_t in_call_ns =
      state.cost.system_calls == 0
          ? 0
          : state.cost.system_call_ns / static_cast<std::int64_t>(state.cost.system_calls);
  this_watch.selector = kAllow;
  state.system_call_entry_ns = std::max<std::int64_t>(0, call_ns - in_call_ns);
  {
    const Locked guard;
    open_all_locked();
    b->live = false;
  }
  raw_system_call(SYS_munmap, memory, kPageBytes);
  state.cost = Cost{};
  state.records_used = 0;
}

std::string begin(bool measured) {
#if defined(__x86_64__)
  for (const auto& [symbol, option] :
       {std::pair{"__asan_init", "address"}, std::pair{"__hwasan_init", "hwaddress"},
        std::pair{"__msan_init", "memory"}, std::pair{"__tsan_init", "thread"}})
    if (dlsym(RTLD_DEFAULT, symbol) != nullptr)
      return std::string{"the program was built with -fsanitize="} + option +
             ", which looks at all accesses and signals itself; build it without to record them";
  dl_iterate_phdr(find_text, nullptr);
  dl_iterate_phdr(find_heap, dlsym(RTLD_DEFAULT, "malloc"));
  if (state.text_begin == nullptr) return "our own text was not found";
  ThreadWatch& t = this_watch;
  if (raw_system_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, as_argument(state.text_begin),
                      static_cast<long>(state.text_bytes), as_argument(&t.selector)) != 0)
    return "the kernel does not dispatch system calls to their program (Linux 5.11 and later do)";
  if (measured) state.heat.be_thrifty();
  state.process = static_cast<int>(raw_system_call(SYS_getpid));
  install_handlers();
  begin_thread();
  state.begun.store(true, std::memory_order_relaxed);
  measure_costs();
  state.inside = 1;  // MPI_Init
  t.inside = true;
  return {};
#else
  static_cast<void>(measured);
  return "accesses are recorded on x86-64 only";
#endif
}

}  // namespace nplus1::stubs::access
