// What `nplus1 run` says about the clock.
#pragma once

#include <string>

namespace nplus1::cli {

/// For the end of a run with --compute warm: the virtual time with warm caches, and between which ends it lies. Leaves
/// results and a recording with that clock in the folder. Throws Failure.
[[nodiscard]] std::string clock_lines(const std::string& folder);

}  // namespace nplus1::cli
