// --fail-if of whatif, waitstates and replay: limits for continuous integration.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "hypothesis/whatif/conditions.hpp"

namespace nplus1::cli {

void declare_fail_if(CLI::App& verb, std::vector<std::string>& texts);

/// Throws Failure (kUsage) if one is no condition on these metrics.
[[nodiscard]] std::vector<hypothesis::Condition> conditions_of(
    const std::vector<std::string>& texts,
    const std::vector<std::string>& metrics = hypothesis::metric_names());

/// Says on stderr which conditions hold. The exit code: kLimit if one does, or cannot be judged.
[[nodiscard]] int judge(const std::vector<hypothesis::Condition>& conditions, const hypothesis::Side& side);

}  // namespace nplus1::cli
