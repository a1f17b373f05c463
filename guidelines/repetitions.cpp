#include "guidelines/repetitions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "guidelines/order_statistics.hpp"

namespace nplus1::guidelines {
namespace {

constexpr std::size_t kFilteredAbove = 10;

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

double median_of(std::span<const double> times) {
  return median({times.begin(), times.end()});
}

std::optional<double> relative_standard_error(std::span<const double> times) {
  if (times.size() < 2) return std::nullopt;
  Values x{times.begin(), times.end()};
  if (x.size() > kFilteredAbove) x = tukey_filtered(x);
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

}  // namespace

Metrics metrics_of(std::span<const double> times, const Criteria& criteria) {
  return {relative_standard_error(times), variation_of_prefixes(times, criteria.cov_mean_window, mean),
          variation_of_prefixes(times, criteria.cov_median_window, median_of)};
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
  const std::vector<std::size_t> ranks = doubled_ranks({times.begin(), times.end()});
  const auto n = static_cast<double>(times.size());
  double sum = 0, largest = 0;
  std::size_t at = 1;
  for (std::size_t k = 1; k < times.size(); ++k) {
    sum += static_cast<double>(ranks[k - 1]);
    const double u = std::abs(sum - static_cast<double>(k) * (n + 1));
    if (u > largest) largest = u, at = k;
  }
  const double p = std::min(1.0, 2 * std::exp(-6 * largest * largest / (n * n * n + n * n)));
  return Change{static_cast<int>(at), median_of(times.subspan(at)) / median_of(times.first(at)), p};
}

}  // namespace nplus1::guidelines
