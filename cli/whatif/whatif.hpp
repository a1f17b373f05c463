// What `nplus1 whatif` was asked for, shared by its two ways: one hypothesis, or a sweep over many.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyses/fixes.hpp"
#include "cli/replay/replay.hpp"

namespace nplus1::cli {

inline constexpr const char* kWhatIfFile = "whatif.json";

struct WhatIfWords {
  ReplayWords replay;  // source, network, collectives, transformations, jobs, output, json
  std::string eager;
  std::vector<std::string> overlap;   // ID or ID:VARIANT, of nplus1 overlap's chains
  std::vector<std::size_t> findings;  // places in the list of nplus1 collectives, from 1
  std::vector<std::string> fail_if;
  std::optional<double> reenactment_deviation;
  bool deterministic = false;
  bool sweep = false;
  std::optional<std::uint64_t>
      most_rows;  // nothing: all, or where that is bounded as many as nplus1 overlap takes
};

/// `nplus1 whatif --sweep`. The exit code. Throws Failure.
[[nodiscard]] int sweep_hypotheses(const WhatIfWords& words);

/// One line a problem, three at most, for the end of a run; where there are fewer, that is said. `source`: of which run.
[[nodiscard]] std::string first_fixes_text(const analyses::Fixes& fixes, const std::string& source);

}  // namespace nplus1::cli
