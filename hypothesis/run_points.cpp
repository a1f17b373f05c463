// A sweep's child processes: each writes one Message into its pipe and leaves.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <type_traits>

#include "hypothesis/sweep.hpp"

namespace nplus1::hypothesis {
namespace {

struct Message {
  PointResult result;
  bool failed = false;
  char what[512] = {};
  char remedy[512] = {};
};
static_assert(std::is_trivially_copyable_v<Message>);
static_assert(sizeof(Message) <= 4096);  // PIPE_BUF: written whole

struct Child {
  pid_t pid;
  int pipe;
  std::size_t point;
};

template <std::size_t N>
void put(char (&field)[N], const std::string& text) {
  std::strncpy(field, text.c_str(), N - 1);
}

Message carry_out(const std::function<Result<PointResult>(std::size_t)>& replay, std::size_t point) {
  Message message;
  const auto fail = [&message](const Error& error) {
    message.failed = true;
    put(message.what, error.what);
    put(message.remedy, error.remedy);
  };
  try {
    const auto result = replay(point);
    if (result)
      message.result = result.value();
    else
      fail(result.error());
  } catch (const std::exception& error) {
    fail({error.what(), "replay this point alone, with --network"});
  }
  return message;
}

class Pool {
 public:
  explicit Pool(const std::function<Result<PointResult>(std::size_t)>& replay) : replay_{replay} {}
  ~Pool() {
    for (const Child& child : children_) {
      kill(child.pid, SIGKILL);
      forget(child);
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] std::size_t running() const { return children_.size(); }

  [[nodiscard]] bool start(std::size_t point) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    const pid_t pid = fork();
    if (pid == 0) {
      const Message message = carry_out(replay_, point);
      const bool written = write(ends[1], &message, sizeof(message)) == sizeof(message);
      _exit(written ? 0 : 1);  // no destructors: they are the parent's
    }
    close(ends[1]);
    if (pid < 0) {
      close(ends[0]);
      return false;
    }
    children_.push_back({pid, ends[0], point});
    return true;
  }

  /// The point of a child that has ended, and its result.
  Result<std::pair<std::size_t, PointResult>> next() {
    std::vector<pollfd> waiting;
    for (const Child& child : children_) waiting.push_back({child.pipe, POLLIN, 0});
    while (poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) {
    }
    const auto ready = std::find_if(waiting.begin(), waiting.end(), [](const pollfd& p) { return p.revents != 0; });
    const auto at = children_.begin() + (ready - waiting.begin());
    const Child child = *at;
    children_.erase(at);
    Message message;
    const ssize_t got = read(child.pipe, &message, sizeof(message));
    const int status = forget(child);
    if (got != sizeof(message)) {
      const std::string how = WIFSIGNALED(status) ? std::string{"by signal "} + strsignal(WTERMSIG(status))
                                                  : "with exit code " + std::to_string(WEXITSTATUS(status));
      return Error{"a replay of the sweep ended " + how, "ask for fewer at a time with --jobs"};
    }
    if (message.failed) return Error{message.what, message.remedy};
    return std::pair{child.point, message.result};
  }

 private:
  static int forget(const Child& child) {
    close(child.pipe);
    int status = 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  const std::function<Result<PointResult>(std::size_t)>& replay_;
  std::vector<Child> children_;
};

}  // namespace

Result<std::vector<PointResult>> run_points(std::size_t count, std::size_t jobs,
                                            const std::function<Result<PointResult>(std::size_t)>& replay,
                                            const std::function<void(std::size_t)>& progress) {
  std::vector<PointResult> results(count);
  Pool pool{replay};
  std::size_t started = 0;
  for (std::size_t done = 0; done < count;) {
    for (; started < count && pool.running() < std::max<std::size_t>(1, jobs); ++started) {
      if (pool.start(started)) continue;
      if (pool.running() == 0)
        return Error{std::string{"no process for a replay: "} + std::strerror(errno), "try again, with --jobs 1"};
      break;
    }
    const auto next = pool.next();
    if (!next) return next.error();
    results[next.value().first] = next.value().second;
    progress(++done);
  }
  return results;
}

}  // namespace nplus1::hypothesis
