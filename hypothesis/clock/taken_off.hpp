// What is taken off a kind's recorded stretches before they tell of its work: what twins have left behind in those that had one, and what
// a stranger made of those of ranks whose core he kept. An estimate that is made again begins with what was recorded: so it is put
// back, to the last bit.
//
// Pure.
#pragma once

#include <vector>

#include "hypothesis/clock/left_by_twins.hpp"
#include "hypothesis/clock/low_times.hpp"
#include "hypothesis/clock/measured.hpp"
#include "hypothesis/clock/own_and_shared.hpp"

namespace nplus1::hypothesis::clock {

class TakenOff {
 public:
  /// Of the stretches of `measured`, as far as that leaves nine of ten as long as their twins. `log_time`: about as long as they are.
  void take_left_by_twins(const LeftByTwins& left, double log_time, std::vector<Measured>& measured,
                          const std::vector<OfRank>& ranks);
  /// A rank whose core was shared nearly all the time, as where ranks are bound to cores, would else seem to have more work than others. Of
  /// the others the shorter ones, which tell of a rank, had their core for themselves. Not on a host that is never alone: there all
  /// are as long as that makes them. `log_shared`: how much longer sharing makes them, logarithm.
  static void take_sharing(const OwnAndShared& both, double log_shared, std::vector<Measured>& measured,
                           std::vector<OfRank>& ranks);
  /// All of it.
  void put_back(std::vector<Measured>& measured, std::vector<OfRank>& ranks);

  [[nodiscard]] double log_left_by_twins() const { return log_left_; }

 private:
  float log_left_ = 0;
};

}  // namespace nplus1::hypothesis::clock
