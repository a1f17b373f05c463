#include "cli/run/launcher.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "cli/failure.hpp"
#include "cli/run/group_witness.hpp"
#include "cli/run/left_over.hpp"
#include "cli/to_stderr.hpp"

namespace nplus1::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPollInterval{5};
constexpr milliseconds kGrace{1000};  // for the simulator to leave after its last file

std::atomic<pid_t> mpirun_pid{0};
std::atomic<const GroupWitness*> group_witness{nullptr};
std::atomic<int> unsent{0};  // a signal that came while there was no mpirun to send it to
std::atomic<int> told_to_end{0};
constexpr unsigned kSecondsToEnd = 5;  // for mpirun, between two looks

void forward(int signal, siginfo_t* info, void*) {
  const pid_t pid = mpirun_pid.load(std::memory_order_relaxed);
  if (pid == 0) unsent.store(signal, std::memory_order_relaxed);
  told_to_end.store(signal, std::memory_order_relaxed);
  alarm(kSecondsToEnd);
  pass_on(signal, *info, pid, group_witness.load(std::memory_order_relaxed));
}

void look(int) {}

void forward_signals() {
  struct sigaction looking {};
  looking.sa_handler = look;  // without SA_RESTART: a wait ends
  sigaction(SIGALRM, &looking, nullptr);
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : kPassedOn) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

/// While it exists, it is known who had a signal; signals are handled for good.
class SignalsToMpirun {
 public:
  SignalsToMpirun() {
    group_witness.store(&witness_, std::memory_order_relaxed);
    forward_signals();
  }
  ~SignalsToMpirun() { group_witness.store(nullptr, std::memory_order_relaxed); }
  SignalsToMpirun(const SignalsToMpirun&) = delete;
  SignalsToMpirun& operator=(const SignalsToMpirun&) = delete;

 private:
  GroupWitness witness_;
};

pid_t spawn(const std::vector<std::string>& words, const sigset_t& mask) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw Failure{ExitCode::kUnavailable,
                  fmt::format("{} can't be started: {}", words[0], std::strerror(error)), kNothingStarted,
                  "nplus1 doctor"};
  }
  return pid;
}

constexpr int kBySignal = 128;

int exit_code(int status) {
  return WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Whose end tells the simulator's; 0: a keeper's, which this process adopts. What else it adopts then ends with 0, or says
/// nothing of use.
pid_t simulator_pid = 0;

void note_end(pid_t ended, int status, int& simulator_code) {
  if (simulator_pid != 0 && ended != simulator_pid) return;
  if (const GroupWitness* witness = group_witness.load(); witness != nullptr && ended == witness->pid())
    return;
  if (const int code = exit_code(status); code != 0) simulator_code = code;
}

/// `mpirun` was told to end. Whether it was ended because it waits for nobody of the job.
bool end_what_waits_for_nobody(pid_t mpirun) {
  if (has_processes_of_the_job(mpirun)) {
    alarm(kSecondsToEnd);
    return false;
  }
  std::string holders;
  const GroupWitness* const witness = group_witness.load();
  for (const RunningProcess& p : adopted({mpirun, witness == nullptr ? 0 : witness->pid(), simulator_pid}))
    holders += fmt::format("{}{} ({})", holders.empty() ? "" : ", ", p.name, p.pid);
  to_stderr(
      "nplus1: mpirun did not end when it was told to, though all ranks have ended{}{}\n"
      "  so:   mpirun was killed{}\n"
      "  next: {}\n",
      holders.empty() ? "" : ": something that they started holds their output open: ", holders,
      holders.empty() ? "" : "; what holds the output was left alone",
      holders.empty() ? "nothing; the results are those of the ranks" : "end it, if it is not wanted");
  kill(mpirun, SIGKILL);
  return true;
}

/// Reaps children until `pid` ends.
int wait_for(pid_t pid, int& simulator_code) {
  bool killed = false;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended == pid) return killed ? kBySignal + told_to_end.load() : exit_code(status);
    if (ended > 0) note_end(ended, status, simulator_code);
    if (ended < 0 && errno != EINTR) return static_cast<int>(ExitCode::kSoftware);
    if (ended < 0 && told_to_end.load() != 0 && !killed) killed = end_what_waits_for_nobody(pid);
  }
}

pid_t start(const std::vector<std::string>& words) {
  const SignalsHeld held;
  const pid_t pid = spawn(words, held.before());
  mpirun_pid.store(pid, std::memory_order_relaxed);
  return pid;
}

int run_mpirun(const std::vector<std::string>& words, int& simulator_code) {
  const SignalsToMpirun signals;
  const pid_t pid = start(words);
  if (const int signal = unsent.exchange(0); signal != 0) kill(pid, signal);
  const int code = wait_for(pid, simulator_code);
  mpirun_pid.store(0, std::memory_order_relaxed);  // the number may belong to somebody else now
  alarm(0);
  return code;
}

/// Reaps whatever has ended; false when no child is left.
bool children_left(int& simulator_code) {
  pid_t ended = 0;
  int status = 0;
  do {
    ended = waitpid(-1, &status, WNOHANG);
    if (ended > 0) note_end(ended, status, simulator_code);
  } while (ended > 0 || (ended < 0 && errno == EINTR));
  return ended == 0;
}

bool wait_for_simulator(const std::filesystem::path& result, std::chrono::seconds patience, int& code) {
  auto until = steady_clock::now() + patience;
  bool written = false;
  std::error_code error;
  while (children_left(code)) {
    if (unsent.load(std::memory_order_relaxed) != 0) return written;  // the user has waited enough
    if (!written && !result.empty() && std::filesystem::exists(result, error)) {
      written = true;
      until = steady_clock::now() + kGrace;
    }
    if (steady_clock::now() > until) return written;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

}  // namespace

Ended run_job(const std::vector<std::string>& words, const std::filesystem::path& result,
              std::chrono::seconds patience, const Beside& beside) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  simulator_pid = beside.simulator;
  Ended ended;
  ended.exit_code = run_mpirun(words, ended.simulator_code);
  if (beside.on_end) beside.on_end();
  ended.simulator_done = wait_for_simulator(result, patience, ended.simulator_code);
  return ended;
}

}  // namespace nplus1::cli
