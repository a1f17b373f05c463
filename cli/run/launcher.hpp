// Starts mpirun, passes signals on, and waits for the simulator, which outlives mpirun by a moment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace nplus1::cli {

struct Ended {
  int exit_code = 0;           // mpirun's; 128 + signal if a signal ended it
  bool simulator_done = true;  // false: it was still busy when the time was up
  int simulator_code = 0;      // its exit code, as its keeper passes it on; 128 + signal if a signal ended it
};

/// A simulator that this process has started itself.
struct Beside {
  pid_t simulator = 0;           // 0: a keeper of the job's has one, whose end this process adopts
  std::function<void()> on_end;  // called when mpirun has ended
};

/// Runs `words` with this process's stdin, stdout and stderr, and returns mpirun's exit code. This process
/// adopts orphans of the job (PR_SET_CHILD_SUBREAPER), so that the simulator, a grandchild in a session of
/// its own, is waited for: until no child is left or, if a child of the application stays, until `result`
/// exists; at most `patience`. SIGINT, SIGTERM and SIGHUP sent to this process are forwarded to mpirun. Where
/// mpirun does not end although all processes of the job have (somebody else holds their output open), it is killed some
/// seconds later, which is said, and the code is 128 + the signal's number. Call once per process. Throws Failure when mpirun can't be started.
[[nodiscard]] Ended run_job(const std::vector<std::string>& words, const std::filesystem::path& result,
                            std::chrono::seconds patience, const Beside& beside = {});

}  // namespace nplus1::cli
