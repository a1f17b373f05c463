#include "hypothesis/clock/tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kStep = Disturbance::kStep;
/// Of the density: so much is there of tasks whose like was not measured.
constexpr double kAnywhere = 1e-6;

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

/// Each with its two neighbours on either side.
std::vector<double> smoothed(const std::vector<double>& values) {
  constexpr std::size_t kReach = 2;
  std::vector<double> smooth(values.size());
  for (std::size_t c = 0; c < values.size(); ++c) {
    const std::size_t first = c > kReach ? c - kReach : 0, last = std::min(c + kReach, values.size() - 1);
    for (std::size_t n = first; n <= last; ++n) smooth[c] += values[n] / static_cast<double>(2 * kReach + 1);
  }
  return smooth;
}

/// From the median.
double mean_deviation(const std::vector<double>& values) {
  const double middle = median(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - middle);
  return sum / static_cast<double>(values.size() - 1);
}

template <class Told>
double median_error(const std::vector<Measured>& samples, Told told) {
  std::vector<double> errors;
  for (const Measured& m : samples) errors.push_back(std::abs(told(m) - m.log_warm));
  return median(std::move(errors));
}

}  // namespace

Tasks::Tasks(const std::vector<Measured>& samples, const std::vector<Recorded>& recorded) : longer_{samples} {
  constexpr double kLeastWidth = 0.02, kReach = 4;
  const std::vector<double> warm = sorted_warm(samples);
  std::vector<double> widths;
  for (std::size_t i = 0; i < warm.size(); ++i)
    widths.push_back(std::max(kLeastWidth, to_second_nearest(warm, i)));
  const double margin = kReach * *std::max_element(widths.begin(), widths.end());
  double to = warm.back() + margin;
  for (const Recorded& r : recorded) to = std::max(to, static_cast<double>(r.log_time));
  from_ = warm.front() - margin;
  prior_.assign(static_cast<std::size_t>((to - from_) / kStep) + 1, kAnywhere);
  for (std::size_t i = 0; i < warm.size(); ++i) {
    const double each = 1 / (static_cast<double>(warm.size()) * 2.5066 * widths[i]);
    const auto first = static_cast<std::size_t>((warm[i] - kReach * widths[i] - from_) / kStep);
    const auto cells = static_cast<std::size_t>(2 * kReach * widths[i] / kStep) + 1;
    for (std::size_t c = first; c < std::min(first + cells, prior_.size()); ++c) {
      const double off = (from_ + kStep * static_cast<double>(c) - warm[i]) / widths[i];
      prior_[c] += each * std::exp(-off * off / 2);
    }
  }
  learn(recorded, static_cast<double>(samples.size()));
}

/// Expectation and maximisation: each stretch says where tasks are, by what it may have taken.
void Tasks::learn(const std::vector<Recorded>& recorded, double samples) {
  constexpr int kRounds = 5;
  constexpr std::size_t kMostAsked = 512;
  const std::size_t each = recorded.size() / kMostAsked + 1;
  const std::vector<double> by_samples = prior_;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> found(prior_.size());
    double asked = 0;
    for (std::size_t i = 0; i < recorded.size(); i += each) {
      const auto log_recorded = static_cast<double>(recorded[i].log_time);
      const Weights weights = weights_of(log_recorded);
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      const auto top = static_cast<std::ptrdiff_t>(std::floor((log_recorded - from_) / kStep + 0.5));
      for (std::size_t c = 0; c < kCells; ++c)
        if (const auto cell = top - static_cast<std::ptrdiff_t>(c); cell >= 0 && cell < std::ssize(found))
          found[static_cast<std::size_t>(cell)] += weights[c] / sum;
      ++asked;
    }
    const std::vector<double> smooth = smoothed(found);
    for (std::size_t c = 0; c < prior_.size(); ++c)
      prior_[c] = (samples * by_samples[c] + smooth[c] / kStep) / (samples + asked);
  }
}

double Tasks::prior_at(double log_warm) const {
  const double cell = (log_warm - from_) / kStep + 0.5;
  return cell < 0 || cell >= static_cast<double>(prior_.size()) ? kAnywhere
                                                                : prior_[static_cast<std::size_t>(cell)];
}

Tasks::Weights Tasks::weights_of(double log_recorded) const {
  Weights weights{};
  for (std::size_t c = 0; c < kCells; ++c) {
    const double longer = kStep * static_cast<double>(c);
    weights[c] = prior_at(log_recorded - longer) * longer_.at(longer);
  }
  return weights;
}

double Tasks::log_warm(double log_recorded, double chance) const {
  if (prior_.empty()) return log_recorded + shift_;
  const Weights weights = weights_of(log_recorded);
  std::size_t drawn = 0;
  for (double left = chance * std::accumulate(weights.begin(), weights.end(), 0.0); drawn + 1 < kCells;
       ++drawn)
    if ((left -= weights[drawn]) < 0) break;
  return log_recorded - kStep * static_cast<double>(drawn);
}

double log_odds_as_recorded(const std::vector<Measured>& samples) {
  constexpr std::size_t kFewest = 3;
  constexpr double kLeast = 0.05;  // so well it is known what sharing makes
  if (samples.size() < kFewest) return -INFINITY;
  std::vector<double> warm, without_sharing, longer;
  for (const Measured& m : samples) {
    warm.push_back(m.log_warm);
    without_sharing.push_back(m.log_warm - m.log_shared);
    longer.push_back(log_recorded(m) - m.log_warm);
  }
  const double as_same = std::min(mean_deviation(warm), mean_deviation(without_sharing));
  return static_cast<double>(samples.size()) *
         std::log(std::max(as_same, kLeast) / std::max(mean_deviation(longer), kLeast));
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
