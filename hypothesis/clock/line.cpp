#include "hypothesis/clock/line.hpp"

#include <algorithm>
#include <boost/math/statistics/bivariate_statistics.hpp>
#include <cmath>
#include <utility>

#include "hypothesis/clock/correlation.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kMostPairs = 256;  // samples, each with each

double log_recorded(const Measured& m) {
  return static_cast<double>(m.recorded.log_time);
}

template <class Told>
double median_error(const std::vector<Measured>& samples, Told told) {
  std::vector<double> errors;
  for (const Measured& m : samples) errors.push_back(std::abs(told(m) - m.log_warm));
  return median(std::move(errors));
}

}  // namespace

Line::Line(const std::vector<Measured>& samples, double share) {
  const std::size_t each = samples.size() / kMostPairs + 1;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < samples.size(); i += each)
    for (std::size_t j = 0; j < i; j += each)
      if (const double apart = log_recorded(samples[i]) - log_recorded(samples[j]); apart != 0)
        slopes.push_back((samples[i].log_warm - samples[j].log_warm) / apart);
  if (!slopes.empty()) slope_ = std::clamp(median(std::move(slopes)), 0.0, 1.0);
  std::vector<double> left;
  for (const Measured& m : samples) left.push_back(m.log_warm - slope_ * log_recorded(m));
  std::sort(left.begin(), left.end());
  at_one_ = sorted_at(left, 0.25) - share * (sorted_at(left, 0.75) - sorted_at(left, 0.25));
}

double correlation_of(const std::vector<Measured>& samples) {
  std::vector<double> recorded, warm;
  for (const Measured& m : samples) {
    recorded.push_back(log_recorded(m));
    warm.push_back(m.log_warm);
  }
  if (is_constant(recorded) || is_constant(warm)) return 0;
  return boost::math::statistics::correlation_coefficient(recorded, warm);
}

bool go_along(const std::vector<Measured>& samples, double range) {
  constexpr std::size_t kFewest = 6;
  constexpr double kOneInTen = 1.28;  // standard deviations
  if (samples.size() < kFewest) return false;
  std::vector<double> warm;
  for (const Measured& m : samples) warm.push_back(m.log_warm);
  std::sort(warm.begin(), warm.end());
  if (sorted_at(warm, 0.9) - sorted_at(warm, 0.1) <= range) return false;
  const double z = std::atanh(std::min(correlation_of(samples), 1 - 1e-9));
  return z - kOneInTen / std::sqrt(static_cast<double>(samples.size() - 3)) >= std::atanh(kGoesAlong);
}

double error_of(const Line& line, const std::vector<Measured>& samples) {
  return median_error(samples, [&](const Measured& m) { return line.log_warm(log_recorded(m)); });
}

double error_of(const Levels& levels, const std::vector<Measured>& samples) {
  constexpr double kEither = 0.5;
  return median_error(samples, [&](const Measured& m) { return std::log(levels.warm(m.recorded, kEither)); });
}

}  // namespace nplus1::hypothesis::clock
