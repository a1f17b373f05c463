#include "hypothesis/clock/disturbance.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::hypothesis::clock {

std::size_t Disturbance::cell(double log_longer) {
  const double cell = (log_longer - kFrom) / kStep;
  return static_cast<std::size_t>(std::clamp(cell, 0.0, static_cast<double>(kCells - 1)));
}

Disturbance::Disturbance(const std::vector<Measured>& samples) : density_(kCells) {
  constexpr double kAnything = 0.05, kWidth = 0.02;  // of a twentieth of the stretches nothing is known
  const auto each = (1 - kAnything) / static_cast<double>(samples.size());
  for (const Measured& m : samples) {
    const double longer = static_cast<double>(m.recorded.log_time) - m.log_warm;
    const auto centre = static_cast<std::ptrdiff_t>(cell(longer));
    const double width = kWidth + 0.1 * std::max(0.0, longer);
    const auto reach = static_cast<std::ptrdiff_t>(3 * width / kStep);
    for (std::ptrdiff_t c = std::max<std::ptrdiff_t>(0, centre - reach);
         c <= std::min<std::ptrdiff_t>(kCells - 1, centre + reach); ++c) {
      const double off = static_cast<double>(c - centre) * kStep / width;
      density_[static_cast<std::size_t>(c)] += each * std::exp(-off * off / 2) / (2.5066 * width);
    }
  }
  // Longer without limit, the rarer the more; shorter than its twin by no more than clocks are wrong.
  for (std::size_t c = cell(-0.05); c < kCells; ++c)
    density_[c] += kAnything * std::exp(-static_cast<double>(c) * kStep);
  for (double& density : density_) density = std::max(density, 1e-9);
}

}  // namespace nplus1::hypothesis::clock
