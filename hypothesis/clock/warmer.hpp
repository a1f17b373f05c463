// How much shorter than recorded a stretch is when it is warm, by what measured kinds of a like length say: for kinds that no twin
// has measured.
//
//   log w = log q + sum_k g_k d_k / (sum_k g_k + 1/2),   d_k = min(0, median over samples w of k: log(w / q of w's rank)),
//   g_k = exp(-(log(q / q_k) / 0.7)^2 / 2)
//
// Pure. Sources: E. Nadaraya, "On estimating regression" (1964); G. Watson, "Smooth regression analysis" (1964); D. Rubin, "The
// Bayesian bootstrap" (1981).
#pragma once

#include <cstdint>
#include <vector>

#include "hypothesis/clock/chance.hpp"

namespace nplus1::hypothesis::clock {

class Warmer {
 public:
  /// Logarithms: of a measured kind's low quantile as recorded, and of its median sample.
  void learn(double log_low, double log_warm);

  struct Shorter {
    double mean = 0, most = 0;  // logarithms, none above 0
  };
  /// Of stretches as long as that: the nearer a measured kind the more it says, and with a little weight nothing does. In a
  /// replicate each has another weight (Bayesian bootstrap). `chance_of`: of the kind.
  [[nodiscard]] Shorter at(double log_low, const Replicate& replicate, std::uint64_t chance_of) const;

 private:
  struct Known {
    double log_low = 0, shorter = 0;
  };
  std::vector<Known> known_;
};

}  // namespace nplus1::hypothesis::clock
