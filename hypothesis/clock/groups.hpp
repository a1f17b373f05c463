// Amounts of work that a rank's stretches of a kind were recorded with: groups of times that lie apart, and that sharing a core has not
// made. What something makes of a stretch, be it the host or a twin, is told against others of its group.
//
// Pure.
#pragma once

#include <vector>

#include "hypothesis/clock/low_times.hpp"
#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

class Groups {
 public:
  /// Of ranks with four stretches and more. Two groups lie apart by a tenth (logarithm) at least, in which no time lies, have four members
  /// each, and had as much of their core for themselves where they ended; of stretches too short for such a reading, a third
  /// of the longer group had.
  explicit Groups(const std::vector<OfRank>& ranks);

  /// How much longer than the median of its rank's group, logarithm; not a number: of the rank nothing is known.
  [[nodiscard]] double longer(const Recorded& recorded) const;
  /// Three ranks of four have several that lie apart by 0.1 ms at least, with a seventh of the rank's stretches on either side. No host makes
  /// that of work that is all the same.
  [[nodiscard]] bool are_several() const;

 private:
  struct Group {
    double end = 0, median = 0;  // logarithms; the former half-way to the next one
  };
  struct Rank {
    std::vector<Group> groups;
    bool far_apart = false;
  };
  std::vector<Rank> ranks_;
};

}  // namespace nplus1::hypothesis::clock
