#include "hypothesis/clock/interval.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::hypothesis::clock {

Interval interval(double estimate, const std::vector<double>& replicates, double systematic) {
  constexpr double kNineOfTen = 1.645;
  double mean = 0, square = 0;
  for (const double r : replicates) mean += r / static_cast<double>(replicates.size());
  for (const double r : replicates) square += (r - mean) * (r - mean);
  const double variance = replicates.size() < 2 ? 0 : square / static_cast<double>(replicates.size() - 1);
  const double reach = kNineOfTen * std::sqrt(variance + systematic * systematic * estimate * estimate);
  if (replicates.empty()) mean = estimate;
  return {std::min(estimate, mean) - reach, std::max(estimate, mean) + reach};
}

}  // namespace nplus1::hypothesis::clock
