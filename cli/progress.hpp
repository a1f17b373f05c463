// The one display of progress: "nplus1: 3 of 16 replays" on stderr, on one line, where that is a terminal.
#pragma once

#include <functional>
#include <string>

namespace nplus1::cli {

/// For whatever calls back with how many of how many are done; empty, which shows nothing, for `quiet` or where stderr is no
/// terminal.
[[nodiscard]] std::function<void(std::size_t, std::size_t)> progress_of(std::string what, bool quiet);

}  // namespace nplus1::cli
