// The simulator of a job whose launcher starts the ranks alone (Open MPI's mpirun, srun ...), which `nplus1 run` starts
// itself, beside it. (Of a job of Hydra's, its last rank does: stubs/runtime/launch/keeper.hpp.) It leaves when it is told that the
// launcher has ended, or, where this process is killed before it can say so, when all ranks have ended.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/processes/child.hpp"

namespace nplus1::cli {

class SimulatorBeside {
 public:
  /// Starts `program` for a job of `ranks` ranks with the variables of `environment`, and waits until it can be
  /// reached, over TCP too where ranks may be on `other_hosts`. It has a session of its own: ^C ends mpirun, and the simulator writes what it has. Where it cannot be
  /// started or does not get ready, word() is empty, and the job runs as if without nplus1.
  SimulatorBeside(const std::filesystem::path& program, int ranks,
                  const std::vector<std::pair<std::string, std::string>>& environment, bool other_hosts);

  /// How the ranks reach it, a secret (stubs/transport/meeting.hpp).
  [[nodiscard]] const std::string& word() const { return word_; }
  /// 0 where none was started.
  [[nodiscard]] pid_t process() const { return process_; }
  /// The job is over: it writes its results, and ends. It is a child of this process, to be waited for.
  void finish();
  ~SimulatorBeside() { finish(); }
  SimulatorBeside(const SimulatorBeside&) = delete;
  SimulatorBeside& operator=(const SimulatorBeside&) = delete;

 private:
  void say(char word) const;

  processes::Descriptor input_;
  processes::Descriptor output_;  // stays open: what it prints later must not kill it
  pid_t process_ = 0;
  std::string word_;
};

}  // namespace nplus1::cli
