#include "hypothesis/clock/host_noise.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {

void HostNoise::learn(double log_recorded, double log_longer, double log_left) {
  known_.push_back({log_recorded, log_longer, log_left});
}

std::optional<HostNoise::Noise> HostNoise::at(double log_recorded) const {
  constexpr double kLike = 1.4;  // a factor of four
  constexpr std::size_t kFewest = 4;
  std::vector<double> longer, with_left;
  for (const Known& known : known_) {
    if (std::abs(known.log_recorded - log_recorded) >= kLike) continue;
    longer.push_back(known.longer);
    with_left.push_back(known.longer + known.left);
  }
  if (longer.size() < kFewest) return {};
  return Noise{std::max(quantile(std::move(longer), 0.5), 0.0),
               std::max(quantile(std::move(with_left), 0.9), 0.0)};
}

double HostNoise::most_of_any_host(double mean_ps) const {
  constexpr double kLongPs = 5e9, kRatherLongPs = 0.3e9;
  constexpr double kOfLong = 0.6, kOfRatherLong = 0.8;
  constexpr double kBySharing = 0.5,
                   kSharedOften = 0.3;  // MG, 0.4 ms: a factor of 2.8, where it was shared in 0.42 of cases
  if (mean_ps < kRatherLongPs) return INFINITY;
  if (mean_ps > kLongPs) return kOfLong;
  return kOfRatherLong + kBySharing * std::min(1.0, share_shared_ / kSharedOften);
}

}  // namespace nplus1::hypothesis::clock
