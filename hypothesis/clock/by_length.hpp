// What kinds of stretches of a like length say of one: the nearer in length, and the better known, the more.
//
//   s(t) = (s_0 p_0 + sum_k g_k p_k d_k) / (p_0 + sum_k g_k p_k),   g_k = exp(-(log(t / t_k) / 1.4)^2 / 2)
//
// Pure. Sources: E. Nadaraya, "On estimating regression" (1964); G. Watson, "Smooth regression analysis" (1964).
#pragma once

#include <cmath>
#include <vector>

namespace nplus1::hypothesis::clock {

[[nodiscard]] inline double square(double x) {
  return x * x;
}

class ByLength {
 public:
  /// A value and its precision, 1 / variance.
  struct Told {
    double value = 0, precision = 0;
  };
  /// `log_time`: of a kind's stretches, logarithm.
  void learn(double log_time, const Told& of_kind) { known_.push_back({log_time, of_kind}); }
  /// `usual`: one kind more, which is as near as any.
  [[nodiscard]] Told at(double log_time, const Told& usual) const {
    constexpr double kNear = 1.4;  // a factor of four
    double precision = usual.precision, sum = usual.value * precision;
    for (const Known& known : known_) {
      const double weight = known.told.precision * std::exp(-square((known.log_time - log_time) / kNear) / 2);
      sum += weight * known.told.value;
      precision += weight;
    }
    return {sum / precision, precision};
  }

 private:
  struct Known {
    double log_time = 0;
    Told told;
  };
  std::vector<Known> known_;
};

}  // namespace nplus1::hypothesis::clock
