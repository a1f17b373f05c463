// The command line of one mpirun of nplus1-guidelines-runner: natively under any mpirun, with waits that
// yield, or under the simulator. Throws Stopped.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyses/guidelines/measure.hpp"

namespace nplus1::analyses {

/// `result` is the folder that a simulated run writes its own result to.
[[nodiscard]] std::vector<std::string> launch_line(const Launch& launch, const std::filesystem::path& plan,
                                                   const std::filesystem::path& result);

}  // namespace nplus1::analyses
