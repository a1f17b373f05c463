#include "hypothesis/clock/host_noise.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hypothesis/clock/measured.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {

void HostNoise::learn(double log_recorded, double log_longer, double log_left) {
  known_.push_back({log_recorded, log_longer, log_left});
}

void HostNoise::learn_shared(double log_recorded, double log_longer, double part) {
  shared_.push_back({log_recorded, log_longer, 0, part});
}

/// Nothing of too few.
std::vector<HostNoise::Known> HostNoise::like(const std::vector<Known>& known, double log_recorded) {
  constexpr double kLike = 1.4;  // a factor of four
  constexpr std::size_t kFewest = 4;
  std::vector<Known> some;
  for (const Known& each : known)
    if (std::abs(each.log_recorded - log_recorded) < kLike) some.push_back(each);
  if (some.size() < kFewest) some.clear();
  return some;
}

HostNoise::Noise HostNoise::noise_of(const std::vector<Known>& some) {
  std::vector<double> longer, with_left;
  for (const Known& known : some) {
    longer.push_back(known.longer);
    with_left.push_back(known.longer + known.left);
  }
  return {std::max(quantile(std::move(longer), 0.5), 0.0),
          std::max(quantile(std::move(with_left), 0.9), 0.0)};
}

std::optional<HostNoise::Noise> HostNoise::at(double log_recorded) const {
  const std::vector<Known> some = like(known_, log_recorded);
  return some.empty() ? std::nullopt : std::optional{noise_of(some)};
}

std::optional<HostNoise::OfShared> HostNoise::of_shared_at(double log_recorded) const {
  if (share_shared_ < kAlwaysShared) return {};
  const std::vector<Known> some = like(shared_, log_recorded);
  if (some.empty()) return {};
  std::vector<double> parts;
  for (const Known& known : some) parts.push_back(known.part);
  const Noise noise = noise_of(some);
  if (noise.most >= kLittle) return {};
  return OfShared{noise, quantile(parts, 0.9) - quantile(parts, 0.1)};
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
