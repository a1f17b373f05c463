#include "hypothesis/clock/left_by_twins.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "hypothesis/clock/groups.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kFromKindToKind = 0.05;

/// What ranks, amounts of work and steps have, by the medians of stretches without twins.
class RanksAndSteps {
 public:
  explicit RanksAndSteps(const std::vector<OfRank>& ranks) : groups_{ranks} {
    constexpr std::size_t kFewestSteps = 4;  // each on another rank
    std::map<std::uint32_t, std::vector<double>> steps;
    for (const OfRank& rank : ranks) {
      if (!rank.is_repeated()) continue;
      for (const Recorded& r : rank.some) steps[r.step].push_back(groups_.longer(r));
    }
    for (auto& [step, more] : steps)
      if (more.size() >= kFewestSteps) steps_[step] = median(std::move(more));
  }

  /// Not a number: of the rank nothing is known.
  [[nodiscard]] double rest_of(const Recorded& r) const {
    const auto found = steps_.find(r.step);
    return groups_.longer(r) - (found == steps_.end() ? 0 : found->second);
  }

 private:
  Groups groups_;
  std::map<std::uint32_t, double> steps_;
};

struct Mean {
  double value = 0, variance = 0;  // the latter of a single one
};

/// Without the tenth at either end.
Mean trimmed_mean(std::vector<double> values) {
  constexpr double kTrimmed = 0.1;
  std::sort(values.begin(), values.end());
  const auto out = static_cast<std::ptrdiff_t>(kTrimmed * static_cast<double>(values.size()));
  const auto first = values.begin() + out, last = values.end() - out;
  const auto n = static_cast<double>(last - first);
  Mean mean;
  for (auto v = first; v != last; ++v) mean.value += *v / n;
  for (auto v = first; v != last; ++v) mean.variance += square(*v - mean.value) / std::max(n - 1, 1.0);
  return mean;
}

}  // namespace

std::optional<LeftByTwins::Longer> LeftByTwins::of(const std::vector<Measured>& samples,
                                                   const std::vector<OfRank>& ranks) {
  constexpr std::size_t kFewest = 4;
  if (samples.size() < kFewest) return {};
  const RanksAndSteps known{ranks};
  std::vector<double> with, without;
  for (const Measured& m : samples)
    if (const double rest = known.rest_of(m.recorded); !std::isnan(rest)) with.push_back(rest);
  if (with.size() < kFewest) return {};
  for (const OfRank& rank : ranks)
    for (const Recorded& r : rank.some)
      if (const double rest = known.rest_of(r); !std::isnan(rest)) without.push_back(rest);
  const auto n = static_cast<double>(with.size()), of_others = static_cast<double>(without.size());
  const Mean twins = trimmed_mean(std::move(with)), others = trimmed_mean(std::move(without));
  return Longer{std::max(twins.value - others.value, 0.0),
                std::sqrt(std::max(twins.variance, others.variance) / n + others.variance / of_others)};
}

void LeftByTwins::learn(double log_time, const Longer& of_kind) {
  known_.learn(log_time, {of_kind.log, 1 / (square(kFromKindToKind) + square(of_kind.error))});
}

double LeftByTwins::at(double log_time, const std::optional<Longer>& of_kind) const {
  constexpr double kUsualError = 0.03, kLeastError = 0.001;
  const ByLength::Told others = known_.at(log_time, {0, 1 / square(kUsualError)});
  if (!of_kind) return others.value;
  const double own = 1 / square(std::max(of_kind->error, kLeastError));
  const double of_others = 1 / (1 / others.precision + square(kFromKindToKind));
  return (own * of_kind->log + of_others * others.value) / (own + of_others);
}

}  // namespace nplus1::hypothesis::clock
