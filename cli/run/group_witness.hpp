// Who else had a signal. timeout(1), kill(1) with a negative number and batch systems signal a whole process group, or all of
// a job's processes: then mpirun has the signal already, and takes one that is passed on for a second, which ends ranks and
// mpirun without giving them time (Hydra kills; Open MPI's leaves its shared memory behind).
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>

#include "support/processes/child.hpp"

namespace nplus1::cli {

/// What is passed on to a job.
inline constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP};
[[nodiscard]] sigset_t set_of_passed_on();

/// While it exists, signals that are passed on wait: between a process's start and its number's being known, one that all of the
/// group had would be sent to it again. (One that they had in the microseconds before it does not have.)
class SignalsHeld {
 public:
  SignalsHeld() {
    const sigset_t held = set_of_passed_on();
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// A process of our group in which those signals stay pending for a moment: what it has, all had. Made and ended by one thread;
/// if it cannot be started nobody is known to have had anything.
class GroupWitness {
 public:
  GroupWitness();

  /// Whether others had `signal` together with this process. For the handler of that signal (async-signal-safe); takes up
  /// to 200 milliseconds, in which one system call signals all.
  [[nodiscard]] bool has_had(int signal) const noexcept;
  [[nodiscard]] pid_t pid() const { return process_ ? process_->pid() : 0; }

 private:
  std::optional<processes::Child> process_;
  char status_file_[32]{};
};

/// For a handler of signals: passes one on to `pid`, a child (0: none yet), if that has not had it. A terminal signals all of
/// its foreground group.
void pass_on(int signal, const siginfo_t& info, pid_t pid, const GroupWitness* witness) noexcept;

}  // namespace nplus1::cli
