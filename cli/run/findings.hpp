// What is looked for in a recording when its run has ended: wait states, hand-written collectives, what to fix first.
#pragma once

#include <filesystem>
#include <string>

namespace nplus1::cli {

/// Adds to the report.html of the result folder what is found in so many seconds, and tells what to fix first.
/// In a process of its own, whose end, however bad, leaves the application's exit code and the report as the simulator wrote
/// it. It is given what was promised and no more: a busy machine makes it slower than its size says. `keep_fixes`: the list
/// is kept in the folder, too (analyses::kFixesFile).
[[nodiscard]] std::string add_findings(const std::filesystem::path& folder, double seconds, bool keep_fixes);

}  // namespace nplus1::cli
