// How a process and its threads begin to be watched: our signal handlers, the dispatch of system calls, and what a signal
// costs beyond what its handler sees of itself.
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "stubs/access/signal_actions.hpp"
#include "stubs/access/signal_context.hpp"
#include "stubs/access/state.hpp"
#include "stubs/clock/thread_clock.hpp"

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

}  // namespace

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
  return clock->base_and(clock->elapsed()).time_since_epoch().count();
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
