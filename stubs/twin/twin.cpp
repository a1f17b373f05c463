#include "stubs/twin/twin.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <new>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/twin/own_call.hpp"
#include "stubs/twin/pages.hpp"

namespace nplus1::stubs::twin {
namespace {

constexpr int kColdPasses =
    2;  // the first copies each page that it writes to, the second finds what that left

struct Pass {
  std::int64_t ticks;
  bool interrupted;  // others had the core for a while
};

/// What process and twin have in common.
struct Shared {
  enum State : std::uint32_t { kIdle, kRuns, kDone, kFailed };
  std::atomic<std::uint32_t> state{kIdle};
  pid_t parent = 0;
  std::int64_t deadline_ticks = 0;
  std::int64_t pass_began = 0, pass_began_cpu_ns = 0;
  int passes = 0;
  Pass pass[kMostPasses] = {};
  Runtime* runtime = nullptr;  // of the process: a forked child does not know it
  ucontext_t start{};          // where every pass begins
  ucontext_t between{};        // between two passes
  Pages pages;
  alignas(64) std::byte stack[std::size_t{64} << 10U];
  alignas(64) std::byte signal_stack[std::size_t{16} << 10U];
};

Shared* shared = nullptr;
bool twin_here = false;  // private memory: the twin's own

std::int64_t now_ns() {
  timespec t{};
  own_call(SYS_clock_gettime, CLOCK_MONOTONIC, as_long(&t));
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

std::int64_t cpu_ns() {
  timespec t{};
  own_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, as_long(&t));
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

/// What a pass took. The time stamp counter knows it to the nanosecond; but beside many ranks the twin loses its core
/// sooner or later, and then only its CPU time tells, with what the changes of process cost.
Pass taken(std::int64_t tick_difference, std::int64_t cpu_difference_ns) {
  constexpr double kNoiseNs = 2000, kNoise = 1.005;  // of the CPU clock, the calls that read it included
  const auto cpu_ns = static_cast<double>(cpu_difference_ns);
  const double ticks_ns = static_cast<double>(tick_difference) * nanoseconds_per_tick();
  if (ticks_ns <= kNoise * cpu_ns + kNoiseNs) return {tick_difference, false};
  return {static_cast<std::int64_t>(cpu_ns / nanoseconds_per_tick()), true};
}

/// Of the warm passes the shortest that another confirms, `apart` or less of it longer: a single one may be too short,
/// because what the hypervisor took is subtracted from CPU time late. 0 where there is no such pair.
std::int64_t confirmed(double apart, bool interrupted_too) {
  constexpr std::int64_t kFewTicks = 40;
  const Shared& s = *shared;
  std::int64_t warm[kMostPasses] = {};
  std::int64_t* end = warm;
  for (int i = kColdPasses; i < s.passes; ++i)
    if (interrupted_too || !s.pass[i].interrupted) *end++ = s.pass[i].ticks;
  std::sort(warm, end);
  for (const std::int64_t* t = warm; t < end - 1; ++t)
    if (t[1] - t[0] <= std::max(static_cast<std::int64_t>(apart * static_cast<double>(t[0])), kFewTicks))
      return std::max<std::int64_t>(t[0], 1);
  return 0;
}

/// Then what disturbs a pass is a small share of it; and to wait for more passes on a crowded host is to measure the
/// shorter ones of a kind only, since the longer do not end in time.
bool is_longer_than(double ns) {
  const Shared& s = *shared;
  return s.passes > kColdPasses &&
         static_cast<double>(s.pass[s.passes - 1].ticks) * nanoseconds_per_tick() > ns;
}

bool is_long() {
  return is_longer_than(1e6);
}

/// What the stretch takes, if the passes say it. Where others had the core in every pass, the shortest is still too
/// long, and none confirms another.
void judge(Measured& m) {
  constexpr double kNearly = 0.01, kAny = 1;
  constexpr int kEnoughPasses = 4, kEnoughLongOnes = 2;
  const int enough = is_long() ? kEnoughLongOnes : kEnoughPasses;
  m.warm_ticks = confirmed(kNearly, false);
  if (m.warm_ticks != 0 || shared->passes < kColdPasses + enough) return;
  m.warm_ticks = confirmed(kAny, true);
  m.rough = m.warm_ticks != 0;
}

[[noreturn]] void end(Shared::State state) {
  shared->state.store(state, std::memory_order_release);
  own_call(SYS_futex, as_long(&shared->state), FUTEX_WAKE, 1);
  leave(0);
}

/// Two of the warm passes took the same, or there is no more time.
bool enough() {
  constexpr double kSame = 0.003;
  constexpr std::int64_t kMostCpuNs = 10'000'000;  // where the first passes have not told
  constexpr int kFewPasses = 10, kFewLongOnes = 6, kFewVeryLongOnes = 4;
  constexpr double kVeryLongNs = 3e6;
  const Shared& s = *shared;
  if (s.passes <= kColdPasses) return false;
  if (s.passes == kMostPasses || ticks() > s.deadline_ticks) return true;
  const int few = is_longer_than(kVeryLongNs) ? kFewVeryLongOnes : is_long() ? kFewLongOnes : kFewPasses;
  if (s.passes >= few && cpu_ns() > kMostCpuNs) return true;
  return confirmed(kSame, false) != 0;
}

/// Runs between two passes, on a stack of its own.
void between_passes() {
  Shared& s = *shared;
  if (s.passes == 1 && !s.pages.keep_written(s.parent)) end(Shared::kFailed);
  if (enough()) end(Shared::kDone);
  if (ticks() > s.deadline_ticks) end(Shared::kFailed);
  s.pages.restore();
  setcontext(&s.start);
  leave(1);
}

/// The twin's first steps.
void become_twin() {
  Shared& s = *shared;
  twin_here = true;
  detail::own_state->runtime.store(s.runtime, std::memory_order_relaxed);
  set_active(true);
  const auto ours = reinterpret_cast<std::uintptr_t>(shared);
  if (!confine(s.signal_stack, sizeof(s.signal_stack))) end(Shared::kFailed);
  if (own_call(SYS_getppid) != s.parent) leave(1);  // it died before it could be noticed
  if (!s.pages.find(ours, ours + sizeof(Shared))) end(Shared::kFailed);
}

Measured wait_for(pid_t twin, std::int64_t until_ns) {
  Shared& s = *shared;
  // Now and then, so that who watches this process sees it alive.
  constexpr timespec kMoment{0, 2'000'000};
  for (;;) {
    const std::uint32_t state = s.state.load(std::memory_order_acquire);
    if (state == Shared::kDone || state == Shared::kFailed) break;
    int status = 0;
    if (own_call(SYS_wait4, twin, as_long(&status), WNOHANG | 0x40000000 /*__WALL*/) == twin) return {};
    if (now_ns() > until_ns) break;
    own_call(SYS_futex, as_long(&s.state), FUTEX_WAIT, static_cast<long>(state), as_long(&kMoment));
  }
  rusage used{};
  int status = 0;
  own_call(SYS_kill, twin, SIGKILL);
  while (own_call(SYS_wait4, twin, as_long(&status), 0x40000000, as_long(&used)) == -EINTR) {
  }
  Measured m;
  m.passes = s.passes;
  const auto us = [](const timeval& t) { return t.tv_sec * std::int64_t{1'000'000} + t.tv_usec; };
  m.cpu_ns = 1000 * (us(used.ru_utime) + us(used.ru_stime));
  if (s.state.load(std::memory_order_acquire) == Shared::kDone) {
    s.pages.take_back();
    judge(m);
  }
  s.pages.take_back_earlier();
  return m;
}

}  // namespace

bool begin() noexcept {
  if (own_call_address() == 0) return false;
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shared = new (memory) Shared;
  return true;
}

bool is_twin() noexcept {
  return twin_here;
}

__attribute__((noinline)) std::optional<Measured> measure(std::int64_t limit_ns) noexcept {
  Shared& s = *shared;
  s.state.store(Shared::kIdle, std::memory_order_relaxed);
  s.passes = 0;
  s.parent = getpid();
  s.runtime = detail::own_state->runtime.load(std::memory_order_relaxed);
  s.deadline_ticks =
      ticks() + static_cast<std::int64_t>(static_cast<double>(limit_ns) / nanoseconds_per_tick());
  const std::int64_t began = now_ns(), cpu_before = cpu_ns();
  getcontext(&s.start);  // each further pass begins here
  if (s.state.load(std::memory_order_acquire) == Shared::kRuns) {
    twin_here = true;
    return std::nullopt;
  }
  const long twin = own_call(SYS_clone, 0);
  if (twin == 0) {
    become_twin();
    s.state.store(Shared::kRuns, std::memory_order_release);
    return std::nullopt;
  }
  if (twin < 0) return Measured{};
  Measured m = wait_for(static_cast<pid_t>(twin), began + 2 * limit_ns);
  m.cpu_ns += cpu_ns() - cpu_before;
  return m;
}

void begin_pass() noexcept {
  Shared& s = *shared;
  s.pass_began_cpu_ns = cpu_ns();
  s.pass_began = ticks();
}

void end_pass() noexcept {
  Shared& s = *shared;
  const std::int64_t took = ticks() - s.pass_began;
  s.pass[s.passes] = taken(took, cpu_ns() - s.pass_began_cpu_ns);
  ++s.passes;
  getcontext(&s.between);
  s.between.uc_stack.ss_sp = s.stack;
  s.between.uc_stack.ss_size = sizeof(s.stack);
  s.between.uc_link = nullptr;
  makecontext(&s.between, between_passes, 0);
  setcontext(&s.between);
  leave(1);
}

}  // namespace nplus1::stubs::twin
