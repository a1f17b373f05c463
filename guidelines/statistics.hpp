// The statistics that guidelines are judged by: from repetitions to one median per mpirun, from two sets of
// medians to a p-value and an effect size, from many p-values to those that count. Pure; any thread. Empty
// input throws std::invalid_argument, but where an empty answer is said to be one.
//
// All tests are one-sided: small p speaks for "x tends to be greater than y", x being the original.
#pragma once

#include <cstddef>
#include <vector>

#include "guidelines/order_statistics.hpp"

namespace nplus1::guidelines {

struct TestResult {
  double statistic = 0;
  double p = 1;
  bool exact = false;
};

/// Wilcoxon's rank-sum test. The statistic is the rank sum of x less its least value: the number of pairs
/// with x > y, ties counting half. Exact is the distribution over all ways of dealing the pooled ranks
/// (midranks with ties) to x and y.
[[nodiscard]] TestResult rank_sum_exact(const Values& x, const Values& y);
/// Normal approximation, corrected for ties and for continuity; no spread at all gives p = 1.
[[nodiscard]] TestResult rank_sum_normal(const Values& x, const Values& y);
/// Exact up to this many values in all.
inline constexpr std::size_t kMostForExact = 60;
[[nodiscard]] TestResult rank_sum(const Values& x, const Values& y);

/// Kolmogorov and Smirnov: the greatest F_y - F_x, exact with ties (all orders of the pooled values).
[[nodiscard]] TestResult kolmogorov_smirnov(const Values& x, const Values& y);

/// Wilcoxon's signed-rank test of pairs, exact with ties (all signs of the ranks); pairs without difference
/// are left out. The statistic is the rank sum of the positive differences. Normal approximation beyond.
inline constexpr std::size_t kMostPairsForExact = 200;
[[nodiscard]] TestResult signed_rank(const Values& x, const Values& y);

/// P(x > y) - P(x < y), from -1 to 1.
[[nodiscard]] double cliffs_delta(const Values& x, const Values& y);

struct Interval {
  double estimate = 1;
  double low = 0;  // 0 and infinity: too few values for that confidence
  double high = 0;
};
/// Hodges and Lehmann's estimate of how many times greater x is: the median of all x_i / y_j, with the
/// interval that goes with the rank-sum test. All values positive.
[[nodiscard]] Interval hodges_lehmann_ratio(const Values& x, const Values& y, double confidence);

enum class Correction { kNone, kBenjaminiHochberg, kBenjaminiYekutieli, kHolm };
/// Adjusted p-values, in the order of `p`: what is at most alpha is found at level alpha (a false discovery
/// rate for Benjamini and Hochberg 1995, and Benjamini and Yekutieli 2001; the chance of any false one for
/// Holm 1979).
[[nodiscard]] Values adjusted(const Values& p, Correction correction);

/// "***" up to .001, "**" up to .01, "*" up to .05, else "".
[[nodiscard]] const char* stars(double p);

/// The least p-value that n and m values without ties can give in an exact rank-sum test.
[[nodiscard]] double least_p(std::size_t n, std::size_t m);
/// How many mpiruns each side needs so that one violation among `tests` can be found at all.
[[nodiscard]] std::size_t runs_for_lone_hit(std::size_t tests, double alpha);

struct Rate {
  std::size_t hits = 0;
  std::size_t of = 0;
  double low = 0;  // Clopper and Pearson's interval
  double high = 1;
};
[[nodiscard]] Rate rate(std::size_t hits, std::size_t of, double confidence);

}  // namespace nplus1::guidelines
