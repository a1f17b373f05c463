// What a job that was told to end has left: mpirun waits until nobody holds its processes' output open any more, also where
// all of them have ended and what they started lives on. From one thread. No failure: what /proc does not show is not there.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace nplus1::cli {

struct RunningProcess {
  pid_t pid = 0;
  std::string name;
};

/// Whether a process of the job runs below `mpirun`, other than those that the launcher starts to start others.
[[nodiscard]] bool has_processes_of_the_job(pid_t mpirun);

/// Children of this process, other than those given and keepers: what it has adopted.
[[nodiscard]] std::vector<RunningProcess> adopted(const std::vector<pid_t>& own);

}  // namespace nplus1::cli
