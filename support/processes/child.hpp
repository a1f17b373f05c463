// A child process and its pipe, for work that may crash, run on, or load what can be loaded once only; and what programs say.
// In the parent one thread, and no MPI.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace nplus1::processes {

/// A file descriptor, closed with its owner; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_{value} {}
  Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] int release() { return std::exchange(value_, -1); }
  void close() { *this = Descriptor{}; }

 private:
  int value_;
};

/// Where to read and where to write; closed when another program is executed. Nothing where none can be made (errno).
[[nodiscard]] std::optional<std::pair<Descriptor, Descriptor>> make_pipe();

/// All until the other side is closed.
[[nodiscard]] std::string read_all(int descriptor);
/// False if the other side does not take it.
bool write_all(int descriptor, std::string_view bytes);

/// How a process ended.
struct Ending {
  int code = -1;   // its exit code, if no signal ended it
  int signal = 0;  // 0: none did
  [[nodiscard]] bool well() const { return signal == 0 && code == 0; }
  /// As a shell tells it: 128 + signal.
  [[nodiscard]] int shell_code() const { return signal != 0 ? 128 + signal : code; }
  /// "by signal Segmentation fault", "with exit code 3".
  [[nodiscard]] std::string text() const;
};

/// Killed and waited for with its owner.
class Child {
 public:
  explicit Child(pid_t pid = 0) : pid_{pid} {}
  Child(Child&& other) noexcept : pid_{std::exchange(other.pid_, 0)} {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits for its end.
  Ending wait();
  /// How it has ended; nothing while it runs.
  [[nodiscard]] std::optional<Ending> ended();
  /// Asks it to end, and ends it if it has not within some five seconds.
  Ending stop();

 private:
  pid_t pid_;
};

enum class Follows : bool { kNo, kKillWithParent };

/// Forks: `work` runs in the child, which then ends with the exit code that it returns; no destructors run, for they are the
/// parent's. Nothing where no process can be started (errno).
[[nodiscard]] std::optional<Child> fork_child(const std::function<int()>& work,
                                              Follows follows = Follows::kNo);

}  // namespace nplus1::processes
