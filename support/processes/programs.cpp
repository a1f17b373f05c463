#include "support/processes/programs.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "support/processes/child.hpp"

namespace nplus1::processes {
namespace {

using std::chrono::steady_clock;

pid_t spawn(const std::vector<std::string>& words, int output, bool with_errors,
            const std::string& directory) {
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
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
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

Output capture(const std::vector<std::string>& words, std::chrono::seconds limit, bool with_errors,
               const std::string& directory) {
  Output output;
  auto pipe = make_pipe();
  if (!pipe) return output;
  auto& [out, in] = *pipe;
  const pid_t pid = spawn(words, in.get(), with_errors, directory);
  in.close();
  if (pid <= 0) return output;
  Child child{pid};
  output.timed_out = !drain(out.get(), steady_clock::now() + limit, output.text);
  if (output.timed_out) kill(pid, SIGTERM);
  output.exit_code = child.wait().shell_code();
  return output;
}

namespace {

/// The program, in place of this process.
int execute(const std::vector<std::string>& words, int output) {
  constexpr int kNotStarted = 127;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  execvp(arguments[0], arguments.data());
  return kNotStarted;
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

pid_t parent_of(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};  // "17 (a name) S 4 ..."
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_ends = stat.rfind(')');
  std::istringstream rest{name_ends == stat.npos ? "" : stat.substr(name_ends + 1)};
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

/// What a program had started that was killed: all of it has become this process's (PR_SET_CHILD_SUBREAPER).
void end_orphans() {
  namespace fs = std::filesystem;
  for (bool found = true; found;) {
    found = false;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator{"/proc", none}) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != name.npos) continue;
      const pid_t pid = std::stoi(name);
      if (parent_of(pid) != getpid()) continue;
      kill(pid, SIGKILL);
      found = waitpid(pid, nullptr, 0) == pid || found;
    }
  }
}

/// Waits for the program, and ends it when this process is told to end: first by SIGTERM, so that it can end what it has
/// started, and some seconds later by SIGKILL, and then what it has left. (An mpirun that is told to end while it starts may
/// never do so.) Returns its exit code.
int attend(Child program) {
  constexpr timespec kGrace{4, 0};  // less than Child::stop() has for this process
  const sigset_t awaited = set_of({SIGCHLD, SIGTERM, SIGHUP});
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  bool told = false, killed = false;
  for (;;) {
    if (const auto ending = program.ended()) {
      if (killed) end_orphans();
      return ending->shell_code();
    }
    const int signal = sigtimedwait(&awaited, nullptr, told ? &kGrace : nullptr);
    if (signal == SIGTERM || signal == SIGHUP) {
      if (!told) kill(program.pid(), SIGTERM);
      told = true;
    } else if (signal < 0 && errno == EAGAIN) {
      kill(program.pid(), SIGKILL);
      killed = true;
    }
  }
}

/// Between this process and the program is one that ends it when this one ends, however it does.
std::optional<Child> start_attended(const std::vector<std::string>& words, int output) {
  const pid_t parent = getpid();
  return fork_child([&] {
    const sigset_t held = set_of({SIGCHLD, SIGTERM, SIGHUP, SIGINT});
    sigset_t before;
    sigprocmask(SIG_BLOCK, &held, &before);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    constexpr int kNotStarted = 127;
    if (getppid() != parent) return kNotStarted;
    auto program = fork_child(
        [&] {
          sigprocmask(SIG_SETMASK, &before, nullptr);
          return execute(words, output);
        },
        Follows::kKillWithParent);
    close_range(STDERR_FILENO + 1, ~0U, 0);  // the output, whose end is then seen, and what is open by chance
    return program ? attend(std::move(*program)) : kNotStarted;
  });
}

/// Hands over the whole lines of `text` and keeps the rest.
void take_lines(std::string& text, const std::function<void(const std::string&)>& on_line) {
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
    on_line(text.substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
}

/// False when nothing came for `patience`.
bool read_lines(int input, std::chrono::seconds patience,
                const std::function<void(const std::string&)>& on_line) {
  std::array<char, 65536> buffer{};
  std::string text;
  while (true) {
    pollfd wait{input, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::chrono::milliseconds{patience}.count()));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = read(input, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    take_lines(text, on_line);
  }
}

}  // namespace

Streamed stream(const std::vector<std::string>& words, std::chrono::seconds patience,
                const std::function<void(const std::string&)>& on_line) {
  Streamed streamed;
  auto pipe = make_pipe();
  if (!pipe) return streamed;
  auto& [out, in] = *pipe;
  auto child = start_attended(words, in.get());
  in.close();
  if (!child) return streamed;
  streamed.silent = !read_lines(out.get(), patience, on_line);
  streamed.exit_code = (streamed.silent ? child->stop() : child->wait()).shell_code();
  return streamed;
}

std::string preloaded_before_the_users(const std::string& libraries) {
  const char* const set = std::getenv("LD_PRELOAD");
  const std::string users = set == nullptr ? "" : set;
  return libraries + (libraries.empty() || users.empty() ? "" : ":") + users;
}

}  // namespace nplus1::processes
