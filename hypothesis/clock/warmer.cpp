#include "hypothesis/clock/warmer.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::hypothesis::clock {

void Warmer::learn(double log_low, double log_warm) {
  known_.push_back({log_low, std::min(log_warm - log_low, 0.0)});
}

Warmer::Shorter Warmer::at(double log_low, const Replicate& replicate, std::uint64_t chance_of) const {
  constexpr double kNear = 0.7;  // a factor of two
  std::uint64_t random = replicate.random(chance_of);
  double sum = 0, weights = 0.5;
  Shorter found;
  for (const Known& known : known_) {
    const double off = (known.log_low - log_low) / kNear;
    double weight = std::exp(-off * off / 2);
    if (std::abs(off) < 2) found.most = std::min(found.most, known.shorter);
    random = mixed(random);
    if (!replicate.is_estimate()) weight *= -std::log(std::max(fraction(random), 1e-9));
    sum += weight * known.shorter;
    weights += weight;
  }
  found.mean = sum / weights;
  return found;
}

}  // namespace nplus1::hypothesis::clock
