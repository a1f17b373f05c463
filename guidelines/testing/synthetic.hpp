// Measurements made up with a known truth, to count how often the analysis finds what is there and what is
// not: for tests and bench/guidelines_study. Pure, given the seed.
#pragma once

#include <cstdint>
#include <random>

#include "guidelines/samples.hpp"

namespace nplus1::guidelines {

/// One measurement without any noise, in one mpirun.
[[nodiscard]] inline Sample exactly(double seconds) {
  return {{0}, {seconds}, {}, 1, 0};
}

/// Run-times are log-normal around their truth; each mpirun shifts all of a test's times at a size by a
/// factor of its own (between-mpirun spreads of 12 to 17 % were seen), and some repetitions are spikes.
struct Noise {
  double repetition_sigma = 0.10;
  double mpirun_sigma = 0.10;  // of each test and size in each mpirun
  double shared_sigma = 0.05;  // of everything in one mpirun
  double spike_share = 0.02;
  double spike_factor = 10;
};

struct Experiment {
  int runs = 10;
  int repetitions = 30;
  int processes = 8;
  Noise noise;
  /// By how much an original is slower than its mock-ups, which all take 10 us + 1 ns a byte: 1 is the null
  /// hypothesis (at its edge: both equally fast).
  double planted = 1;
  std::string planted_in;           // this original only
  std::uint64_t planted_above = 0;  // and only from this size on
};

/// All tests of the catalogue, and each original again.
[[nodiscard]] Data measured(const Catalogue& catalogue, const Experiment& experiment, std::uint64_t seed);

/// Medians of so many mpiruns, each a thousandth above the one before, the first being `seconds`.
[[nodiscard]] Sample steady_sample(double seconds, int runs = 10);

}  // namespace nplus1::guidelines
