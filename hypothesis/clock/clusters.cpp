#include "hypothesis/clock/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kMostSamples = 256;
constexpr std::size_t kMostClusters = 24;
constexpr double kPenaltyOfEach = 1.5;  // times log n

constexpr double kPart = 0.03;  // of a range

/// Equal parts of a range, with their medians.
std::vector<Cluster> parts_of(const std::vector<double>& sorted) {
  const double width =
      std::max(kPart, (sorted.back() - sorted.front()) / static_cast<double>(kMostClusters - 1));
  std::vector<Cluster> parts;
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && sorted[end] - sorted[begin] <= width) ++end;
    parts.push_back({sorted[begin + (end - begin) / 2],
                     static_cast<double>(end - begin) / static_cast<double>(sorted.size())});
  }
  return parts;
}

/// So many of them, evenly.
std::vector<double> thinned(const std::vector<double>& sorted) {
  if (sorted.size() <= kMostSamples) return sorted;
  std::vector<double> some;
  for (std::size_t i = 0; i < kMostSamples; ++i) some.push_back(sorted[i * sorted.size() / kMostSamples]);
  return some;
}

class Partition {
 public:
  /// Finds the best one.
  Partition(const std::vector<double>& sorted, double below, double above, double penalty)
      : x_{sorted},
        below_{below},
        above_{above},
        sums_(x_.size() + 1),
        begin_(x_.size() + 1),
        of_(x_.size() + 1) {
    const std::size_t n = x_.size();
    for (std::size_t m = 1; m <= n; ++m) {
      const auto count = static_cast<double>(m);
      of_[m] = count * (std::log(below + above) - std::log(count / static_cast<double>(n))) + penalty;
    }
    for (std::size_t i = 0; i < n; ++i) sums_[i + 1] = sums_[i] + x_[i];
    std::vector<double> least(n + 1);
    for (std::size_t end = 1; end <= n; ++end) {
      least[end] = INFINITY;
      for (std::size_t begin = 0; begin < end; ++begin) {
        const double cost = least[begin] + cost_of(begin, end);
        if (cost >= least[end]) continue;
        least[end] = cost;
        begin_[end] = begin;
      }
    }
    cost_ = least[n];
  }

  [[nodiscard]] double cost() const { return cost_; }
  [[nodiscard]] std::vector<Cluster> clusters() const {
    std::vector<Cluster> all;
    for (std::size_t end = x_.size(); end > 0; end = begin_[end])
      all.push_back({x_[centre(begin_[end], end)],
                     static_cast<double>(end - begin_[end]) / static_cast<double>(x_.size())});
    std::reverse(all.begin(), all.end());
    return all;
  }

 private:
  /// Where the most likely value of the samples from `begin` to before `end` stands.
  [[nodiscard]] std::size_t centre(std::size_t begin, std::size_t end) const {
    return begin +
           static_cast<std::size_t>(below_ / (below_ + above_) * static_cast<double>(end - begin - 1) + 0.5);
  }
  /// Minus the logarithm of their probability, and of being in that cluster.
  [[nodiscard]] double cost_of(std::size_t begin, std::size_t end) const {
    const std::size_t c = centre(begin, end);
    const double higher = sums_[end] - sums_[c] - x_[c] * static_cast<double>(end - c);
    const double lower = x_[c] * static_cast<double>(c - begin) - (sums_[c] - sums_[begin]);
    return of_[end - begin] + higher / above_ + lower / below_;
  }

  const std::vector<double>& x_;
  double below_, above_;
  std::vector<double> sums_;
  std::vector<std::size_t> begin_;  // of the last cluster of the first so many
  std::vector<double> of_;          // what a cluster of so many costs, whatever they are
  double cost_ = 0;
};

}  // namespace

std::vector<Cluster> clusters_of(const std::vector<double>& sorted, const Noise& noise) {
  const std::vector<double> samples = thinned(sorted);
  std::vector<Cluster> best;
  const double penalty = kPenaltyOfEach * std::log(static_cast<double>(samples.size()));
  double least = INFINITY;
  for (const double above : noise.above) {
    const Partition partition{samples, noise.below, above, penalty};
    if (partition.cost() >= least) continue;
    least = partition.cost();
    best = partition.clusters();
  }
  return best.size() > kMostValues ? parts_of(sorted) : best;
}

}  // namespace nplus1::hypothesis::clock
