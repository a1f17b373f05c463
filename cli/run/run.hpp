// `nplus1 run`, for other verbs that run a program: demo and doctor.
#pragma once

#include <string>
#include <vector>

#include "cli/run/job.hpp"
#include "cli/run/run_options.hpp"

namespace nplus1::cli {

/// Runs `words` (programs and arguments, sections split by ":") as `options` say; returns the job's exit
/// code. Throws Failure before anything is started.
[[nodiscard]] int run(const RunOptions& options, const std::vector<std::string>& words);

/// The mpirun line of a job, as words. `output` may be empty (--native).
[[nodiscard]] Result<std::vector<std::string>> mpirun_line(const RunOptions& options,
                                                           const std::vector<Section>& sections,
                                                           const std::string& output);

}  // namespace nplus1::cli
