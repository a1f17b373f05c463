// How much longer stretches are recorded because a twin has measured them just before: it, and the ranks that stood aside for it, leave
// cold caches behind, and on a crowded host all of these wake up meanwhile (30 to 70 us of stretches of 20 us to 3 ms on 16 ranks of two
// cores, 200 on 64). Or shorter, where what it leaves is warm. What the host adds to the others is told without that.
//
// It is told by kinds of stretches of a like length (by_length.hpp) that were recorded as d_k longer, +- e_k, where they had a twin, with
// p_k = 1 / (0.05^2 + e_k^2), and one kind more that says 0 +- 0.03; and by the kind itself, by its error.
//
// Pure.
#pragma once

#include <optional>
#include <vector>

#include "hypothesis/clock/by_length.hpp"
#include "hypothesis/clock/low_times.hpp"
#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

class LeftByTwins {
 public:
  /// Logarithms: how much longer, and the standard error of that.
  struct Longer {
    double log = 0, error = 0;
  };
  /// Of a kind's stretches those that had twins against the others, each less what its rank and its step have. None of fewer than four.
  [[nodiscard]] static std::optional<Longer> of(const std::vector<Measured>& samples,
                                                const std::vector<OfRank>& ranks);

  /// `log_time`: of the kind's stretches, logarithm.
  void learn(double log_time, const Longer& of_kind);
  /// Of a kind of that length, `of_kind` being what it says itself.
  [[nodiscard]] double at(double log_time, const std::optional<Longer>& of_kind) const;

 private:
  ByLength known_;
};

}  // namespace nplus1::hypothesis::clock
