#include "stubs/runtime/progress_hook.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "stubs/runtime/guard.hpp"

namespace nplus1::stubs {
namespace {

constexpr unsigned kPollsBeforeYield = 5;
constexpr unsigned kYieldsBeforeSleep = 2;
constexpr unsigned kYieldsWithCoresToSpare = 2000;  // about as long as a sleep costs

using Progress = unsigned(void*);

constinit std::atomic<Progress*> real_progress{nullptr};
constinit std::atomic<bool> looked_up{false};

/// RTLD_NEXT sees the global scope; an MPI library opened with RTLD_LOCAL brings its UCX along out of sight.
Progress* find_progress() noexcept {
  void* found = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (found == nullptr) {
    void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) found = dlsym(library, "ucp_worker_progress");
  }
  auto* progress = reinterpret_cast<Progress*>(found);
  real_progress.store(progress, std::memory_order_relaxed);
  looked_up.store(true, std::memory_order_release);
  return progress;
}

Progress* next_progress() noexcept {
  if (looked_up.load(std::memory_order_acquire)) [[likely]]
    return real_progress.load(std::memory_order_relaxed);
  return find_progress();
}

constinit std::atomic<bool> plain_waits{false};
constinit std::atomic<std::uint32_t> moves{0};
constinit thread_local unsigned idle_polls __attribute__((tls_model("initial-exec"))) = 0;

/// With a core for each process of the host, nobody waits for ours, and sleeping would only add latency
/// (measured: 25-50 us instead of 4 us per barrier of 2 ranks on 2 cores). Hydra says how many processes it
/// started here.
unsigned yields_before_sleep() noexcept {
  const char* processes = std::getenv("MPI_LOCALNRANKS");
  cpu_set_t cores;
  if (processes == nullptr || sched_getaffinity(0, sizeof cores, &cores) != 0) return kYieldsBeforeSleep;
  const long started = std::strtol(processes, nullptr, 10);
  return started > 0 && started <= CPU_COUNT(&cores) ? kYieldsWithCoresToSpare : kYieldsBeforeSleep;
}

/// Yields whenever the thread finds nothing for long; sleeps only within one long MPI call: a program that
/// polls with MPI_Test between pieces of work must not sleep in each poll.
void wait_a_little() noexcept {
  if (call_state.waits_itself || plain_waits.load(std::memory_order_relaxed)) return;
  ++call_state.idle_polls;
  if (++idle_polls <= kPollsBeforeYield) return;
  const int saved = errno;
  static const unsigned yields = yields_before_sleep();
  if (call_state.idle_polls <= kPollsBeforeYield + yields) {
    sched_yield();
  } else {
    idle_wait();
  }
  errno = saved;
}

/// Two threads at once may count one: that it changes is enough.
void note_move() noexcept {
  moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

std::uint32_t native_moves() noexcept {
  return moves.load(std::memory_order_relaxed);
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

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  using namespace nplus1::stubs;
  Progress* progress = next_progress();
  const unsigned events = progress == nullptr ? 0 : progress(worker);
  if (events == 0) {
    wait_a_little();
  } else {
    note_move();
    idle_polls = 0;
    call_state.idle_polls = 0;
  }
  return events;
}
