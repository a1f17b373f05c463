#include "stubs/statistics/hang.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs::statistics {
namespace {

// Made before any signal may come; then only read.
char command[4096];
char folder[4096];
char* arguments[] = {command, const_cast<char*>("where"), const_cast<char*>("--to-stderr"), folder, nullptr};
char* environment[] = {nullptr};
alignas(64) char child_stack[65536];
std::atomic<bool> starting{false};
std::atomic<bool> watching{false};
int taken_signal = 0;
double patience_s = 0;
pthread_t watcher;
page::Header* header = nullptr;

int start_where(void*) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execve(command, arguments, environment);
  _exit(127);
}

/// Async-signal-safe. A child without a signal at its end: the program neither hears of it, nor waits for it by mistake.
void say_where() {
  if (starting.exchange(true)) return;
  const int before = errno;
  static std::atomic<pid_t> last{0};
  if (last > 0) waitpid(last, nullptr, static_cast<int>(__WCLONE) | WNOHANG);
  last = clone(start_where, child_stack + sizeof child_stack, CLONE_VM | CLONE_VFORK, nullptr);
  errno = before;
  starting = false;
}

void on_signal(int) {
  say_where();
}

std::string default_command() {
  const char* set = std::getenv("NPLUS1_COMMAND");
  return set == nullptr ? "" : set;
}

/// Only where the signal would otherwise end the program.
void take_signal() {
  const char* set = std::getenv("NPLUS1_STATISTICS_SIGNAL");
  const int number = set == nullptr ? SIGUSR2 : std::atoi(set);
  struct sigaction old {};
  if (number <= 0 || number >= NSIG || sigaction(number, nullptr, &old) != 0) return;
  if (old.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, &action, nullptr) == 0) taken_signal = number;
}

/// What all threads have said of themselves so far: another number after each entry and exit.
std::uint64_t progress() {
  const auto& table = header->tables[static_cast<std::size_t>(page::TableKind::kThreads)];
  const auto* states =
      reinterpret_cast<const page::ThreadState*>(reinterpret_cast<const char*>(header) + table.offset);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < table.entries; ++i)
    sum += __atomic_load_n(&states[i].sequence, __ATOMIC_RELAXED);
  return sum;
}

void sleep_s(double seconds) {
  timespec rest{};
  rest.tv_sec = static_cast<time_t>(seconds);
  rest.tv_nsec = static_cast<long>((seconds - static_cast<double>(rest.tv_sec)) * 1e9);
  clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, nullptr);
}

void* watch(void*) {
  const double step = std::clamp(patience_s / 8, 0.05, 1.0);
  std::uint64_t seen = progress();
  double still = 0;
  bool said = false;
  while (watching.load(std::memory_order_relaxed)) {
    sleep_s(step);
    const std::uint64_t now = progress();
    still = now == seen ? still + step : 0;
    said = said && now == seen;
    seen = now;
    if (still < patience_s || said) continue;
    said = true;
    say_where();
  }
  return nullptr;
}

/// With all signals blocked: none of the program's is taken by this thread.
void start_watcher() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watching = true;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 131072);
  if (pthread_create(&watcher, &attributes, watch, nullptr) != 0) watching = false;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void watch_for_hangs(Recorder& recorder) {
  header = &recorder.header();
  const std::string where = default_command();
  if (where.empty() || where.size() >= sizeof command || recorder.folder().size() >= sizeof folder) return;
  std::memcpy(command, where.c_str(), where.size() + 1);
  std::memcpy(folder, recorder.folder().c_str(), recorder.folder().size() + 1);
  take_signal();
  const char* after = std::getenv("NPLUS1_HANG_AFTER");
  patience_s = after == nullptr ? 0 : std::atof(after);
  if (patience_s > 0) start_watcher();
}

void stop_watching() {
  watching = false;
  if (taken_signal == 0) return;
  struct sigaction old {};
  if (sigaction(taken_signal, nullptr, &old) == 0 && old.sa_handler == on_signal)
    signal(taken_signal, SIG_IGN);
}

}  // namespace nplus1::stubs::statistics
