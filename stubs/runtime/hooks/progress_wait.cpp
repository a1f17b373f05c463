#include "stubs/runtime/hooks/progress_wait.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/runtime/hooks/progress_hook.hpp"

namespace nplus1::stubs {

namespace detail {
constinit std::atomic<std::uint32_t> moves{0};
constinit thread_local unsigned idle_polls = 0;
}  // namespace detail

namespace {

constexpr unsigned kPollsBeforeYield = 5;
constexpr unsigned kYieldsBeforeSleep = 2;
constexpr unsigned kYieldsWithCoresToSpare = 2000;  // about as long as a sleep costs

constinit std::atomic<bool> plain_waits{false};

/// With a core for each process of the host, nobody waits for ours, and sleeping would only add latency
/// (measured: 25-50 us instead of 4 us per barrier of 2 ranks on 2 cores). The starter says how many
/// processes it started here.
unsigned yields_before_sleep() noexcept {
  const char* processes = std::getenv(library::kRanksHere);
  cpu_set_t cores;
  if (processes == nullptr || sched_getaffinity(0, sizeof cores, &cores) != 0) return kYieldsBeforeSleep;
  const long started = std::strtol(processes, nullptr, 10);
  return started > 0 && started <= CPU_COUNT(&cores) ? kYieldsWithCoresToSpare : kYieldsBeforeSleep;
}

}  // namespace

void wait_a_little() noexcept {
  if (call_state.waits_itself || plain_waits.load(std::memory_order_relaxed)) return;
  ++call_state.idle_polls;
  if (++detail::idle_polls <= kPollsBeforeYield) return;
  const int saved = errno;
  static const unsigned yields = yields_before_sleep();
  if (call_state.idle_polls <= kPollsBeforeYield + yields) {
    sched_yield();
  } else {
    idle_wait();
  }
  errno = saved;
}

std::uint32_t native_moves() noexcept {
  return detail::moves.load(std::memory_order_relaxed);
}

void wait_as_mpi_does() noexcept {
  plain_waits.store(true, std::memory_order_relaxed);
}

__attribute__((weak)) void idle_wait() noexcept {
  static constinit thread_local bool precise = false;
  if (!precise) precise = prctl(PR_SET_TIMERSLACK, 1UL) == 0;
  // The system call itself: nanosleep() is one of our wrappers.
  timespec pause{0, 50'000};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, nullptr);
}

}  // namespace nplus1::stubs
