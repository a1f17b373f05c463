// What tells how much longer a kind's stretches take where somebody else has a part of the core (sharing.hpp): its samples, its stretches as
// recorded, and either against the other.
//
// Pure.
#pragma once

#include <vector>

#include "hypothesis/clock/low_times.hpp"
#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

/// What is known of the stretches of a kind on own and on shared cores. Times are natural logarithms.
struct OwnAndShared {
  std::vector<double> own, shared;  // what twins took
  // What was recorded, by the core where it ended; and of ranks that had either.
  std::vector<double> recorded_own, recorded_shared, of_either_own, of_either_shared;
  std::vector<double> all_own, all_shared;  // of the latter those that also began so
  struct Against {
    double longer = 0;  // a twin than its own stretch as recorded
    bool shared = false, recorded_shared = false;
  };
  std::vector<Against> against_recorded;
  double log_time = 0;  // about as long as they are
};

/// Of the samples and of what is kept of the ranks' stretches. `mean_ps`: of all.
[[nodiscard]] OwnAndShared own_and_shared(const std::vector<Measured>& samples,
                                          const std::vector<OfRank>& ranks, double mean_ps);

/// Those whose twins had their core for themselves.
[[nodiscard]] std::vector<Measured> on_own_cores(const std::vector<Measured>& samples);

/// Of each rank's stretches in this run those that ended on cores for themselves; empty where few did, or nothing says which of them did.
[[nodiscard]] std::vector<OfRank> on_own_cores(const std::vector<OfRank>& ranks);

/// What twins took.
[[nodiscard]] std::vector<double> logarithms(const std::vector<Measured>& samples);

}  // namespace nplus1::hypothesis::clock
