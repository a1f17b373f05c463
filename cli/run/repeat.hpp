// `nplus1 run --repeat N`: the same run N times, each in a process of its own and with a result folder of its own, and
// what they have in common: median and spread of the virtual time and of what each change would save.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cli/run/run_options.hpp"

namespace nplus1::cli {

/// More runs than this are a slip of the pen.
inline constexpr int kMostRepetitions = 10000;

/// From 1 to kMostRepetitions; nothing where --repeat was not given. Throws Failure (kUsage).
[[nodiscard]] std::optional<int> repetitions_of(const RunOptions& options);

/// One run: what to do, and the folder for its results (empty: none is kept). Returns the application's exit code.
using RunOnce = std::function<int(const std::filesystem::path& folder)>;

/// Runs `once` so often, in FOLDER/1, FOLDER/2 and so on, writes FOLDER/repeat.json (docs/formats/repeat.md) and says what
/// came out on stderr. The first exit code that is not 0. A run that fails is said and left out, and the others are
/// made; SIGINT, SIGTERM and SIGHUP reach the run under way and end the series. Nothing in FOLDER is overwritten.
[[nodiscard]] int repeat(const RunOptions& options, int repetitions, const std::filesystem::path& folder,
                         const RunOnce& once);

}  // namespace nplus1::cli
