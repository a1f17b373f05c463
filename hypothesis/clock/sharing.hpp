// How much longer twins took that shared their core with somebody than others of the same kind, by the kinds of a run that have
// both: for kinds that have none but the former.
//
//   s = (sum_k g_k n_k d_k + 0.27) / (sum_k g_k n_k + 1),   d_k = median of log w over the n_k shared samples of kind k - median of the others,
//   g_k = exp(-(log(w / w_k) / 1.4)^2 / 2)
//
// 0.27 is what it is where no kind tells. On two threads of a core the programs of other authors that were looked at took 1.13 to 1.45
// times as long, nearly the same whenever a kind was measured; a chain of operations each of which needs the one before takes as long
// as alone (docs/clock_model.md).
//
// Pure. Sources: E. Nadaraya, "On estimating regression" (1964); G. Watson, "Smooth regression analysis" (1964).
#pragma once

#include <vector>

namespace nplus1::hypothesis::clock {

class Sharing {
 public:
  /// Natural logarithms: of what twins of a kind took that had their core for themselves, and of what those took that shared it; at
  /// least one of each.
  void learn(const std::vector<double>& own, const std::vector<double>& shared);
  /// How much longer twins took that shared their core, of stretches of exp(`log_shared`) then; logarithm, 0 or more.
  [[nodiscard]] double longer(double log_shared) const;

 private:
  struct Known {
    double log_shared = 0, longer = 0, weight = 0;
  };
  std::vector<Known> known_;
};

}  // namespace nplus1::hypothesis::clock
