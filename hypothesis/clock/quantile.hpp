// Quantiles that are values which occur: no mean of two.
//
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nplus1::hypothesis::clock {

/// Of at least one value, in ascending order; `share` in [0, 1].
[[nodiscard]] inline double sorted_at(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

[[nodiscard]] inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return sorted_at(values, 0.5);
}

}  // namespace nplus1::hypothesis::clock
