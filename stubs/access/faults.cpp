// SIGSEGV: an access to a closed page, or the program's own affair. SIGTRAP: the instruction that was let through alone
// has been executed.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stubs/access/mappings.hpp"
#include "stubs/access/operand_size.hpp"
#include "stubs/access/signal_context.hpp"
#include "stubs/access/state.hpp"
#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs::access {
namespace {

constexpr greg_t kWriteError = 2;  // of a page fault's error code

/// Handlers make system calls as they like; the program's are dispatched again when they return.
class Handling {
 public:
  Handling() noexcept : selector_{this_watch.selector}, handles_{this_watch.handles} {
    this_watch.selector = kAllow;
    this_watch.handles = true;
  }
  ~Handling() {
    this_watch.handles = handles_;
    this_watch.selector = selector_;
  }
  Handling(const Handling&) = delete;
  Handling& operator=(const Handling&) = delete;

 private:
  unsigned char selector_;
  bool handles_;
};

/// The instruction is executed alone, with its page open and no signal in between.
void step(void* context, std::uint64_t page) noexcept {
  ThreadWatch& t = this_watch;
  greg_t* const r = registers(context);
  if (t.step_pages == 0) {
    t.saved_mask = mask_of(context);
    t.step_pc = static_cast<std::uint64_t>(r[REG_RIP]);
    mask_of(context) = ~kOurSignals;
    r[REG_EFL] |= kTrapFlag;
  }
  if (t.step_pages < 4) t.stepped[t.step_pages++] = page;
  protect(page, 1, Watched::kNothing);
  ++state.cost.steps;
}

/// The pages of an instruction that was let through are closed again, and the program's signals come as before.
void end_step_locked(void* context) noexcept {
  ThreadWatch& t = this_watch;
  if (t.step_pages == 0) return;
  for (unsigned i = 0; i < t.step_pages && state.inside == 0; ++i) {
    const std::uint8_t* byte = page_byte(t.stepped[i], false);
    if (byte != nullptr) protect(t.stepped[i], 1, mode_of(*byte));
  }
  mask_of(context) = t.saved_mask;
  t.step_pages = 0;
}

/// Close to the stack pointer the kernel writes frames of signals by itself: nothing is closed there.
bool is_live_stack(std::uint64_t page, std::uint64_t stack_pointer) {
  constexpr std::uint64_t kBelow = 3;
  const std::uint64_t live = stack_pointer >> kPageBits;
  return page <= live && page + kBelow > live;
}

/// Whether the fault was of our making. With the lock held.
bool handle(void* context, std::uint64_t address, const Moment& now) noexcept {
  const greg_t* const r = registers(context);
  const std::uint64_t page = address >> kPageBits;
  std::uint8_t* const byte = page_byte(page, false);
  if (byte == nullptr) return false;
  ThreadWatch& t = this_watch;
  const auto pc = static_cast<std::uint64_t>(r[REG_RIP]);
  const bool write = (r[REG_ERR] & kWriteError) != 0;
  if (!counts(mode_of(*byte), write)) {
    // Opened by another thread meanwhile, or never ours.
    t.retries = t.retry_pc == pc && t.retry_address == address ? t.retries + 1 : 0;
    t.retry_pc = pc;
    t.retry_address = address;
    constexpr unsigned kMostRetries = 3;
    if (*byte == 0 && t.retries == 0 && needed_on_locked(page) == Watched::kNothing) {
      bool of_a_buffer = false;
      for (std::size_t i = 0; i < state.buffers_used; ++i) {
        const Buffer& b = state.buffers[i];
        of_a_buffer = of_a_buffer || (b.live && page >= b.cells.low() >> kPageBits &&
                                      page <= (b.cells.high() - 1) >> kPageBits);
      }
      if (!of_a_buffer) return false;
    }
    return t.retries < kMostRetries;
  }
  ++state.cost.faults;
  const ThreadClock* clock = nullptr;
  const std::int64_t at_ps = virtual_now(clock);
  const Operand operand =
      operand_at(reinterpret_cast<const std::uint8_t*>(pc), static_cast<std::uint64_t>(r[REG_RCX]));
  const Range range{address, address + operand.bytes};
  Path path;
  if (concerns_locked(range, write)) {
    path_from(context, path);
    state.heat.hit(page, state.site);
    touch_locked(range, {write, false, events::Toucher::kProgram, at_ps, now.tick, clock, &path});
  }
  if (!counts(mode_of(*byte), write)) return true;
  // Other cells of the page are waited for yet.
  const bool too_long = operand.repeats && operand.bytes > kMostIterations;
  // What is finished when a page is given up takes memory, which nobody may while malloc is at work.
  const bool in_malloc = state.finish != nullptr && pc >= state.heap_begin && pc < state.heap_end;
  const bool too_often = !in_malloc && misses_of(*byte) >= state.heat.allowed(page, state.site);
  if (too_often || too_long || t.step_pages == 4 ||
      is_live_stack(page, static_cast<std::uint64_t>(r[REG_RSP]))) {
    if (path.size == 0) path_from(context, path);
    state.heat.given_up(page, state.site, path.at[0]);
    give_up_locked(page, events::Toucher::kProgram, at_ps, &path, clock);
    return true;
  }
  if (misses_of(*byte) < kMostMisses) *byte = static_cast<std::uint8_t>(*byte + 4);
  step(context, page);
  return true;
}

/// The lock is this thread's own, or a handler faults itself: opens the page and leaves the rest for later.
bool emergency(std::uint64_t address) noexcept {
  const std::uint64_t page = address >> kPageBits;
  const std::uint8_t* byte = page_byte(page, false);
  if (byte == nullptr || *byte == 0) return false;
  protect(page, 1, Watched::kNothing);
  const unsigned place = state.emergencies.fetch_add(1);
  if (place < 16) state.emergency_pages[place].store(page);
  return true;
}

}  // namespace

/// The frames of the program from the interrupted instruction on.
void path_from(void* context, Path& path) noexcept {
  path.size = 0;
  const auto pc = static_cast<std::uintptr_t>(registers(context)[REG_RIP]);
  struct Walk {
    Path& path;
    std::uintptr_t pc;
  } walk{path, pc};
  _Unwind_Backtrace(
      [](_Unwind_Context* frame, void* argument) {
        auto& w = *static_cast<Walk*>(argument);
        const auto ip = static_cast<std::uintptr_t>(_Unwind_GetIP(frame));
        if (w.path.size == 0 && ip != w.pc) return _URC_NO_REASON;  // our own, and the kernel's
        const std::uintptr_t behind = w.path.size == 0 ? ip + 1 : ip;
        w.path.at[w.path.size++] = reinterpret_cast<const void*>(behind);
        return w.path.size == kMostPath ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &walk);
  if (path.size == 0) path.at[path.size++] = reinterpret_cast<const void*>(pc + 1);
}

void finish_hit_in(void* context) noexcept {
  if (!state.hit.happened) return;
  const int error = errno;
  unsigned long during =
      (this_watch.step_pages > 0 ? this_watch.saved_mask : mask_of(context)) & ~kOurSignals;
  unsigned long all = ~kOurSignals;
  raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&during), 0, sizeof(during));
  finish_hit();
  raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&all), 0, sizeof(all));
  errno = error;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const bool of_a_page = info->si_code == SEGV_ACCERR && state.begun.load(std::memory_order_relaxed);
  bool ours = false;
  if (of_a_page && static_cast<int>(raw_system_call(SYS_getpid)) == state.process) {
    const Handling handling;
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    if (this_watch.holds) {
      ours = emergency(address);
    } else {
      const Moment begin = moment();
      exclude(state.fault_entry_ns / 2);
      {
        const Locked guard;
        ours = handle(context, address, begin);
        if (!ours && this_watch.step_pages > 0) {
          // The instruction faults on memory that is not ours either, and the program's handler may leave it by a jump.
          registers(context)[REG_EFL] &= ~kTrapFlag;
          end_step_locked(context);
        }
      }
      state.cost.fault_ns += exclude_since(begin, state.fault_entry_ns - state.fault_entry_ns / 2);
      finish_hit_in(context);
    }
  }
  if (!ours) pass_on(signal, info, context);
}

void on_trap(int signal, siginfo_t* info, void* context) {
  ThreadWatch& t = this_watch;
  greg_t* const r = registers(context);
  if (info->si_code != TRAP_TRACE && info->si_code != TRAP_BRKPT && info->si_code != TRAP_HWBKPT)
    return pass_on(signal, info, context);
  const bool traced = (r[REG_EFL] & kTrapFlag) != 0;
  if (!traced) return pass_on(signal, info, context);
  if (static_cast<int>(raw_system_call(SYS_getpid)) != state.process) {  // a child
    r[REG_EFL] &= ~kTrapFlag;
    return;
  }
  if (!t.known) {  // a new thread
    r[REG_EFL] &= ~kTrapFlag;
    if (begun()) {
      begin_thread();
      // The return from this signal sets the thread's alternative stack to what is said here.
      static_cast<ucontext_t*>(context)->uc_stack = stack_t{t.own_stack, 0, kOurStack};
      t.selector = kDispatch;
    }
    return;
  }
  if (t.step_pages == 0 && !t.reopens) return pass_on(signal, info, context);
  const Moment begin = moment();
  {
    const Handling handling;
    // A string instruction is not over before the instruction pointer moves.
    if (t.step_pages > 0 && static_cast<std::uint64_t>(r[REG_RIP]) == t.step_pc) {
      exclude_since(begin, state.fault_entry_ns);
      return;
    }
    r[REG_EFL] &= ~kTrapFlag;
    const Locked guard;
    end_step_locked(context);
    if (t.reopens && state.inside == 0 && state.suspended == 0 && begun()) close_all_locked();
  }
  if (t.reopens) {
    t.reopens = false;
    t.selector = begun() ? kDispatch : kAllow;
  }
  state.cost.step_ns += exclude_since(begin, state.fault_entry_ns);
}

// ---- the program's own handlers ---------------------------------------------------------------------------

namespace {

using Handler = void (*)(int, siginfo_t*, void*);

struct Call {
  Handler handler;
  int signal;
  siginfo_t* info;
  void* context;
};

bool is_on(const stack_t& stack, std::uintptr_t address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
  return begin != 0 && address >= begin && address < begin + stack.ss_size;
}

/// Where signals may come while the stack pointer is elsewhere: not where this handler's callers keep something. The
/// return from the signal makes our stack whole again. Handlers that are left by a jump do not, and go on in the lower
/// half until it is used up; then nobody is in the upper one.
stack_t free_part() {
  constexpr std::uintptr_t kOurFrames = 4096, kLeast = 32768, kHalf = kOurStack / 2;
  const stack_t own{this_watch.own_stack, 0, kOurStack};
  const auto base = reinterpret_cast<std::uintptr_t>(own.ss_sp);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (!is_on(own, here)) return own;
  if (here - base >= kHalf) return {own.ss_sp, 0, kHalf};
  if (here - base >= kOurFrames + kLeast) return {own.ss_sp, 0, here - base - kOurFrames};
  return {static_cast<char*>(own.ss_sp) + kHalf, 0, kHalf};
}

/// On the program's stack, below the address.
void call_below(std::uintptr_t below, const Call& call) {
  struct Entry {
    const Call& call;
    stack_t part;
  } const entry{call, free_part()};
  auto* const top = reinterpret_cast<char*>(below & ~std::uintptr_t{15});
  const auto enter = +[](const Entry* e) {
    raw_system_call(SYS_sigaltstack, as_argument(&e->part), 0);  // only from elsewhere
    e->call.handler(e->call.signal, e->call.info, e->call.context);
  };
#if defined(__x86_64__)
  const Entry* argument = &entry;
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "callq *%[enter]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument)
      : [top] "r"(top), [enter] "r"(enter)
      : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15");
#else
  enter(&entry);
#endif
}

std::uintptr_t top_of(const stack_t& stack) {
  return reinterpret_cast<std::uintptr_t>(stack.ss_sp) + stack.ss_size;
}

/// The program's stack for handlers may share a page with a buffer. Its first frames are written before the kernel knows
/// where else a fault could be handled, so they must not fault.
void open_top(const stack_t& stack, void* context) {
  constexpr std::uint64_t kFirstPages = 3;
  const std::uint64_t last = (top_of(stack) - 1) >> kPageBits;
  if (this_watch.holds) {
    for (std::uint64_t page = last + 1 - kFirstPages; page <= last; ++page) emergency(page << kPageBits);
    return;
  }
  const ThreadClock* clock = nullptr;
  const std::int64_t at_ps = virtual_now(clock);
  const Handling handling;
  const Locked guard;
  Path path;
  for (std::uint64_t page = last + 1 - kFirstPages; page <= last; ++page) {
    const std::uint8_t* byte = page_byte(page, false);
    if (byte == nullptr || mode_of(*byte) == Watched::kNothing) continue;
    if (path.size == 0) path_from(context, path);
    give_up_locked(page, events::Toucher::kProgram, at_ps, &path, clock);
  }
}

/// On the program's stack for handlers.
void call_on(const stack_t& stack, const Call& call) {
  open_top(stack, call.context);
  call_below(top_of(stack), call);
}

bool is_set(const stack_t& stack) {
  return stack.ss_sp != nullptr && (stack.ss_flags & SS_DISABLE) == 0;
}

}  // namespace

void on_program_signal(int signal, siginfo_t* info, void* context) {
  KernelAction& action = state.program_signals[signal];
  const Call call{reinterpret_cast<Handler>(action.handler), signal, info, context};
  if (call.handler == nullptr) return;
  if ((action.flags & SA_RESETHAND) != 0) action = KernelAction{};
  constexpr std::uintptr_t kRedZone = 128;
  const auto interrupted = static_cast<std::uintptr_t>(registers(context)[REG_RSP]);
  const stack_t& stack = this_watch.program_stack;
  if (is_set(stack) && !is_on(stack, interrupted)) return call_on(stack, call);
  if (is_on({this_watch.own_stack, 0, kOurStack}, interrupted)) return call.handler(signal, info, context);
  call_below(interrupted - kRedZone, call);
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  KernelAction& action = state.program_actions[index_of(signal)];
  const auto handler = reinterpret_cast<std::uintptr_t>(action.handler);
  const bool of_the_kernel = info->si_code > 0;
  if (handler == 1 && !of_the_kernel) return;  // ignored
  if (handler <= 1) {
    // The default, as if we were not there: the instruction is executed again, or the signal sent again.
    KernelAction none;
    raw_system_call(SYS_rt_sigaction, signal, as_argument(&none), 0, sizeof(none.mask));
    mask_of(context) &= ~bit_of(signal);
    if (!of_the_kernel || signal != SIGSEGV)
      raw_system_call(SYS_tgkill, raw_system_call(SYS_getpid), raw_system_call(SYS_gettid), signal);
    return;
  }
  unsigned long blocked = mask_of(context) | (action.mask & ~kOurSignals);
  raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&blocked), 0, sizeof(blocked));
  const Call call{reinterpret_cast<Handler>(action.handler), signal, info, context};
  if ((action.flags & SA_RESETHAND) != 0) action = KernelAction{};
  const stack_t& stack = this_watch.program_stack;
  if ((action.flags & SA_ONSTACK) != 0 && is_set(stack)) {
    call_on(stack, call);
    unsigned long all = ~kOurSignals;
    raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, as_argument(&all), 0, sizeof(all));
    return;
  }
  call.handler(signal, info, context);
}

}  // namespace nplus1::stubs::access
