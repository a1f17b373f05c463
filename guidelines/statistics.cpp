#include "guidelines/statistics.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace nplus1::guidelines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostBinomial = 1000;  // beyond, numbers of ways leave the range of doubles

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument{what};
}

double binomial(std::size_t n, std::size_t k) {
  return boost::math::binomial_coefficient<double>(static_cast<unsigned>(n), static_cast<unsigned>(k));
}

Values joined(Values x, const Values& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

/// In how many ways k of the numbers add up to each sum: the element s for the sum s.
Values ways_to_sum(const std::vector<std::size_t>& numbers, std::size_t k) {
  const std::size_t most = std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
  std::vector<Values> ways(k + 1, Values(most + 1, 0.0));
  ways[0][0] = 1;
  for (const std::size_t number : numbers)
    for (std::size_t chosen = k; chosen-- > 0;)
      for (std::size_t sum = most + 1 - number; sum-- > 0;)
        if (ways[chosen][sum] > 0) ways[chosen + 1][sum + number] += ways[chosen][sum];
  return ways[k];
}

double sum_from(const Values& values, std::size_t begin) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(std::min(begin, values.size())),
                         values.end(), 0.0);
}

/// Ranks of x in the pooled values, and what both forms of the rank-sum test need of them.
struct Pooled {
  Pooled(const Values& x, const Values& y) : n{x.size()}, m{y.size()}, ranks{doubled_ranks(joined(x, y))} {
    require(n > 0 && m > 0, "a rank-sum test of nothing");
    doubled_sum =
        std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(n), std::size_t{0});
  }
  [[nodiscard]] double statistic() const { return static_cast<double>(doubled_sum - n * (n + 1)) / 2; }

  std::size_t n, m;
  std::vector<std::size_t> ranks;
  std::size_t doubled_sum = 0;
};

/// The greatest difference F_y - F_x, in units of 1 / (n m): n j - m i after i values of x and j of y.
struct Gap {
  Gap(const Values& x, const Values& y) : n{x.size()}, m{y.size()}, ranks{doubled_ranks(joined(x, y))} {
    std::vector<std::size_t> order(n + m);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
    std::sort(ranks.begin(), ranks.end());
    for (std::size_t passed = 1, i = 0; passed <= n + m; ++passed) {
      i += order[passed - 1] < n ? 1U : 0U;
      if (!inside_tie(passed)) observed = std::max(observed, at(i, passed - i));
    }
  }

  [[nodiscard]] std::ptrdiff_t at(std::size_t i, std::size_t j) const {
    return static_cast<std::ptrdiff_t>(n * j) - static_cast<std::ptrdiff_t>(m * i);
  }
  [[nodiscard]] bool inside_tie(std::size_t passed) const {
    return passed < n + m && ranks[passed] == ranks[passed - 1];
  }

  /// Of all deals of the pooled values, the share in which the gap gets as great. ways[i]: in how many ways i
  /// of those passed are x's and the gap was never as great.
  [[nodiscard]] double share_of_deals() const {
    Values ways(n + 1, 0.0);
    ways[0] = 1;
    double reached = 0;
    for (std::size_t passed = 1; passed <= n + m; ++passed) {
      for (std::size_t i = std::min(n, passed) + 1; i-- > 0;)
        ways[i] = (passed - i <= m ? ways[i] : 0) + (i > 0 ? ways[i - 1] : 0);
      for (std::size_t i = 0; i <= std::min(n, passed) && !inside_tie(passed); ++i) {
        if (passed - i > m || at(i, passed - i) < observed) continue;
        reached += ways[i] * binomial(n + m - passed, n - i);
        ways[i] = 0;
      }
    }
    return reached / binomial(n + m, n);
  }

  std::size_t n, m;
  std::vector<std::size_t> ranks;  // doubled; ascending
  std::ptrdiff_t observed = 0;
};

/// Sum of t^3 - t over groups of t equal values.
double tie_term(std::vector<std::size_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  double sum = 0;
  for (auto begin = ranks.begin(); begin != ranks.end();) {
    const auto end = std::upper_bound(begin, ranks.end(), *begin);
    const auto t = static_cast<double>(end - begin);
    sum += t * t * t - t;
    begin = end;
  }
  return sum;
}

/// How many pairs may lie outside each end of the interval: the greatest c with P(W < c) <= tail.
std::size_t outside(std::size_t n, std::size_t m, double tail) {
  const auto pairs = static_cast<double>(n * m);
  if (n + m > kMostForExact) {
    const double sd = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
    const double c = pairs / 2 + boost::math::quantile(boost::math::normal{}, tail) * sd;
    return c > 0 ? static_cast<std::size_t>(c) : 0;
  }
  std::vector<std::size_t> ranks(n + m);
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const Values ways = ways_to_sum(ranks, n);
  double below = 0;
  std::size_t c = 0;
  for (std::size_t sum = n * (n + 1) / 2; (below += ways[sum] / binomial(n + m, n)) <= tail; ++sum) ++c;
  return c;
}

/// Normal approximation: each rank counts or not, with one chance in two; corrected for continuity.
TestResult signed_rank_normal(const std::vector<std::size_t>& doubled_ranks, std::size_t doubled_sum) {
  double sum = 0;
  double squares = 0;
  for (const std::size_t doubled : doubled_ranks) {
    const double rank = static_cast<double>(doubled) / 2;
    sum += rank;
    squares += rank * rank;
  }
  const double statistic = static_cast<double>(doubled_sum) / 2;
  const double z = (statistic - sum / 2 - 0.5) / std::sqrt(squares / 4);
  return {statistic, boost::math::cdf(boost::math::complement(boost::math::normal{}, z)), false};
}

/// All x_i / y_j in order; where they are many, each is looked for, and nothing kept. All values positive.
class Ratios {
 public:
  Ratios(Values x, Values y) : x_{std::move(x)}, y_{std::move(y)} {
    std::sort(x_.begin(), x_.end());
    std::sort(y_.begin(), y_.end());
    if (size() > kMostKept) return;
    for (const double a : x_)
      for (const double b : y_) kept_.push_back(a / b);
    std::sort(kept_.begin(), kept_.end());
  }
  [[nodiscard]] std::size_t size() const { return x_.size() * y_.size(); }
  /// Positive numbers are in the order of their bits, and quotients in that of their dividends and divisors.
  [[nodiscard]] double operator[](std::size_t k) const {
    if (!kept_.empty()) return kept_[k];
    std::uint64_t low = 0;
    auto high = std::bit_cast<std::uint64_t>(kInfinity);
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (not_above(std::bit_cast<double>(middle)) > k)
        high = middle;
      else
        low = middle + 1;
    }
    return std::bit_cast<double>(low);
  }

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 20U;
  [[nodiscard]] std::size_t not_above(double ratio) const {
    std::size_t count = 0;
    std::size_t first = 0;  // of the y that are large enough
    for (const double a : x_) {
      while (first < y_.size() && a / y_[first] > ratio) ++first;
      count += y_.size() - first;
    }
    return count;
  }

  Values x_, y_, kept_;
};

}  // namespace

TestResult rank_sum_exact(const Values& x, const Values& y) {
  const Pooled pooled{x, y};
  const Values ways = ways_to_sum(pooled.ranks, pooled.n);
  const double p = sum_from(ways, pooled.doubled_sum) / binomial(pooled.n + pooled.m, pooled.n);
  return {pooled.statistic(), std::min(p, 1.0), true};
}

TestResult rank_sum_normal(const Values& x, const Values& y) {
  const Pooled pooled{x, y};
  const auto pairs = static_cast<double>(pooled.n * pooled.m);
  const auto all = static_cast<double>(pooled.n + pooled.m);
  const double variance = pairs / 12 * (all + 1 - tie_term(pooled.ranks) / (all * (all - 1)));
  if (!(variance > 0)) return {pooled.statistic(), 1, false};
  const double z = (pooled.statistic() - pairs / 2 - 0.5) / std::sqrt(variance);
  return {pooled.statistic(), boost::math::cdf(boost::math::complement(boost::math::normal{}, z)), false};
}

TestResult rank_sum(const Values& x, const Values& y) {
  return x.size() + y.size() <= kMostForExact ? rank_sum_exact(x, y) : rank_sum_normal(x, y);
}

TestResult kolmogorov_smirnov(const Values& x, const Values& y) {
  require(!x.empty() && !y.empty(), "a Kolmogorov-Smirnov test of nothing");
  const Gap gap{x, y};
  const double statistic = static_cast<double>(gap.observed) / static_cast<double>(gap.n * gap.m);
  if (gap.observed == 0) return {statistic, 1, true};
  if (gap.n + gap.m <= kMostBinomial) return {statistic, std::min(1.0, gap.share_of_deals()), true};
  const double pairs = static_cast<double>(gap.n * gap.m) / static_cast<double>(gap.n + gap.m);
  return {statistic, std::exp(-2 * statistic * statistic * pairs), false};  // Smirnov's limit
}

TestResult signed_rank(const Values& x, const Values& y) {
  require(x.size() == y.size(), "a test of pairs needs as many x as y");
  Values size;
  std::vector<bool> positive;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    size.push_back(std::abs(x[i] - y[i]));
    positive.push_back(x[i] > y[i]);
  }
  const std::vector<std::size_t> ranks = doubled_ranks(size);
  std::size_t observed = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (positive[i]) observed += ranks[i];
  if (ranks.size() > kMostPairsForExact) return signed_rank_normal(ranks, observed);
  Values ways(std::accumulate(ranks.begin(), ranks.end(), std::size_t{0}) + 1, 0.0);
  ways[0] = 1;
  for (const std::size_t rank : ranks)
    for (std::size_t sum = ways.size(); sum-- > rank;) ways[sum] += ways[sum - rank];
  const double p = sum_from(ways, observed) / std::exp2(static_cast<double>(ranks.size()));
  return {static_cast<double>(observed) / 2, p, true};
}

double cliffs_delta(const Values& x, const Values& y) {
  const Pooled pooled{x, y};
  return 2 * pooled.statistic() / static_cast<double>(pooled.n * pooled.m) - 1;
}

Interval hodges_lehmann_ratio(const Values& x, const Values& y, double confidence) {
  require(!x.empty() && !y.empty(), "a ratio of nothing");
  const Ratios ratios{x, y};
  const std::size_t c = outside(x.size(), y.size(), (1 - confidence) / 2);
  const bool bounded = c > 0;
  return {quantile({ratios[(ratios.size() - 1) / 2], ratios[ratios.size() / 2]}, 0.5),
          bounded ? ratios[c - 1] : 0, bounded ? ratios[ratios.size() - c] : kInfinity};
}

Values adjusted(const Values& p, Correction correction) {
  if (correction == Correction::kNone) return p;
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  const auto all = static_cast<double>(p.size());
  double factor = all;
  if (correction == Correction::kBenjaminiYekutieli) {
    double harmonic = 0;
    for (std::size_t i = 1; i <= p.size(); ++i) harmonic += 1 / static_cast<double>(i);
    factor *= harmonic;
  }
  Values q(p.size());
  if (correction == Correction::kHolm) {
    double greatest = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      q[order[i]] = greatest =
          std::min(1.0, std::max(greatest, p[order[i]] * (all - static_cast<double>(i))));
    return q;
  }
  double least = 1;
  for (std::size_t i = order.size(); i-- > 0;)
    q[order[i]] = least = std::min(least, p[order[i]] * factor / static_cast<double>(i + 1));
  return q;
}

const char* stars(double p) {
  return p <= .001 ? "***" : p <= .01 ? "**" : p <= .05 ? "*" : "";
}

double least_p(std::size_t n, std::size_t m) {
  return n + m > kMostBinomial ? 0 : 1 / binomial(n + m, n);
}

std::size_t runs_for_lone_hit(std::size_t tests, double alpha) {
  std::size_t runs = 1;
  while (least_p(runs, runs) * static_cast<double>(std::max<std::size_t>(tests, 1)) > alpha) ++runs;
  return runs;
}

Rate rate(std::size_t hits, std::size_t of, double confidence) {
  if (of == 0) return {};
  using boost::math::binomial_distribution;
  const auto n = static_cast<double>(of), k = static_cast<double>(hits), tail = (1 - confidence) / 2;
  return {hits, of, binomial_distribution<>::find_lower_bound_on_p(n, k, tail),
          binomial_distribution<>::find_upper_bound_on_p(n, k, tail)};
}

}  // namespace nplus1::guidelines
