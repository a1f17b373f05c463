// How often to measure (NREP of Hunold et al. 2016, section 4.2), and whether a library changes its behaviour
// while it is measured. Pure functions of run-times in the order in which they were measured; any thread.
// Standard library only, because the measuring MPI program decides with them.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace nplus1::guidelines {

/// When a series is long enough: every threshold that is given holds. Defaults are PGMPI's.
struct Criteria {
  std::optional<double> rse = 0.02;
  std::optional<double> cov_mean = 0.01;
  std::optional<double> cov_median;
  int cov_mean_window = 30;
  int cov_median_window = 30;
  int least = 10;
  int most = 200;
};

/// Without value: the series is too short for it.
struct Metrics {
  std::optional<double> rse;  // standard error of the mean / mean; above 10 values without Tukey's outliers
  std::optional<double> cov_mean;    // sd / mean of the means of the last w prefixes
  std::optional<double> cov_median;  // the same with medians
};

[[nodiscard]] Metrics metrics_of(std::span<const double> times, const Criteria& criteria);

/// All chosen metrics are there and below their thresholds, or `most` is reached.
[[nodiscard]] bool enough(std::span<const double> times, const Metrics& metrics, const Criteria& criteria);

/// The lengths at which a growing series is looked at: 10, 25, 50, 95, 180 and `most`, none below `least`.
[[nodiscard]] std::vector<int> batches(const Criteria& criteria);

/// Where the level of a series changes.
struct Change {
  int after = 0;     // the last repetition (from 1) of the old level
  double ratio = 1;  // median after / median before
  double p = 1;      // two-sided, approximate
};

/// Pettitt's test for one change point (Applied Statistics 28, 1979): p = 2 exp(-6 K^2 / (n^3 + n^2)). Ties
/// get mean ranks. No value for fewer than 10 times.
[[nodiscard]] std::optional<Change> change_point(std::span<const double> times);

}  // namespace nplus1::guidelines
