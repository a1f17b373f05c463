#include "stubs/runtime/launch/keeper_simulator.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "stubs/runtime/launch/keeper_pmi.hpp"

extern "C" char** environ;

namespace nplus1::stubs {
namespace {

/// What the simulator inherits. Put together by hand: the program's own unsetenv (bash has one) may do nothing.
std::vector<char*> environment_without_mpi() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.substr(0, 4) != "PMI_" && text.substr(0, 11) != "LD_PRELOAD=") kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

/// The keeper's own stderr is closed to let Hydra end; NPLUS1_SIMNODE_LOG names a file for the simulator's.
void redirect_errors() {
  const char* log = std::getenv("NPLUS1_SIMNODE_LOG");
  if (log == nullptr) return;
  const int file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file >= 0) dup2(file, STDERR_FILENO);
}

[[noreturn]] void execute(const std::string& program, const std::string& job, const Pipe& in,
                          const Pipe& out) {
  dup2(in.read_end, STDIN_FILENO);
  dup2(out.write_end, STDOUT_FILENO);
  redirect_errors();
  std::signal(SIGPIPE, SIG_DFL);
  const std::vector<char*> environment = environment_without_mpi();
  const char* const words[] = {"nplus1-simnode", "--job", job.c_str(), nullptr};
  execve(program.c_str(), const_cast<char* const*>(words), environment.data());
  _exit(127);
}

/// The second word of `ready WORD`.
std::optional<std::string> word_of(const std::string& line) {
  constexpr std::string_view kReady = "ready ";
  if (line.compare(0, kReady.size(), kReady) != 0 || line.size() == kReady.size()) return std::nullopt;
  return line.substr(kReady.size());
}

bool executable(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<Pipe> open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{ends[0], ends[1]};
}

std::string find_simulator() {
  if (const char* named = std::getenv("NPLUS1_SIMNODE")) return executable(named) ? named : "";
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(&find_simulator), &library) == 0) return "";
  const std::string path{library.dli_fname};
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  // From the build tree's lib/, from lib/nplus1/, from lib/TRIPLE/nplus1/, or side by side.
  for (const char* place : {"/../bin/", "/../../bin/", "/../../../bin/", "/"}) {
    std::string program = folder + place + "nplus1-simnode";
    if (executable(program)) return program;
  }
  return "";
}

std::optional<Simulator> Simulator::prepare() {
  const auto in = open_pipe();
  const auto out = open_pipe();
  if (!in || !out) return std::nullopt;
  Simulator simulator;
  simulator.in_ = *in;
  simulator.out_ = *out;
  return simulator;
}

void Simulator::start(const std::string& program, const std::string& job) {
  process_ = fork();
  if (process_ == 0) execute(program, job, in_, out_);
}

void Simulator::leave_to_others() {
  for (int* end : {&in_.read_end, &out_.write_end}) {
    if (*end >= 0) close(*end);
    *end = -1;
  }
}

std::optional<std::string> Simulator::await_word(std::chrono::milliseconds limit) const {
  LineReader lines{out_.read_end};
  const auto line = lines.next(limit);
  return line ? word_of(*line) : std::nullopt;
}

int Simulator::finish(std::chrono::milliseconds limit) {
  close(in_.write_end);
  if (process_ < 0) return 0;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (waitpid(process_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) return 0;
    poll(nullptr, 0, 10);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<int> Simulator::descriptors() const {
  std::vector<int> open;
  for (const int end : {in_.read_end, in_.write_end, out_.read_end, out_.write_end})
    if (end >= 0) open.push_back(end);
  return open;
}

}  // namespace nplus1::stubs
