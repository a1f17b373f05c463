// The pipe of each child carries its Result<std::string>, encoded.
#include "support/processes/children.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "support/processes/child.hpp"
#include "support/stopped.hpp"

namespace nplus1::processes {
namespace {

struct Running {
  Child process;
  Descriptor pipe;
  std::size_t task;
  std::string text;
};

Result<std::string> carry_out(const Work& work, std::size_t task) {
  try {
    return work(task);
  } catch (const Stopped& stopped) {
    return stopped.error();
  } catch (const std::exception& error) {
    return Error{error.what(), "try this one alone"};
  }
}

class Pool {
 public:
  Pool(const Work& work, std::optional<std::chrono::duration<double>> limit) : work_{work} {
    if (limit) until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(*limit);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] std::size_t running() const { return running_.size(); }

  [[nodiscard]] bool start(std::size_t task) {
    auto pipe = make_pipe();
    if (!pipe) return false;
    auto& [out, in] = *pipe;
    auto child = fork_child(
        [&, &in = in, &out = out] {
          out.close();
          return write_all(in.get(), encode(carry_out(work_, task))) ? 0 : 1;
        },
        Follows::kKillWithParent);
    if (!child) return false;
    running_.push_back({std::move(*child), std::move(out), task, {}});
    return true;
  }

  /// The task of a child that has ended, and its result.
  Result<std::pair<std::size_t, std::string>> next() {
    for (;;) {
      std::vector<pollfd> waiting;
      for (const Running& child : running_) waiting.push_back({child.pipe.get(), POLLIN, 0});
      const int ready = poll(waiting.data(), waiting.size(), milliseconds_left());
      if (ready == 0 && milliseconds_left() == 0)
        return Error{kTimeIsUp, "do it by itself, which has no limit"};
      if (ready < 0) continue;  // a signal
      for (std::size_t i = 0; i < waiting.size(); ++i)
        if (waiting[i].revents != 0 && !receive(running_[i])) return take(i);
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
  static bool receive(Running& child) {
    char bytes[65536];
    const ssize_t got = read(child.pipe.get(), bytes, sizeof(bytes));
    if (got > 0) child.text.append(bytes, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }

  Result<std::pair<std::size_t, std::string>> take(std::size_t i) {
    Running child = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    const Ending ending = child.process.wait();
    if (child.text.empty() || !ending.well())
      return Error{"a replay ended " + ending.text(), "ask for fewer at a time with --jobs"};
    auto said = Decoder{child.text}.result<std::string>();
    if (!said) return said.error();
    return std::pair{child.task, std::move(said).value()};
  }

  const Work& work_;
  std::optional<Clock::time_point> until_;
  std::vector<Running> running_;
};

}  // namespace

Result<std::vector<std::string>> bytes_of_children(std::size_t count, const Conditions& conditions,
                                                   const Work& work) {
  std::vector<std::string> results(count);
  Pool pool{work, conditions.limit};
  std::size_t started = 0;
  for (std::size_t done = 0; done < count;) {
    if (conditions.until && std::chrono::steady_clock::now() > *conditions.until) {
      count = started;
      if (pool.running() == 0) break;
    }
    for (; started < count && pool.running() < std::max<std::size_t>(1, conditions.jobs); ++started) {
      if (pool.start(started)) continue;
      if (pool.running() == 0)
        return Error{std::string{"no process for a replay: "} + std::strerror(errno),
                     "try again, with --jobs 1"};
      break;
    }
    auto next = pool.next();
    if (!next) return next.error();
    results[next.value().first] = std::move(next.value().second);
    ++done;
    if (conditions.progress) conditions.progress(done);
  }
  return results;
}

}  // namespace nplus1::processes
