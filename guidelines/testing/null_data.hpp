// Data without any violation, made of real measurements: what stands for a mock-up is drawn from its
// original's own repetitions. How often the analysis finds something there is how often it is wrong on that
// machine, with its drifts, spikes and levels of noise. For bench/guidelines_study and tests. Pure, given the
// seed.
#pragma once

#include <cstdint>
#include <vector>

#include "guidelines/catalogue.hpp"
#include "guidelines/raw_data.hpp"

namespace nplus1::guidelines {

enum class NullScheme {
  kAsMeasured,  // the original against its second measurement; a coin for each test and size says which is
                // which
  kRelabelled,  // the same, with a coin for each mpirun as well: all that is not by chance is gone
  kSplit,       // its own repetitions, dealt at random into two halves in each mpirun
  kFirstHalf,   // its first against its last repetitions: differs from the null hypothesis where times drift
};

struct NullData {
  Catalogue catalogue;  // a guideline for each one that the measured originals have mock-ups for
  std::vector<Measurement> measurements;
};

/// For each pattern guideline whose original was measured (twice, for the first two schemes) one that says
/// that the original is not slower than itself, with data drawn for it alone.
[[nodiscard]] NullData null_data(const std::vector<Measurement>& real, const Catalogue& catalogue,
                                 NullScheme scheme, std::uint64_t seed);

}  // namespace nplus1::guidelines
