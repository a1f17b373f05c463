// Quantiles that are values which occur: no mean of two.
//
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace nplus1::hypothesis::clock {

/// The quantile of recorded times that the host's disturbances hardly reach.
inline constexpr double kLow = 0.1;

/// Of at least one value, in ascending order; `share` in [0, 1].
[[nodiscard]] inline double sorted_at(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

/// 0 of none.
[[nodiscard]] inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

[[nodiscard]] inline double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace nplus1::hypothesis::clock
