#include "support/processes/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace nplus1::processes {
namespace {

Ending ending_of(int status) {
  return WIFSIGNALED(status) ? Ending{-1, WTERMSIG(status)} : Ending{WEXITSTATUS(status), 0};
}

}  // namespace

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

std::optional<std::pair<Descriptor, Descriptor>> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return std::pair{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

std::string read_all(int descriptor) {
  std::string text;
  char bytes[65536];
  for (;;) {
    const ssize_t got = ::read(descriptor, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes, static_cast<std::size_t>(got));
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string Ending::text() const {
  return signal != 0 ? std::string{"by signal "} + strsignal(signal)
                     : "with exit code " + std::to_string(code);
}

Child::~Child() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  wait();
}

Ending Child::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return ending_of(status);
}

std::optional<Ending> Child::ended() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
  pid_ = 0;
  return ending_of(status);
}

Ending Child::stop() {
  constexpr int kMostLooks = 100;
  constexpr useconds_t kBetween = 50'000;
  kill(pid_, SIGTERM);
  for (int look = 0; look < kMostLooks; ++look) {
    if (const auto ending = ended()) return *ending;
    usleep(kBetween);
  }
  kill(pid_, SIGKILL);
  return wait();
}

std::optional<Child> fork_child(const std::function<int()>& work, Follows follows) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid > 0) return Child{pid};
  if (follows == Follows::kKillWithParent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // one that is ended has no time to end its own
    if (getppid() != parent) _exit(1);
  }
  _exit(work());
}

}  // namespace nplus1::processes
