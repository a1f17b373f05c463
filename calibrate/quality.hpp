// How well a calibrated model predicts sizes that it was not fitted to: what the fit itself promises, by leaving
// out one fitted size at a time, and whether sizes held back from it bear that out. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "calibrate/fit.hpp"

namespace nplus1::calibrate {

/// |prediction - measured| / measured over some sizes.
struct Errors {
  double median = 0;
  /// What the next one will not exceed with a probability of 90 %: that of rank 0.9 (n + 1), rounded up, of n (the
  /// worst of fewer than nine). (Conformal prediction: V. Vovk et al., 2005.)
  double nine_of_ten = 0;
  double worst = 0;
};
[[nodiscard]] Errors errors_of(std::vector<double> relative_errors);

using Predict = std::function<double(double size)>;
/// The whole way from samples to a model, the choice of its ranges included.
using Refit = std::function<Predict(const std::vector<Sample>& samples)>;

[[nodiscard]] std::vector<double> relative_errors(const std::vector<Sample>& samples, const Predict& predict);

/// The error at each sample but the first and the last (which would be extrapolated) of a model that was fitted to
/// all others. Empty for fewer than four samples. (Leave-one-out cross-validation: M. Stone, 1974.)
[[nodiscard]] std::vector<double> left_out_errors(const std::vector<Sample>& samples, const Refit& refit);

/// What the median of `future` more errors will not exceed, with a confidence of 95 %, if they come from the same
/// distribution as `known`, whatever that is: a known error whose rank the two samples' exchangeability gives
/// (the precedence probability of order statistics, negative hypergeometric; H. A. David, H. N. Nagaraja, *Order
/// Statistics*, 2003). The largest known one where they are too few for 95 %.
[[nodiscard]] double limit_of_median(std::vector<double> known, std::size_t future);

/// Errors below this are as good as none: medians of measured times differ by more.
inline constexpr double kResolution = 0.01;
/// The largest median error that a calibration may have to be of use.
inline constexpr double kUseful = 0.15;
/// The least share of sizes held back to lie within the stated nine of ten. With 21 of each, 17 or more do with a
/// probability of 91 % where the statement is right.
inline constexpr double kLeastCovered = 0.8;

/// A model's error at the sizes it was fitted to, the error that it states for others, and that at those held back.
struct Quality {
  Errors fitted;
  Errors stated;  // by leaving out
  Errors held_back;
  double median_limit = 0;  // of the median held back, given what was stated
  double covered = 0;       // share of sizes held back within the stated nine of ten (or kResolution)

  /// What is stated is true of the sizes held back: median and coverage.
  [[nodiscard]] bool as_stated() const;
  /// And it is good enough to be used.
  [[nodiscard]] bool holds() const { return as_stated() && held_back.median <= kUseful; }
};
/// Fits to the powers of two among the samples, and checks with the others.
[[nodiscard]] Quality quality(const std::vector<Sample>& samples, const Refit& refit);

}  // namespace nplus1::calibrate
