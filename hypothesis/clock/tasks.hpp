// Work that differs from stretch to stretch without a few amounts that come back: tasks as long as their data says. What a task
// of recorded length r took when warm is not known, but how long tasks are is, from the samples, and so is how much longer than its
// twin took a stretch was recorded (disturbance.hpp). So it is drawn (Bayes; Rubin 1987) from
//
//   p(w | r) ~ p(w) h(log r - log w)
//
// p begins as the samples' density: a normal distribution around each, as wide as to its second nearest neighbour, 2 % at least, and
// a little everywhere; then all stretches as recorded say, too, where tasks are (expectation and maximisation: of the longest there
// are fewer twins). What is drawn has that distribution, also that of the largest of many, for which all ranks wait, and which a
// scaled recorded time makes too long: of many stretches the host hits some.
//
// Pure. Sources: D. Rubin, "Multiple imputation for nonresponse in surveys" (1987); L. Breiman, W. Meisel, E. Purcell, "Variable kernel
// estimates of multivariate densities" (1977).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "hypothesis/clock/disturbance.hpp"
#include "hypothesis/clock/levels.hpp"
#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

class Tasks {
 public:
  /// Without samples: every stretch as recorded, times exp(`shift`), whatever the chance.
  explicit Tasks(double shift) : shift_{shift} {}
  /// Of two samples at least. `recorded`: some stretches that had no twin, fairly chosen.
  Tasks(const std::vector<Measured>& samples, const std::vector<Recorded>& recorded);

  /// Logarithms of picoseconds. `chance` in [0, 1): the greater, the more the host is said to have added.
  [[nodiscard]] double log_warm(double log_recorded, double chance) const;

 private:
  static constexpr std::size_t kCells = 200;  // a task may have been recorded as so many steps longer
  using Weights = std::array<double, kCells>;
  [[nodiscard]] Weights weights_of(double log_recorded) const;
  void learn(const std::vector<Recorded>& recorded, double samples);
  [[nodiscard]] double prior_at(double log_warm) const;

  double shift_ = 0;
  double from_ = 0;
  std::vector<double> prior_;  // density of warm times from from_ on, in steps of Disturbance::kStep
  Disturbance longer_;
};

/// How much more probable the samples are if each stretch takes as long as it was recorded, but for what the host adds, than if all take
/// the same: logarithm of the odds. Both are told with an error whose logarithm is Laplace's, as wide as the samples' mean deviation says, 5 %
/// at least: (deviation of what twins took / deviation of how much longer was recorded)^n. Whoever shares a core makes twin and stretch
/// longer: so what twins took deviates by no more than it does without what sharing makes of loads. Of fewer than three samples minus
/// infinite.
[[nodiscard]] double log_odds_as_recorded(const std::vector<Measured>& samples);

/// The median of how far off the samples are told, logarithm: as recorded, but for what the host mostly adds; or by levels.
[[nodiscard]] double error_as_recorded(const std::vector<Measured>& samples);
[[nodiscard]] double error_of(const Levels& levels, const std::vector<Measured>& samples);

}  // namespace nplus1::hypothesis::clock
