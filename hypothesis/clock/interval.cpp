#include "hypothesis/clock/interval.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::hypothesis::clock {

namespace {

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments moments;
  double square = 0;
  for (const double v : values) moments.mean += v / static_cast<double>(values.size());
  for (const double v : values) square += (v - moments.mean) * (v - moments.mean);
  if (values.size() > 1) moments.variance = square / static_cast<double>(values.size() - 1);
  return moments;
}

}  // namespace

Interval interval(double estimate, const std::vector<double>& replicates, double systematic) {
  constexpr double kNineOfTen = 1.645;
  const Moments others = moments_of(replicates);
  const double reach =
      kNineOfTen * std::sqrt(others.variance + systematic * systematic * estimate * estimate);
  const double mean = replicates.empty() ? estimate : others.mean;
  return {std::min(estimate, mean) - reach, std::max(estimate, mean) + reach};
}

bool are_apart(const std::vector<double>& replicates, double systematic) {
  const Moments others = moments_of(replicates);
  return std::sqrt(others.variance) > systematic * others.mean;
}

}  // namespace nplus1::hypothesis::clock
