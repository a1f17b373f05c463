#include "guidelines/repetitions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace nplus1::guidelines {
namespace {

constexpr std::size_t kFilteredAbove = 10;
constexpr double kTukey = 1.5;

double mean(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// Of a sample: n - 1 in the denominator.
double standard_deviation(std::span<const double> x) {
  const double m = mean(x);
  double sum = 0;
  for (const double value : x) sum += (value - m) * (value - m);
  return x.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(x.size() - 1));
}

/// Type 7 of Hyndman and Fan, R's default. `sorted` is not empty.
double quantile(std::span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> without_outliers(std::span<const double> times) {
  std::vector<double> x{times.begin(), times.end()};
  std::sort(x.begin(), x.end());
  const double low = quantile(x, 0.25), high = quantile(x, 0.75), reach = kTukey * (high - low);
  std::erase_if(x, [&](double value) { return value < low - reach || value > high + reach; });
  return x;
}

double median(std::span<const double> times) {
  std::vector<double> x{times.begin(), times.end()};
  std::sort(x.begin(), x.end());
  return quantile(x, 0.5);
}

std::optional<double> relative_standard_error(std::span<const double> times) {
  if (times.size() < 2) return std::nullopt;
  std::vector<double> x{times.begin(), times.end()};
  if (x.size() > kFilteredAbove) x = without_outliers(times);
  return standard_deviation(x) / (std::sqrt(static_cast<double>(x.size())) * mean(x));
}

std::optional<double> variation_of_prefixes(std::span<const double> times, int window,
                                            double (*summary)(std::span<const double>)) {
  const auto w = static_cast<std::size_t>(window);
  if (times.size() < w || w < 2) return std::nullopt;
  std::vector<double> summaries;
  for (std::size_t n = times.size() - w + 1; n <= times.size(); ++n)
    summaries.push_back(summary(times.first(n)));
  return standard_deviation(summaries) / mean(summaries);
}

bool below(const std::optional<double>& metric, const std::optional<double>& threshold) {
  return !threshold || (metric && *metric < *threshold);
}

std::vector<double> mean_ranks(std::span<const double> x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> ranks(x.size());
  for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
    while (end < order.size() && x[order[end]] == x[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + 1 + end) / 2;
  }
  return ranks;
}

}  // namespace

Metrics metrics_of(std::span<const double> times, const Criteria& criteria) {
  return {relative_standard_error(times), variation_of_prefixes(times, criteria.cov_mean_window, mean),
          variation_of_prefixes(times, criteria.cov_median_window, median)};
}

bool enough(std::span<const double> times, const Metrics& metrics, const Criteria& criteria) {
  const int n = static_cast<int>(times.size());
  if (n >= criteria.most) return true;
  return n >= criteria.least && below(metrics.rse, criteria.rse) &&
         below(metrics.cov_mean, criteria.cov_mean) && below(metrics.cov_median, criteria.cov_median);
}

std::vector<int> batches(const Criteria& criteria) {
  std::vector<int> lengths;
  for (const int n : {10, 25, 50, 95, 180}) {
    if (n >= criteria.least && n < criteria.most) lengths.push_back(n);
  }
  lengths.push_back(criteria.most);
  return lengths;
}

std::optional<Change> change_point(std::span<const double> times) {
  if (times.size() < 10) return std::nullopt;
  const std::vector<double> ranks = mean_ranks(times);
  const auto n = static_cast<double>(times.size());
  double sum = 0, largest = 0;
  std::size_t at = 1;
  for (std::size_t k = 1; k < times.size(); ++k) {
    sum += ranks[k - 1];
    const double u = std::abs(2 * sum - static_cast<double>(k) * (n + 1));
    if (u > largest) largest = u, at = k;
  }
  const double p = std::min(1.0, 2 * std::exp(-6 * largest * largest / (n * n * n + n * n)));
  return Change{static_cast<int>(at), median(times.subspan(at)) / median(times.first(at)), p};
}

}  // namespace nplus1::guidelines
