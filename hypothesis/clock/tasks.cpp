#include "hypothesis/clock/tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "hypothesis/clock/correlation.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kStep = Disturbance::kStep;
/// Of the density: so much is there of tasks whose like was not measured.
constexpr double kAnywhere = 1e-6;
constexpr double kMostLonger = 2;  // logarithm: what the host adds to a task

double log_recorded(const Measured& m) {
  return static_cast<double>(m.recorded.log_time);
}

std::vector<double> sorted_warm(const std::vector<Measured>& samples) {
  std::vector<double> warm;
  for (const Measured& m : samples) warm.push_back(m.log_warm);
  std::sort(warm.begin(), warm.end());
  return warm;
}

/// How far the second nearest of the others is from the `i`-th.
double to_second_nearest(const std::vector<double>& sorted, std::size_t i) {
  std::vector<double> off;
  for (std::size_t j = i > 2 ? i - 2 : 0; j < std::min(i + 3, sorted.size()); ++j)
    if (j != i) off.push_back(std::abs(sorted[j] - sorted[i]));
  std::sort(off.begin(), off.end());
  return off[std::min<std::size_t>(1, off.size() - 1)];
}

double correlation_of(const std::vector<Measured>& samples) {
  std::vector<double> recorded, warm;
  for (const Measured& m : samples) {
    recorded.push_back(log_recorded(m));
    warm.push_back(m.log_warm);
  }
  return correlation_of_places(recorded, warm);
}

template <class Told>
double median_error(const std::vector<Measured>& samples, Told told) {
  std::vector<double> errors;
  for (const Measured& m : samples) errors.push_back(std::abs(told(m) - m.log_warm));
  return median(std::move(errors));
}

}  // namespace

Tasks::Tasks(const std::vector<Measured>& samples, double more) : longer_{samples, more} {
  constexpr double kLeastWidth = 0.02, kReach = 4;
  const std::vector<double> warm = sorted_warm(samples);
  std::vector<double> widths;
  for (std::size_t i = 0; i < warm.size(); ++i)
    widths.push_back(std::max(kLeastWidth, to_second_nearest(warm, i)));
  const double margin = kReach * *std::max_element(widths.begin(), widths.end());
  from_ = warm.front() - margin;
  prior_.assign(static_cast<std::size_t>((warm.back() + margin - from_) / kStep) + 1, kAnywhere);
  for (std::size_t i = 0; i < warm.size(); ++i) {
    const double each = 1 / (static_cast<double>(warm.size()) * 2.5066 * widths[i]);
    const auto first = static_cast<std::size_t>((warm[i] - kReach * widths[i] - from_) / kStep);
    const auto cells = static_cast<std::size_t>(2 * kReach * widths[i] / kStep) + 1;
    for (std::size_t c = first; c < std::min(first + cells, prior_.size()); ++c) {
      const double off = (from_ + kStep * static_cast<double>(c) - warm[i]) / widths[i];
      prior_[c] += each * std::exp(-off * off / 2);
    }
  }
}

double Tasks::prior_at(double log_warm) const {
  const double cell = (log_warm - from_) / kStep + 0.5;
  return cell < 0 || cell >= static_cast<double>(prior_.size()) ? kAnywhere
                                                                : prior_[static_cast<std::size_t>(cell)];
}

double Tasks::log_warm(double log_recorded, double chance) const {
  if (prior_.empty()) return log_recorded + shift_;
  constexpr auto kCells = static_cast<std::size_t>(kMostLonger / kStep);
  const auto weight = [&](std::size_t c) {
    const double longer = kStep * static_cast<double>(c);
    return prior_at(log_recorded - longer) * longer_.at(longer);
  };
  double sum = 0;
  for (std::size_t c = 0; c < kCells; ++c) sum += weight(c);
  std::size_t drawn = 0;
  for (double left = chance * sum; drawn + 1 < kCells; ++drawn)
    if ((left -= weight(drawn)) < 0) break;
  return log_recorded - kStep * static_cast<double>(drawn);
}

bool go_along(const std::vector<Measured>& samples, double range) {
  constexpr std::size_t kFewest = 6;
  constexpr double kGoesAlong = 0.8, kOneInTen = 1.28;  // standard deviations
  if (samples.size() < kFewest) return false;
  const std::vector<double> warm = sorted_warm(samples);
  if (sorted_at(warm, 0.9) - sorted_at(warm, 0.1) <= range) return false;
  const double z = std::atanh(std::min(correlation_of(samples), 1 - 1e-9));
  return z - kOneInTen / std::sqrt(static_cast<double>(samples.size() - 3)) >= std::atanh(kGoesAlong);
}

bool go_rather_along(const std::vector<Measured>& samples) {
  constexpr double kRather = 0.5;
  return correlation_of(samples) > kRather;
}

bool are_of_two_amounts(std::vector<Recorded> of_rank) {
  constexpr std::size_t kFewest = 12;
  constexpr double kLeastShare = 0.15, kApart = 0.1, kTimesTheirOwn = 3,
                   kForAWhile = -2;  // standard deviations
  if (of_rank.size() < kFewest) return false;
  std::vector<double> sorted;
  for (const Recorded& r : of_rank) sorted.push_back(r.log_time);
  std::sort(sorted.begin(), sorted.end());
  // Where the widest gap is, a share of all left on each side.
  const auto margin = static_cast<std::size_t>(kLeastShare * static_cast<double>(sorted.size())) + 1;
  std::size_t upper = margin;
  for (std::size_t i = margin; i + margin <= sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] > sorted[upper] - sorted[upper - 1]) upper = i;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(upper);
  const std::vector<double> low{sorted.begin(), middle}, high{middle, sorted.end()};
  const auto spread = [](const std::vector<double>& values) {
    return sorted_at(values, 0.75) - sorted_at(values, 0.25);
  };
  const double apart = sorted_at(high, 0.5) - sorted_at(low, 0.5);
  if (apart < kApart || apart < kTimesTheirOwn * std::max(spread(low), spread(high))) return false;

  std::sort(of_rank.begin(), of_rank.end(),
            [](const Recorded& a, const Recorded& b) { return a.step < b.step; });
  const double between = (low.back() + high.front()) / 2;
  double runs = 1;
  for (std::size_t i = 1; i < of_rank.size(); ++i)
    runs += (static_cast<double>(of_rank[i].log_time) > between) !=
                    (static_cast<double>(of_rank[i - 1].log_time) > between)
                ? 1
                : 0;
  const auto n = static_cast<double>(sorted.size()), a = static_cast<double>(low.size()), b = n - a;
  const double expected = 2 * a * b / n + 1;
  const double variance = (expected - 1) * (expected - 2) / (n - 1);
  return runs - expected > kForAWhile * std::sqrt(variance);
}

double error_as_recorded(const std::vector<Measured>& samples) {
  std::vector<double> longer;
  for (const Measured& m : samples) longer.push_back(log_recorded(m) - m.log_warm);
  const double mostly = median(std::move(longer));
  return median_error(samples, [&](const Measured& m) { return log_recorded(m) - mostly; });
}

double error_of(const Levels& levels, const std::vector<Measured>& samples) {
  constexpr double kEither = 0.5;
  return median_error(samples, [&](const Measured& m) { return std::log(levels.warm(m.recorded, kEither)); });
}

}  // namespace nplus1::hypothesis::clock
