#include "hypothesis/clock/sharing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kUsual = Sharing::kOfOthers / 2, kUsualError = 0.14;  // of chains 0
constexpr double kBetweenKinds = 0.1;
constexpr double kMost = 0.6;  // more is the work's

double square(double x) {
  return x * x;
}

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

/// A few samples may be more alike than the kind's stretches are.
Difference difference(const OwnAndShared& of) {
  constexpr std::size_t kFew = 4;
  constexpr double kOwn = 0.03, kShared = 0.1;
  const Middle shared{of.shared, kShared};
  const Middle own{of.own, of.own.size() < kFew ? std::max(kOwn, shared.deviation - kShared) : kOwn};
  return {std::max(shared.median - own.median, 0.0), shared.error() + own.error()};
}

/// Of work that differs nobody knows whether it does because of the core.
bool tells(const OwnAndShared& of) {
  constexpr std::size_t kFewest = 3;
  constexpr double kSameWork = 0.4, kSameWorkShared = 0.6;  // a little more, since sharing makes some
  return !of.own.empty() && !of.shared.empty() && of.own.size() + of.shared.size() >= kFewest &&
         range(of.own) < kSameWork && range(of.shared) < kSameWorkShared;
}

}  // namespace

void Sharing::learn(const OwnAndShared& of_kind) {
  if (!tells(of_kind)) return;
  const auto [longer, error] = difference(of_kind);
  if (longer > kMost) return;
  known_.push_back({median(of_kind.shared), longer, 1 / (square(kBetweenKinds) + error)});
}

std::optional<double> Sharing::longer(const OwnAndShared& of_kind) const {
  constexpr double kNear = 1.4;   // a factor of four
  constexpr double kEnough = 90;  // precision: two kinds with some samples of either, or one with many
  const double like = median(of_kind.shared.empty() ? of_kind.own : of_kind.shared);
  double precision = 0, sum = 0;
  for (const Known& known : known_) {
    const double weight = known.precision * std::exp(-square((known.log_shared - like) / kNear) / 2);
    sum += weight * known.longer;
    precision += weight;
  }
  const bool told_by_itself = tells(of_kind);
  if (!told_by_itself && precision < kEnough) return {};
  constexpr double kPrecision = 1 / (kUsualError * kUsualError);
  const double of_others = (sum + kUsual * kPrecision) / (precision + kPrecision);
  if (!told_by_itself) return of_others;
  auto [longer, error] = difference(of_kind);
  longer = std::min(longer, kMost);
  return of_others + (longer - of_others) * square(kBetweenKinds) / (square(kBetweenKinds) + error);
}

double Sharing::how_often() const {
  constexpr double kMostly = 0.5;
  return std::min(1.0, share_shared_ / kMostly);
}

double Sharing::part(double log_loads) {
  constexpr double kAll = 0.37, kMore = 2.2;
  return 1 + kMore * std::max(0.0, log_loads - kAll);
}

}  // namespace nplus1::hypothesis::clock
