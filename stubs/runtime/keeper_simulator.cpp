#include "stubs/runtime/keeper_simulator.hpp"

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

#include "stubs/runtime/keeper_pmi.hpp"

extern "C" char** environ;

namespace nplus1::stubs {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

std::optional<Pipe> open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{ends[0], ends[1]};
}

void remove_mpi_environment() {
  std::vector<std::string> names{"LD_PRELOAD"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.substr(0, 4) == "PMI_") names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
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
  remove_mpi_environment();
  std::signal(SIGPIPE, SIG_DFL);
  execl(program.c_str(), "nplus1-simnode", "--job", job.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

/// The third word of `ready NAME ADDRESS`.
std::optional<std::string> address_of(const std::string& line) {
  if (line.compare(0, 6, "ready ") != 0) return std::nullopt;
  const auto second = line.find(' ', 6);
  if (second == std::string::npos || second + 1 == line.size()) return std::nullopt;
  return line.substr(second + 1);
}

bool executable(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

}  // namespace

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

std::optional<Simulator> Simulator::start(const std::string& program, const std::string& job,
                                          std::chrono::milliseconds limit) {
  const auto in = open_pipe();
  const auto out = open_pipe();
  if (!in || !out) return std::nullopt;
  Simulator simulator;
  simulator.process_ = fork();
  if (simulator.process_ < 0) return std::nullopt;
  if (simulator.process_ == 0) execute(program, job, *in, *out);
  close(in->read_end);
  close(out->write_end);
  simulator.input_ = in->write_end;
  simulator.output_ = out->read_end;  // stays open: what it prints later must not kill it
  LineReader lines{simulator.output_};
  const auto line = lines.next(limit);
  const auto address = line ? address_of(*line) : std::nullopt;
  if (!address) {
    close(simulator.input_);
    return std::nullopt;
  }
  simulator.address_ = *address;
  return simulator;
}

void Simulator::finish(std::chrono::milliseconds limit) {
  close(input_);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (waitpid(process_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < deadline) {
    poll(nullptr, 0, 10);
  }
}

}  // namespace nplus1::stubs
