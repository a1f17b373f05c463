// Which ranks, and which steps, took longer in all their stretches of one kind, as recorded: for kinds of which twins have
// measured too few stretches to tell amounts of work apart.
//
//   log t(rank, step) = m + a(rank) + b(step) + noise
//
// Noise only adds, so a and b are differences of lower quartiles; they count where they scatter more than twice as much as
// the noise lets quartiles scatter, and span a tenth. On two or three ranks a step has no quartiles: then its least counts, the
// range of each says what noise does, and steps have to scatter 1 + 4 / sqrt(steps) times as much. They carry what a host adds to some ranks more than to others, too:
// who has enough samples asks those. Differences between ranks that something else is to bear out need to span a fortieth only, and to
// scatter by 2.4 / sqrt(ranks) more than noise does (3.4 standard deviations of the scatter of so many normal values).
//
// Pure; one thread. Source: the two-way table with robust fits, J. Tukey, "Exploratory Data Analysis" (1977).
#pragma once

#include <cstdint>
#include <vector>

#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

/// The stretches, and those that twins have measured: of two ranks, a step that lacks one is not told apart.
[[nodiscard]] std::vector<Recorded> with_those_of(const std::vector<Measured>& measured,
                                                  std::vector<Recorded> stretches);

class Differences {
 public:
  enum class Between : std::uint8_t { kRanksAndSteps, kRanksToBeBorneOut };
  Differences() = default;
  /// `host_adds`: to nine stretches of ten at most, logarithm. A host that others use for a while makes steps differ by so much.
  explicit Differences(const std::vector<Recorded>& stretches, Between between = Between::kRanksAndSteps,
                       double host_adds = 0);

  [[nodiscard]] bool by_rank() const { return !rank_.empty(); }
  [[nodiscard]] bool by_step() const { return !step_.empty(); }
  /// Logarithms; the median rank and the median step have 0.
  [[nodiscard]] double of_rank(std::uint32_t rank) const { return at(rank_, rank); }
  [[nodiscard]] double of_step(std::uint32_t step) const { return at(step_, step); }
  [[nodiscard]] double of(const Recorded& stretch) const {
    return of_rank(stretch.rank) + of_step(stretch.step);
  }

 private:
  static double at(const std::vector<double>& of, std::uint32_t place) {
    return place < of.size() ? of[place] : 0;
  }
  std::vector<double> rank_, step_;  // empty: none that counts
};

}  // namespace nplus1::hypothesis::clock
