#include "calibrate/quality.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::calibrate {
namespace {

constexpr double kConfidence = 0.95 - 1e-9;  // probabilities come with rounding errors

double log_choose(std::size_t n, std::size_t k) {
  const auto log_factorial = [](std::size_t m) { return std::lgamma(static_cast<double>(m) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/// The probability that at least `least` of `future` errors lie below the one of rank `rank` (from 1) of `known`: all
/// orders of the two samples are equally likely.
double probability_below(std::size_t rank, std::size_t known, std::size_t least, std::size_t future) {
  double sum = 0;
  for (std::size_t below = least; below <= future; ++below)
    sum += std::exp(log_choose(rank - 1 + below, below) +
                    log_choose(known - rank + future - below, future - below) -
                    log_choose(known + future, future));
  return sum;
}

}  // namespace

Errors errors_of(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  const std::size_t rank = std::min(n, (9 * (n + 1) + 9) / 10);
  return {(errors[(n - 1) / 2] + errors[n / 2]) / 2, errors[rank - 1], errors.back()};
}

std::vector<double> relative_errors(const std::vector<Sample>& samples, const Predict& predict) {
  std::vector<double> errors;
  for (const Sample& sample : samples)
    errors.push_back(std::abs(predict(sample.size) - sample.median) / sample.median);
  return errors;
}

std::vector<double> left_out_errors(const std::vector<Sample>& samples, const Refit& refit) {
  std::vector<double> errors;
  if (samples.size() < 4) return errors;
  for (std::size_t i = 1; i + 1 < samples.size(); ++i) {
    std::vector<Sample> others = samples;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    errors.push_back(relative_errors({samples[i]}, refit(others)).front());
  }
  return errors;
}

double limit_of_median(std::vector<double> known, std::size_t future) {
  if (known.empty()) return 0;
  std::sort(known.begin(), known.end());
  const std::size_t upper_median = future / 2 + 1;
  for (std::size_t rank = 1; rank <= known.size(); ++rank)
    if (probability_below(rank, known.size(), upper_median, future) >= kConfidence) return known[rank - 1];
  return known.back();
}

bool Quality::as_stated() const {
  return held_back.median <= std::max(median_limit, kResolution) && covered >= kLeastCovered;
}

Quality quality(const std::vector<Sample>& samples, const Refit& refit) {
  const std::vector<Sample> fitted = fitted_sizes(samples);
  const Predict predict = refit(fitted);
  const std::vector<double> left_out = left_out_errors(fitted, refit);
  const std::vector<double> held_back = relative_errors(held_back_sizes(samples), predict);
  Quality q{errors_of(relative_errors(fitted, predict)), errors_of(left_out), errors_of(held_back),
            limit_of_median(left_out, held_back.size()), 1};
  const double band = std::max(q.stated.nine_of_ten, kResolution);
  const auto inside =
      std::count_if(held_back.begin(), held_back.end(), [band](double e) { return e <= band; });
  if (!held_back.empty()) q.covered = static_cast<double>(inside) / static_cast<double>(held_back.size());
  return q;
}

}  // namespace nplus1::calibrate
