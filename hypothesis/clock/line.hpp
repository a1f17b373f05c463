// Work that differs from stretch to stretch without a few amounts that come back (tasks as long as their data says): what twins
// took goes along with what was recorded of the very same stretches, and so will others.
//
//   log warm = a + b log recorded,   0 <= b <= 1
//
// b is the median slope of all pairs of samples, and a the lower quartile of what is left, since noise only adds. That they go along is
// asked of the lower end of the correlation's interval (Fisher's z): a host that is slow for a while makes twin and stretch
// longer, too, so that a correlation alone says nothing; and where samples that shared their cores have to be asked, of so wide a
// range as sharing cannot make.
//
// Pure. Sources: P. Sen, "Estimates of the regression coefficient based on Kendall's tau" (1968); R. Fisher, "On the probable error of
// a coefficient of correlation" (1921).
#pragma once

#include <optional>
#include <vector>

#include "hypothesis/clock/levels.hpp"

namespace nplus1::hypothesis::clock {

class Line {
 public:
  /// Every stretch as recorded, times exp(`shift`).
  explicit Line(double shift) : at_one_{shift} {}
  /// Of two samples at least. `share`, 0 to 1, of what scatters is taken off: what the host added to a stretch is not known.
  explicit Line(const std::vector<Measured>& samples, double share = 0);

  /// Logarithms of picoseconds.
  [[nodiscard]] double log_warm(double log_recorded) const { return at_one_ + slope_ * log_recorded; }

 private:
  double at_one_ = 0, slope_ = 1;
};

/// From it on what twins took goes along with what was recorded.
inline constexpr double kGoesAlong = 0.8;
/// Between the logarithms of both; 0 where one of the two is always the same.
[[nodiscard]] double correlation_of(const std::vector<Measured>& samples);

/// Whether what they took spans what `range` asks for (logarithm, from the 10 % quantile to the 90 % quantile), and goes along.
[[nodiscard]] bool go_along(const std::vector<Measured>& samples, double range);

/// The median of how far off it tells the samples, logarithm.
[[nodiscard]] double error_of(const Line& line, const std::vector<Measured>& samples);
[[nodiscard]] double error_of(const Levels& levels, const std::vector<Measured>& samples);

}  // namespace nplus1::hypothesis::clock
