// A side of a comparison, read back from JSON: a side of whatif.json, or waitstates.json. What the text of
// `nplus1 whatif` and `nplus1 diff` and the conditions of --fail-if work on. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::hypothesis {

struct SideActivity {
  std::string title;
  double waited = 0;    // seconds, polling included
  double critical = 0;  // seconds on the critical path
};

struct Side {
  std::string application, network, coverage;
  std::size_t ranks = 0;
  /// By name: virtual_time_s; waiting_s (polling included) and waiting_share of the ranks' time; each wait
  /// state
  /// ("late_sender_s"), transfer_s; the efficiencies (parallel_efficiency, load_balance,
  /// communication_efficiency, serialisation, transfer), as far as they are known.
  std::map<std::string, double, std::less<>> metrics;
  std::vector<SideActivity> activities;
  std::string trust;      // one line; empty if nothing is said
  std::size_t stuck = 0;  // ranks that wait for what never comes: all numbers are of the time until then

  [[nodiscard]] std::optional<double> metric(std::string_view name) const;
};

/// Errors: no JSON, or another document; `name` is what messages call it.
[[nodiscard]] Result<Side> parse_side(std::string_view json, const std::string& name);

/// All names that metrics can have.
[[nodiscard]] const std::vector<std::string>& metric_names();

}  // namespace nplus1::hypothesis
