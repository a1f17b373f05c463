#include "cli/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace nplus1::cli {
namespace {

using std::chrono::steady_clock;

pid_t spawn(const std::vector<std::string>& words, int output, bool with_errors) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (with_errors) {
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  if (posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

/// Reads until end of file or `until`; false when the time was up.
bool drain(int input, steady_clock::time_point until, std::string& text) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{input, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left)) < 0 && errno != EINTR) return true;
    if (wait.revents == 0) continue;
    const ssize_t got = read(input, buffer.data(), buffer.size());
    if (got <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Output capture(const std::vector<std::string>& words, std::chrono::seconds limit, bool with_errors) {
  Output output;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return output;
  const pid_t pid = spawn(words, ends[1], with_errors);
  close(ends[1]);
  if (pid > 0) {
    output.timed_out = !drain(ends[0], steady_clock::now() + limit, output.text);
    if (output.timed_out) kill(pid, SIGTERM);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    output.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  close(ends[0]);
  return output;
}

}  // namespace nplus1::cli
