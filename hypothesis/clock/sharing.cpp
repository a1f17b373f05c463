#include "hypothesis/clock/sharing.hpp"

#include <algorithm>
#include <cmath>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {

void Sharing::learn(const std::vector<double>& own, const std::vector<double>& shared) {
  // Of work that differs it is not known whether it does because of the core.
  constexpr double kSameWork = 0.1, kSameWorkShared = 0.3;
  const auto range = [](const std::vector<double>& of) { return quantile(of, 0.9) - quantile(of, kLow); };
  if (range(own) > kSameWork || range(shared) > kSameWorkShared) return;
  known_.push_back({median(shared), std::max(median(shared) - median(own), 0.0), static_cast<double>(shared.size())});
}

double Sharing::longer(double log_shared) const {
  constexpr double kUsual = 0.27, kNear = 1.4;  // the latter is a factor of four
  double sum = kUsual, weights = 1;
  for (const Known& known : known_) {
    const double off = (known.log_shared - log_shared) / kNear;
    const double weight = known.weight * std::exp(-off * off / 2);
    sum += weight * known.longer;
    weights += weight;
  }
  return sum / weights;
}

}  // namespace nplus1::hypothesis::clock
