// What `nplus1 run` and `nplus1 clock` say about the clock.
#pragma once

#include <string>

namespace nplus1::cli {

/// Three lines for the end of a run with --compute warm: the virtual time with warm caches, and between which ends it lies. Throws
/// Failure.
[[nodiscard]] std::string clock_lines(const std::string& folder);

}  // namespace nplus1::cli
