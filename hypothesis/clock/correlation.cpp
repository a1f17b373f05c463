#include "hypothesis/clock/correlation.hpp"

#include <algorithm>
#include <boost/math/statistics/bivariate_statistics.hpp>
#include <cmath>
#include <functional>

namespace nplus1::hypothesis::clock {
namespace {

/// Each value's place among them; equal ones share theirs.
std::vector<double> places(const std::vector<double>& values) {
  std::vector<double> sorted = values, found;
  std::sort(sorted.begin(), sorted.end());
  for (const double value : values) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    found.push_back(static_cast<double>((first - sorted.begin()) + (last - sorted.begin()) - 1) / 2);
  }
  return found;
}

bool is_constant(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>{}) == values.end();
}

}  // namespace

double students_t(const std::vector<double>& x, const std::vector<double>& y) {
  if (is_constant(x) || is_constant(y)) return 0;
  const double r = boost::math::statistics::correlation_coefficient(x, places(y));
  return r * std::sqrt(static_cast<double>(x.size() - 2) / std::max(1 - r * r, 1e-12));
}

}  // namespace nplus1::hypothesis::clock
