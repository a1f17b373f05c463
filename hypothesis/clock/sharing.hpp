// How much longer twins took that shared their core with somebody than others of the same kind, by the kinds of a run that have
// both.
//
//   s(w) = sum_k g_k p_k d_k / sum_k g_k p_k,   d_k = median of log w of the shared samples of kind k - median of its others,
//   g_k = exp(-(log(w / w_k) / 1.4)^2 / 2),     p_k = 1 / (0.1^2 + error of d_k, squared)
//
// with one kind more that is as near as any, whose d is 0.13 and p = 1 / 0.14^2: on two threads of a core the programs of other authors that
// were looked at took 1.13 to 1.45 times as long, nearly the same whenever a kind was measured; a chain of operations each of which
// needs the one before takes as long as alone (docs/clock_model.md). Kinds whose samples differ by their work tell nothing.
//
// Pure. Sources: E. Nadaraya, "On estimating regression" (1964); G. Watson, "Smooth regression analysis" (1964).
#pragma once

#include <optional>
#include <vector>

namespace nplus1::hypothesis::clock {

/// Natural logarithms of what twins of a kind took that had their core for themselves, and of what those took that shared it.
struct OwnAndShared {
  std::vector<double> own, shared;
};

class Sharing {
 public:
  /// Of other authors' programs, half of them 0.18 to 0.31.
  static constexpr double kOfOthers = 0.27;

  Sharing() = default;
  /// `share_shared`: of all times that a core was looked at, the share in which somebody else had a part of it.
  explicit Sharing(double share_shared) : share_shared_{share_shared} {}
  void learn(const OwnAndShared& of_kind);
  /// How much longer a kind's twins take that share their core, of which there is at least one sample; logarithm, 0 or more. By its own
  /// samples as far as these tell. None where neither they nor those of others tell.
  [[nodiscard]] std::optional<double> longer(const OwnAndShared& of_kind) const;
  /// How much of that even the shortest of recorded stretches may have, in [0, 1].
  [[nodiscard]] double how_often() const;
  /// Times that, where loads were slowed so much (logarithm): up to 0.37 that says no more than that the core was shared; of more, each
  /// hundredth is 2.2 % more.
  [[nodiscard]] static double part(double log_loads);

 private:
  struct Known {
    double log_shared = 0, longer = 0, precision = 0;
  };
  std::vector<Known> known_;
  double share_shared_ = 0;
};

}  // namespace nplus1::hypothesis::clock
