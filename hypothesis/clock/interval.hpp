// The interval that holds the truth in nine cases of ten, from an estimate and from what the same estimate comes to with
// other samples. Pure.
#pragma once

#include <vector>

namespace nplus1::hypothesis::clock {

struct Interval {
  double from = 0, to = 0;
};

/// The normal distribution's 5 % and 95 %, about the estimate, with the replicates' standard deviation and a systematic
/// error of that share of the estimate; and as far as the replicates' own mean, should the estimate lie beside them.
[[nodiscard]] Interval interval(double estimate, const std::vector<double>& replicates, double systematic);

/// Whether the replicates' standard deviation is more than the systematic share of their mean: then that it is known to a
/// third only, as from six of them, would be seen in the interval.
[[nodiscard]] bool are_apart(const std::vector<double>& replicates, double systematic);

}  // namespace nplus1::hypothesis::clock
