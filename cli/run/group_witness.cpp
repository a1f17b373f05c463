#include "cli/run/group_witness.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace nplus1::cli {
namespace {

// One system call signals all; a virtual machine's core may stand still in the middle of it, and a signal that only this
// process had may well come later.
constexpr timespec kBetweenLooks{0, 1'000'000};
constexpr int kLooks = 200;
constexpr timespec kIsTheSame{0, 200'000'000};  // timeout(1) signals its child, and then the group
constexpr int kForget = SIGUSR1;

/// Never returns: it is ended by its parent, or with it.
int witness() {
  close_range(0, ~0U, 0);  // whoever reads our output sees when the program has closed it
  prctl(PR_SET_NAME, "nplus1-witness");
  const sigset_t passed_on = set_of_passed_on();
  sigset_t forget;
  sigemptyset(&forget);
  sigaddset(&forget, kForget);
  constexpr timespec kAtOnce{};
  for (;;) {
    if (sigwaitinfo(&forget, nullptr) < 0) continue;
    nanosleep(&kIsTheSame, nullptr);
    while (sigtimedwait(&passed_on, nullptr, &kAtOnce) > 0) {
    }
  }
}

/// Signals that wait for the whole process, of /proc/PID/status (proc(5)).
unsigned long long pending_in(const char* status_file) {
  char text[4096];
  const int file = open(status_file, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* const line = std::strstr(text, "\nShdPnd:");
  return line == nullptr ? 0 : std::strtoull(line + std::strlen("\nShdPnd:"), nullptr, 16);
}

}  // namespace

sigset_t set_of_passed_on() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kPassedOn) sigaddset(&set, signal);
  return set;
}

GroupWitness::GroupWitness() {
  sigset_t held = set_of_passed_on();
  sigaddset(&held, kForget);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &held, &before);
  process_ = processes::fork_child(witness, processes::Follows::kKillWithParent);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  std::snprintf(status_file_, sizeof status_file_, "/proc/%d/status", static_cast<int>(pid()));
}

bool GroupWitness::has_had(int signal) const noexcept {
  if (pid() == 0) return false;
  for (int look = 0; look < kLooks; ++look) {
    nanosleep(&kBetweenLooks, nullptr);
    if ((pending_in(status_file_) >> (signal - 1) & 1) == 0) continue;
    kill(pid(), kForget);
    return true;
  }
  return false;
}

void pass_on(int signal, const siginfo_t& info, pid_t pid, const GroupWitness* witness) noexcept {
  const int saved = errno;
  const bool sent_by_a_process = info.si_code <= 0;
  const bool all_had_it = witness != nullptr && witness->has_had(signal) && getpgid(pid) == getpgrp();
  if (pid > 0 && sent_by_a_process && !all_had_it) kill(pid, signal);
  errno = saved;
}

}  // namespace nplus1::cli
