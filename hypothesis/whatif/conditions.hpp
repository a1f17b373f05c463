// --fail-if: a limit for continuous integration, such as parallel_efficiency<0.8. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hypothesis/whatif/side.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis {

struct Condition {
  std::string metric;
  std::string comparison;  // < <= > >=
  double limit = 0;
  std::string text;

  /// Whether the side is beyond the limit; nothing if it does not know the metric.
  [[nodiscard]] std::optional<bool> holds(const Side& side) const;
};

/// "METRIC<NUMBER" and so on. Errors name the metrics in `known`.
[[nodiscard]] Result<Condition> parse_condition(std::string_view text, const std::vector<std::string>& known);

}  // namespace nplus1::hypothesis
