// The simulator as the keeper's child: a separate program, in a session that Hydra does not kill.
// Called by the keeper only (one thread). A simulator that cannot be started or does not get ready costs
// nothing but itself: the job goes on as plain MPI.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace nplus1::stubs {

/// NPLUS1_SIMNODE, or nplus1-simnode in ../bin or beside our library; empty if there is none to execute.
[[nodiscard]] std::string find_simulator();

/// A running simulator that said `ready NAME ADDRESS`.
class Simulator {
 public:
  /// Executes `program --job job` without LD_PRELOAD and PMI_* and waits for its line.
  static std::optional<Simulator> start(const std::string& program, const std::string& job,
                                        std::chrono::milliseconds limit);

  [[nodiscard]] const std::string& address() const { return address_; }

  /// Tells it that the job is over (end of file on its stdin) and gives it `limit` to write its reports.
  /// Never kills it.
  void finish(std::chrono::milliseconds limit);

 private:
  pid_t process_ = -1;
  int input_ = -1;   // its stdin
  int output_ = -1;  // its stdout
  std::string address_;
};

}  // namespace nplus1::stubs
