// Work that differs from stretch to stretch without a few amounts that come back: tasks as long as their data says. What a task
// of recorded length r took when warm is not known, but how long tasks are is, from the samples, and so is how much longer than its
// twin took a stretch was recorded (disturbance.hpp). So it is drawn (Bayes; Rubin 1987) from
//
//   p(w | r) ~ p(w) h(log r - log w)
//
// p is the samples' density: a normal distribution around each, as wide as to its second nearest neighbour, 2 % at least, and a little
// everywhere. What is drawn has the samples' distribution, also that of the largest of many, for which all ranks wait, and which a
// scaled recorded time makes too long: of many stretches the host hits some.
//
// Pure. Sources: D. Rubin, "Multiple imputation for nonresponse in surveys" (1987); L. Breiman, W. Meisel, E. Purcell, "Variable kernel
// estimates of multivariate densities" (1977); A. Wald, J. Wolfowitz, "On a test whether two samples are from the same population" (1940).
#pragma once

#include <vector>

#include "hypothesis/clock/disturbance.hpp"
#include "hypothesis/clock/levels.hpp"
#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

class Tasks {
 public:
  /// Without samples: every stretch as recorded, times exp(`shift`), whatever the chance.
  explicit Tasks(double shift) : shift_{shift} {}
  /// Of two samples at least. Stretches that had a twin were recorded as shorter than others are, since it left warm caches: by
  /// `more`, logarithm.
  explicit Tasks(const std::vector<Measured>& samples, double more);

  /// Logarithms of picoseconds. `chance` in [0, 1): the greater, the more the host is said to have added.
  [[nodiscard]] double log_warm(double log_recorded, double chance) const;

 private:
  [[nodiscard]] double prior_at(double log_warm) const;

  double shift_ = 0;
  double from_ = 0;
  std::vector<double> prior_;  // density of warm times from from_ on, in steps of Disturbance::kStep
  Disturbance longer_;
};

/// Whether what twins took goes along with what was recorded: the correlation of their places, from 0.8 on for certain (Fisher's z),
/// where they span what `range` asks for (logarithm, from the 10 % quantile to the 90 % quantile). A host that is slow for a while makes
/// twin and stretch longer, too: so small a range as that makes says nothing.
[[nodiscard]] bool go_along(const std::vector<Measured>& samples, double range);

/// Whether they go along a little, at least.
[[nodiscard]] bool go_rather_along(const std::vector<Measured>& samples);

/// Whether a rank's stretches of a kind, as recorded, are of two amounts of work: each as alike as no more than a third of what
/// they lie apart, which is a tenth at least, and by turns or at random (Wald, Wolfowitz): not for a while each, as a host makes them.
[[nodiscard]] bool are_of_two_amounts(std::vector<Recorded> of_rank);

/// The median of how far off the samples are told, logarithm: as recorded, but for what the host mostly adds; or by levels.
[[nodiscard]] double error_as_recorded(const std::vector<Measured>& samples);
[[nodiscard]] double error_of(const Levels& levels, const std::vector<Measured>& samples);

}  // namespace nplus1::hypothesis::clock
