// Starts mpirun, passes signals on, and waits for the simulator, which outlives mpirun by a moment.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace nplus1::cli {

struct Ended {
  int exit_code = 0;           // mpirun's; 128 + signal if a signal ended it
  bool simulator_done = true;  // false: it was still busy when the time was up
  int simulator_code = 0;      // its exit code, as its keeper passes it on; 128 + signal if a signal ended it
};

/// Runs `words` with this process's stdin, stdout and stderr, and returns mpirun's exit code. This process
/// adopts orphans of the job (PR_SET_CHILD_SUBREAPER), so that the simulator, a grandchild in a session of
/// its own, is waited for: until no child is left or, if a child of the application stays, until `result`
/// exists; at most `patience`. SIGINT, SIGTERM and SIGHUP sent to this process are forwarded to mpirun. Call
/// once per process. Throws Failure when mpirun can't be started.
[[nodiscard]] Ended run_job(const std::vector<std::string>& words, const std::filesystem::path& result,
                            std::chrono::seconds patience);

}  // namespace nplus1::cli
