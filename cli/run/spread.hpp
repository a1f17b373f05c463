// What several runs of one program say of a quantity: median, spread, and how far the median itself can be relied on.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <vector>

namespace nplus1::cli {

/// The level that an interval of the median has where there are enough values (six).
inline constexpr double kMedianLevel = 0.95;

struct Spread {
  std::size_t count = 0;
  double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, most = 0;
  /// Between two of the values, whatever the distribution (David and Nagaraja, Order Statistics, section 7.1): from the
  /// k-th smallest to the k-th largest, k the largest with a level of at least kMedianLevel. With fewer than six values
  /// from the smallest to the largest, with the level that this has.
  double from = 0, to = 0;
  double level = 0;  // 1 - 2 P(Binomial(count, 1/2) < k); 0 of a single value
};

/// Quartiles of type 7 of Hyndman and Fan 1996. Throws std::invalid_argument if there are no values.
[[nodiscard]] Spread spread_of(std::vector<double> values);

}  // namespace nplus1::cli
