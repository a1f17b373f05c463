#include "cli/run/simulator_beside.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "simnode/settings/beside.hpp"

namespace nplus1::cli {
namespace {

constexpr std::chrono::seconds kReadyLimit{60};

/// Its own variables come first: of two of a name the first counts. None of MPI's is needed. It takes a world that is not
/// all here for one on several hosts, as Hydra would have said.
std::vector<std::string> environment_of(int ranks,
                                        const std::vector<std::pair<std::string, std::string>>& environment,
                                        bool other_hosts) {
  const std::string world = std::to_string(ranks + 1), here = other_hosts ? "1" : world;
  std::vector<std::string> all{"NPLUS1_WORLD=" + world, "MPI_LOCALNRANKS=" + here};
  for (const auto& [name, value] : environment) all.push_back(name + "=" + value);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.substr(0, 11) != "LD_PRELOAD=") all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// NPLUS1_SIMNODE_LOG names a file for what it says; else nobody reads it.
const char* log_of_simulator() {
  const char* const log = std::getenv("NPLUS1_SIMNODE_LOG");
  return log != nullptr ? log : "/dev/null";
}

/// The process; 0 if it could not be started.
pid_t launch(const std::string& program, std::vector<std::string> environment, int input, int output) {
  std::vector<std::string> words{"nplus1-simnode", "--job", "nplus1-" + std::to_string(getpid())};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log_of_simulator(), O_WRONLY | O_CREAT | O_APPEND,
                                   0666);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &files, &attributes, pointers_to(words).data(),
                                pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : 0;
}

/// The first line; what has come of it when the time is up or the other side is closed.
std::string first_line_from(int descriptor) {
  const auto until = std::chrono::steady_clock::now() + kReadyLimit;
  std::string line;
  for (char one = 0; one != '\n';) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || ::read(descriptor, &one, 1) != 1) return line;
    if (one != '\n') line += one;
  }
  return line;
}

}  // namespace

SimulatorBeside::SimulatorBeside(const std::filesystem::path& program, int ranks,
                                 const std::vector<std::pair<std::string, std::string>>& environment,
                                 bool other_hosts) {
  auto input = processes::make_pipe();
  auto output = processes::make_pipe();
  if (!input || !output) return;
  process_ = launch(program.string(), environment_of(ranks, environment, other_hosts), input->first.get(),
                    output->second.get());
  if (process_ == 0) return;
  input_ = std::move(input->second);
  output_ = std::move(output->first);
  say(simnode::settings::kBeside);
  output->second.close();  // else nobody sees that it ends
  constexpr std::string_view kReady = "ready ";
  const std::string line = first_line_from(output_.get());
  if (line.compare(0, kReady.size(), kReady) == 0) word_ = line.substr(kReady.size());
}

/// Nobody hears it who has been killed.
void SimulatorBeside::say(char word) const {
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  [[maybe_unused]] const ssize_t said = ::write(input_.get(), &word, 1);
  std::signal(SIGPIPE, before);
}

void SimulatorBeside::finish() {
  if (input_.get() < 0) return;
  say(simnode::settings::kJobOver);
  input_.close();
}

}  // namespace nplus1::cli
