// `nplus1 run --patterns-only`: the program natively, with the library that counts messages and time in MPI, and no further
// rank. Its folder has `statistics` (pages of the ranks, while it runs or if it was killed), then statistics.n1stat and
// patterns.json. docs/formats/statistics.md.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/run/run_options.hpp"

namespace nplus1::cli {

/// What is no use without a simulation is a usage error.
void check_patterns_only(const RunOptions& options);
/// The ranks' environment; `output` is the result folder.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> counting_environment(
    const RunOptions& options, const std::string& output);
/// After the run: writes patterns.json and shows the first screen on stderr. Failures are said, and nothing more.
void show_counts(const std::filesystem::path& folder, bool quiet);

}  // namespace nplus1::cli
