// Work in child processes: a network simulator may not be loaded twice into one process, and replays side by
// side use all cores. Called from one thread, in a process without MPI.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace nplus1::hypothesis {

/// Task number i: its result, as bytes of any kind.
using Work = std::function<Result<std::string>(std::size_t)>;

/// `work(i)` for i < count in a child process each, at most `jobs` at a time; `progress(done)` after each, in
/// this process. The results in the order of the tasks. The first error ends all, and so does a child that
/// dies (the error says how) or, with a `limit`, the time being up; no child is left behind, nor one of a child's.
/// No task is begun after `until`; the result of one that was not is empty.
[[nodiscard]] Result<std::vector<std::string>> in_children(
    std::size_t count, std::size_t jobs, const Work& work, const std::function<void(std::size_t)>& progress,
    std::optional<std::chrono::duration<double>> limit = {},
    std::optional<std::chrono::steady_clock::time_point> until = {});

}  // namespace nplus1::hypothesis
