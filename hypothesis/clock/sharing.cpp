#include "hypothesis/clock/sharing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kUsual = Sharing::kOfOthers / 2, kUsualError = 0.14;  // of chains 0
constexpr double kOfScattering = 0.22, kErrorOfScattering = 0.12;      // the same without chains
constexpr double kBetweenKinds = 0.1;
constexpr double kMost = 1.1;  // more is the work's

/// From the 10 % to the 90 % quantile.
double range(const std::vector<double>& samples) {
  return quantile(samples, 0.9) - quantile(samples, kLow);
}

/// Of a kind's samples: the median, and how much each differs.
struct Middle {
  double median = 0, deviation = 0;
  std::size_t of = 0;

  Middle(const std::vector<double>& samples, double least_deviation)
      : median{quantile(samples, 0.5)},
        deviation{std::max(range(samples) / kRangeOfNormal, least_deviation)},
        of{samples.size()} {}
  /// Of the median, squared.
  [[nodiscard]] double error() const { return kOfMedian * square(deviation) / static_cast<double>(of); }

 private:
  static constexpr double kRangeOfNormal = 2.56;  // deviations
  static constexpr double kOfMedian = 1.57;       // against a mean
};

struct Difference {
  double longer = 0, error = 0;  // the latter squared
};

/// Of work that differs nobody knows whether it does because of the core. A few samples may be more alike than the kind's stretches are.
std::optional<Difference> by_twins(const OwnAndShared& of) {
  constexpr std::size_t kFewest = 3, kFew = 4;
  constexpr double kSameWork = 0.4, kSameWorkShared = 0.6;  // a little more, since sharing makes some
  constexpr double kOwn = 0.03, kShared = 0.1;
  constexpr double kRatherLow = 0.35;  // half of them may be longer because their work is
  if (of.own.empty() || of.shared.empty() || of.own.size() + of.shared.size() < kFewest ||
      range(of.own) >= kSameWork || range(of.shared) >= kSameWorkShared)
    return {};
  const Middle shared{of.shared, kShared};
  const Middle own{of.own, of.own.size() < kFew ? std::max(kOwn, shared.deviation - kShared) : kOwn};
  return Difference{quantile(of.shared, kRatherLow) - own.median, shared.error() + own.error()};
}

constexpr double kPartOfRecorded = Sharing::kPartOfRecorded, kErrorOfPart = 0.35;

std::optional<Difference> by_recorded(const OwnAndShared& of) {
  constexpr std::size_t kFewest = 4;
  constexpr double kLeastDeviation = 0.02, kErrorOfAll = 0.15;
  if (of.all_own.size() >= kFewest && of.all_shared.size() >= kFewest) {
    const Middle shared{of.all_shared, kLeastDeviation}, own{of.all_own, kLeastDeviation};
    const double longer = shared.median - own.median;
    return Difference{longer, shared.error() + own.error() + square(kErrorOfAll * longer)};
  }
  if (of.of_either_own.size() < kFewest || of.of_either_shared.size() < kFewest) return {};
  const Middle shared{of.of_either_shared, kLeastDeviation}, own{of.of_either_own, kLeastDeviation};
  const double longer = (shared.median - own.median) / kPartOfRecorded;
  return Difference{longer,
                    (shared.error() + own.error()) / square(kPartOfRecorded) + square(kErrorOfPart * longer)};
}

/// However long each is as its data says: a line through how much longer twins took than their stretches, over how much more they shared.
std::optional<Difference> by_their_stretches(const OwnAndShared& of) {
  constexpr std::size_t kFewest = 4;
  constexpr double kLeastDeviation = 0.03;
  const auto& all = of.against_recorded;
  if (all.size() < kFewest) return {};
  const auto n = static_cast<double>(all.size());
  const auto more = [](const OwnAndShared::Against& a) {
    return (a.shared ? 1 : 0) - (a.recorded_shared ? kPartOfRecorded : 0);
  };
  double mean_more = 0, mean_longer = 0;
  for (const auto& a : all) {
    mean_more += more(a) / n;
    mean_longer += a.longer / n;
  }
  double both = 0, squares = 0, rest = 0;
  for (const auto& a : all) {
    both += (more(a) - mean_more) * (a.longer - mean_longer);
    squares += square(more(a) - mean_more);
  }
  if (squares == 0) return {};
  const double slope = both / squares;
  for (const auto& a : all) rest += square(a.longer - mean_longer - slope * (more(a) - mean_more));
  return Difference{slope, std::max(rest / (n - 2), square(kLeastDeviation)) / squares};
}

double range_of_middle_half(const std::vector<double>& values) {
  return quantile(values, 0.75) - quantile(values, 0.25);
}

/// Against the least of their amounts of work: where others lie a tenth longer, and nothing between, another begins. Those that are the only
/// ones of theirs are left out.
std::vector<double> of_their_work(std::vector<double> samples) {
  constexpr double kApart = 0.1;
  std::sort(samples.begin(), samples.end());
  std::vector<double> longer;
  for (std::size_t i = 0, first = 0; i < samples.size(); ++i) {
    if (i > first && samples[i] - samples[i - 1] > kApart) first = i;
    const bool last = i + 1 == samples.size() || samples[i + 1] - samples[i] > kApart;
    if (i > first || !last) longer.push_back(samples[i] - samples[first]);
  }
  return longer;
}

/// Whoever has a part of the core, and however much of it, makes work that does not wait for itself as much longer as that. Of 270 kinds of
/// others' programs one in 25 had twins that were so much alike, and of 83 none had recorded stretches that were; of chains nearly all do.
std::optional<Difference> by_likeness(const OwnAndShared& of) {
  constexpr std::size_t kFewest = 4, kFewestRecorded = 32;
  constexpr double kWithin = 0.01, kWithinRecorded = 0.03;
  constexpr double kLonger = 0.03, kError = 0.07;
  constexpr double kLongerRecorded = 0.01, kErrorRecorded = 0.04;
  if (of.recorded_shared.size() >= kFewestRecorded &&
      range_of_middle_half(of.recorded_shared) < kWithinRecorded)
    return Difference{kLongerRecorded, square(kErrorRecorded)};
  const std::vector<double> twins = of_their_work(of.shared);
  if (twins.size() >= kFewest && range_of_middle_half(twins) < kWithin)
    return Difference{kLonger, square(kError)};
  return {};
}

/// On cores that somebody always has a part of: that is no chain.
bool scatters(const OwnAndShared& of) {
  constexpr std::size_t kFewest = 32;
  constexpr double kScatters = 0.05;
  return of.recorded_shared.size() >= kFewest && range_of_middle_half(of.recorded_shared) > kScatters;
}

/// Recorded stretches only where twins don't tell: where ranks are bound to cores, those of some are shared all the time, and of others for
/// moments, which say that sharing makes nothing.
std::optional<Difference> difference(const OwnAndShared& of) {
  const std::optional<Difference> twins = by_twins(of);
  double sum = 0, precision = 0;
  for (const std::optional<Difference>& by : {twins ? twins : by_recorded(of), by_their_stretches(of)}) {
    if (!by) continue;
    sum += by->longer / by->error;
    precision += 1 / by->error;
  }
  if (precision == 0) return {};
  return Difference{std::max(sum / precision, 0.0), 1 / precision};
}

}  // namespace

void Sharing::learn(const OwnAndShared& of_kind) {
  const std::optional<Difference> told = difference(of_kind);
  if (!told || told->longer > kMost) return;
  known_.learn(of_kind.log_time, {told->longer, 1 / (square(kBetweenKinds) + told->error)});
}

Sharing::Longer Sharing::longer(const OwnAndShared& of_kind) const {
  const ByLength::Told usual = scatters(of_kind)
                                   ? ByLength::Told{kOfScattering, 1 / square(kErrorOfScattering)}
                                   : ByLength::Told{kUsual, 1 / square(kUsualError)};
  const ByLength::Told others = known_.at(of_kind.log_time, usual);
  const Longer of_others{others.value, 1 / std::sqrt(others.precision), kBetweenKinds};
  std::optional<Difference> told = difference(of_kind);
  if (!told) told = by_likeness(of_kind);
  if (!told) return of_others;
  const double of_what_is_not_known = square(of_others.common_error) + square(kBetweenKinds);
  const double by_itself = of_what_is_not_known / (of_what_is_not_known + told->error);
  return {of_others.log + (std::min(told->longer, kMost) - of_others.log) * by_itself,
          of_others.common_error * (1 - by_itself), std::sqrt(by_itself * told->error)};
}

double Sharing::part_of(double log_time) const {
  constexpr double kStaysPs = 2e9;
  return std::min(1.0, kStaysPs * std::exp(-log_time) + share_shared_);
}

double Sharing::in_shortest_recorded(double longer) const {
  constexpr double kMostly = 0.5;
  constexpr double kHardlyAlone = 0.7, kNeverAlone = 0.9;
  constexpr double kOfMemory = 0.5;  // CloverLeaf, LU: up to twice as long in all
  return longer * std::min(1.0, share_shared_ / kMostly) +
         kOfMemory * std::clamp((share_shared_ - kHardlyAlone) / (kNeverAlone - kHardlyAlone), 0.0, 1.0);
}

double Sharing::part(double log_loads) {
  constexpr double kAll = 0.37, kMore = 2.2;
  return 1 + kMore * std::max(0.0, log_loads - kAll);
}

}  // namespace nplus1::hypothesis::clock
