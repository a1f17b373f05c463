// How much longer twins took that shared their core with somebody, logarithm, by the kinds of stretches of a run that tell.
//
// It is told by kinds of a like length (by_length.hpp), each with p_k = 1 / (0.1^2 + e_k^2), and one kind more whose d is 0.13 and
// p = 1 / 0.14^2: on two threads of a core the programs of other authors that
// were looked at took 1.13 to 1.45 times as long, nearly the same whenever a kind was measured; a chain of operations each of which
// needs the one before takes as long as alone (docs/clock_model.md). A kind's d_k and its error e_k are the mean, weighted by 1 / e^2, of what
// there is of three:
// - the 35 % quantile of log w of its samples on shared cores less the median of its others; not if either differ as work does;
// - the same of its stretches as recorded, by the core where they ended, over 0.62: whoever has it there had it for a part of them;
// - the slope of log w / recorded over (the twin's core was shared) - 0.62 (its stretch's was), in which however long the work is cancels.
// Where there is none, it is 0.03 +- 0.07 if the middle half of four samples and more on shared cores lies within 1 %, and tells no others.
//
// Pure.
#pragma once

#include "hypothesis/clock/by_length.hpp"
#include "hypothesis/clock/own_and_shared.hpp"

namespace nplus1::hypothesis::clock {

class Sharing {
 public:
  /// Of other authors' programs, half of them 0.18 to 0.31.
  static constexpr double kOfOthers = 0.27;
  /// Who shares the core where a recorded stretch ends did so for a part of it: 0.3 to 0.7 where twins told.
  static constexpr double kPartOfRecorded = 0.62;

  Sharing() = default;
  /// `share_shared`: of all times that a core was looked at, the share in which somebody else had a part of it.
  explicit Sharing(double share_shared) : share_shared_{share_shared} {}
  void learn(const OwnAndShared& of_kind);
  /// How much longer a kind's twins take that share their core: logarithm, 0 or more, and its errors (standard deviations), of which one
  /// is common to all kinds that others tell of.
  struct Longer {
    double log = 0, common_error = 0, own_error = 0;
  };
  /// By its own samples as far as these tell.
  [[nodiscard]] Longer longer(const OwnAndShared& of_kind) const;
  /// For how much of a stretch (of so many picoseconds; logarithm) somebody had a part of the core who has it at its end: mostly he has come
  /// within the last milliseconds.
  [[nodiscard]] double part_of(double log_time) const;
  /// What of `longer` even the shortest of recorded stretches may have; of a host that is hardly ever alone, with what strangers do to caches
  /// and memory, too. Logarithms.
  [[nodiscard]] double in_shortest_recorded(double longer) const;
  /// Times that, where loads were slowed so much (logarithm): up to 0.37 that says no more than that the core was shared; of more, each
  /// hundredth is 2.2 % more.
  [[nodiscard]] static double part(double log_loads);
  /// Whether somebody has a part of every core nearly always.
  [[nodiscard]] bool always() const { return share_shared_ >= kAlwaysShared; }

 private:
  ByLength known_;
  double share_shared_ = 0;
};

}  // namespace nplus1::hypothesis::clock
