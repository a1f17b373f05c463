// Keeps mpiruns within a budget: each gets its share of the seconds that are left, and fewer repetitions if
// the one before took longer than its share. Pure; one thread.
#pragma once

#include <cstddef>

namespace nplus1::guidelines {

class Pacing {
 public:
  /// `budget` seconds for `mpiruns`.
  Pacing(double budget, int mpiruns) : left_{budget}, mpiruns_{mpiruns} {}

  /// Seconds of the next mpirun; 0 once the budget is spent.
  [[nodiscard]] double share() const;

  /// The next mpirun took so long. One that measured only a part of its cells (it was interrupted before)
  /// says which.
  void took(double seconds, double part = 1);

  /// How many of `wanted` repetitions the pace allows; never less than `least`, if as many were wanted.
  [[nodiscard]] int repetitions(int wanted, int least) const;

 private:
  double left_;
  int mpiruns_;
  double scale_ = 1;
};

}  // namespace nplus1::guidelines
