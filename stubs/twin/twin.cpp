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

#include "stubs/runtime/guard.hpp"
#include "stubs/runtime/thread_clock.hpp"
#include "stubs/twin/own_call.hpp"
#include "stubs/twin/pages.hpp"

namespace nplus1::stubs::twin {
namespace {

constexpr int kColdPasses =
    2;  // the first copies each page that it writes to, the second finds what that left

/// What process and twin have in common.
struct Shared {
  enum State : std::uint32_t { kIdle, kRuns, kDone, kFailed };
  std::atomic<std::uint32_t> state{kIdle};
  pid_t parent = 0;
  std::int64_t deadline_ticks = 0;
  std::int64_t pass_began = 0;
  int passes = 0;
  std::int64_t ticks_of[kMostPasses] = {};
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

[[noreturn]] void end(Shared::State state) {
  shared->state.store(state, std::memory_order_release);
  own_call(SYS_futex, as_long(&shared->state), FUTEX_WAKE, 1);
  leave(0);
}

/// Two of the warm passes took the same, as nearly as matters, or there is no more time.
bool enough() {
  const Shared& s = *shared;
  if (s.passes == kMostPasses || ticks() > s.deadline_ticks) return s.passes > kColdPasses;
  if (s.passes < kColdPasses + 2) return false;
  std::int64_t least = INT64_MAX, second = INT64_MAX;
  for (int i = kColdPasses; i < s.passes; ++i) {
    const std::int64_t t = s.ticks_of[i];
    second = std::min(second, std::max(least, t));
    least = std::min(least, t);
  }
  constexpr std::int64_t kOnePercent = 100;
  return second - least <= std::max<std::int64_t>(least / kOnePercent, 40);
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
    m.warm_ticks =
        std::max<std::int64_t>(1, *std::min_element(s.ticks_of + kColdPasses, s.ticks_of + s.passes));
  }
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
  shared->pass_began = ticks();
}

void end_pass() noexcept {
  Shared& s = *shared;
  s.ticks_of[s.passes] = ticks() - s.pass_began;
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
