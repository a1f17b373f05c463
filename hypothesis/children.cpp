// The pipe of each child carries its text, behind one letter: a result, or an error as two texts with a zero
// between.
#include "hypothesis/children.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

namespace nplus1::hypothesis {
namespace {

constexpr char kResult = 'r';
constexpr char kError = 'e';

struct Child {
  pid_t pid;
  int pipe;
  std::size_t task;
  std::string text;
};

std::string carry_out(const Work& work, std::size_t task) {
  const auto failed = [](const Error& error) { return kError + error.what + '\0' + error.remedy; };
  try {
    auto result = work(task);
    return result ? kResult + result.value() : failed(result.error());
  } catch (const std::exception& error) {
    return failed({error.what(), "try this one alone"});
  }
}

bool write_all(int pipe, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(pipe, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  return true;
}

class Pool {
 public:
  Pool(const Work& work, std::optional<std::chrono::duration<double>> limit) : work_{work} {
    if (limit) until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(*limit);
  }
  ~Pool() {
    for (const Child& child : children_) {
      kill(child.pid, SIGKILL);
      forget(child);
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] std::size_t running() const { return children_.size(); }

  [[nodiscard]] bool start(std::size_t task) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // one that is ended has no time to end its own
      if (getppid() != parent) _exit(1);
      close(ends[0]);
      _exit(write_all(ends[1], carry_out(work_, task)) ? 0 : 1);  // no destructors: they are the parent's
    }
    close(ends[1]);
    if (pid < 0) {
      close(ends[0]);
      return false;
    }
    children_.push_back({pid, ends[0], task, {}});
    return true;
  }

  /// The task of a child that has ended, and its result.
  Result<std::pair<std::size_t, std::string>> next() {
    for (;;) {
      std::vector<pollfd> waiting;
      for (const Child& child : children_) waiting.push_back({child.pipe, POLLIN, 0});
      const int ready = poll(waiting.data(), waiting.size(), milliseconds_left());
      if (ready == 0 && milliseconds_left() == 0)
        return Error{"the time for it was up", "do it by itself, which has no limit"};
      if (ready < 0) continue;  // a signal
      for (std::size_t i = 0; i < waiting.size(); ++i)
        if (waiting[i].revents != 0 && !receive(children_[i])) return take(i);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] int milliseconds_left() const {
    if (!until_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
  }

  /// False once the child has said everything.
  static bool receive(Child& child) {
    char bytes[65536];
    const ssize_t got = read(child.pipe, bytes, sizeof(bytes));
    if (got > 0) child.text.append(bytes, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }

  Result<std::pair<std::size_t, std::string>> take(std::size_t i) {
    const Child child = std::move(children_[i]);
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
    const int status = forget(child);
    if (child.text.empty() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      const std::string how = WIFSIGNALED(status) ? std::string{"by signal "} + strsignal(WTERMSIG(status))
                                                  : "with exit code " + std::to_string(WEXITSTATUS(status));
      return Error{"a replay ended " + how, "ask for fewer at a time with --jobs"};
    }
    const std::string said = child.text.substr(1);
    if (child.text.front() == kResult) return std::pair{child.task, said};
    const std::size_t zero = std::min(said.find('\0'), said.size() - 1);
    return Error{said.substr(0, zero), said.substr(zero + 1)};
  }

  static int forget(const Child& child) {
    close(child.pipe);
    int status = 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  const Work& work_;
  std::optional<Clock::time_point> until_;
  std::vector<Child> children_;
};

}  // namespace

Result<std::vector<std::string>> in_children(std::size_t count, std::size_t jobs, const Work& work,
                                             const std::function<void(std::size_t)>& progress,
                                             std::optional<std::chrono::duration<double>> limit,
                                             std::optional<std::chrono::steady_clock::time_point> until) {
  std::vector<std::string> results(count);
  Pool pool{work, limit};
  std::size_t started = 0;
  for (std::size_t done = 0; done < count;) {
    if (until && std::chrono::steady_clock::now() > *until) {
      count = started;
      if (pool.running() == 0) break;
    }
    for (; started < count && pool.running() < std::max<std::size_t>(1, jobs); ++started) {
      if (pool.start(started)) continue;
      if (pool.running() == 0)
        return Error{std::string{"no process for a replay: "} + std::strerror(errno),
                     "try again, with --jobs 1"};
      break;
    }
    auto next = pool.next();
    if (!next) return next.error();
    results[next.value().first] = std::move(next.value().second);
    progress(++done);
  }
  return results;
}

}  // namespace nplus1::hypothesis
