// How much longer than its twin took a stretch was recorded: a density, from the samples.
//
// Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

class Disturbance {
 public:
  /// It is told in cells so wide (logarithm), from kFrom on.
  static constexpr double kFrom = -0.2, kStep = 0.01;
  static constexpr std::size_t kCells = 520;

  Disturbance() = default;
  /// Of one sample at least.
  explicit Disturbance(const std::vector<Measured>& samples);

  /// The density at that logarithm: nowhere 0.
  [[nodiscard]] double at(double log_longer) const { return density_[cell(log_longer)]; }

 private:
  static std::size_t cell(double log_longer);
  std::vector<double> density_;
};

}  // namespace nplus1::hypothesis::clock
