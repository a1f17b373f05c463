// The simulator as a keeper's child: a separate program, in a session that Hydra does not kill.
// Called by keepers only (one thread each). A simulator that cannot be started or does not get ready costs
// nothing but itself: the job goes on as plain MPI.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace nplus1::stubs {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};
/// Both ends vanish when a program is executed.
[[nodiscard]] std::optional<Pipe> open_pipe();

/// NPLUS1_SIMNODE, or nplus1-simnode in ../bin or beside our library; empty if there is none to execute.
[[nodiscard]] std::string find_simulator();

/// The two pipes to a simulator, which all keepers hold, and, in the one that started it, its process.
class Simulator {
 public:
  static std::optional<Simulator> prepare();

  /// Executes `program --job job` without LD_PRELOAD and PMI_*.
  void start(const std::string& program, const std::string& job);
  /// Closes the simulator's own ends, in every keeper but before the simulator has its copies: else nobody sees that
  /// it ends.
  void leave_to_others();
  /// The word that it says when it is ready, `ready WORD`; nothing if it dies, says something else, or takes longer.
  [[nodiscard]] std::optional<std::string> await_word(std::chrono::milliseconds limit) const;
  /// Tells it that the job is over (end of file on its stdin, once all keepers have closed it) and gives it `limit` to
  /// write its reports. Never kills it. Its exit code, 128 + signal if one ended it, 0 if it is not known.
  int finish(std::chrono::milliseconds limit);

  [[nodiscard]] std::vector<int> descriptors() const;

 private:
  Pipe in_;   // its stdin
  Pipe out_;  // its stdout; stays open: what it prints later must not kill it
  pid_t process_ = -1;
};

}  // namespace nplus1::stubs
