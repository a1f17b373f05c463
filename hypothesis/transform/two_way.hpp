// Which part of uneven computing is systematic: the analysis of variance of one kind of interval by rank (who does it)
// and by step (the how-manieth time), and the times that it would take if only that part were there.
//
// x(r,k) is what rank r takes the k-th time, m the mean of all, m(k) of step k, f(r) the mean of rank r divided by m. Two
// models, whichever leaves the smaller sum of squares (of batches, see below):
//
//   additive       x(r,k) = m(k) + m (f(r) - 1) + e(r,k)
//   proportional   x(r,k) = m(k) f(r) + e(r,k)
//
// What the ranks do not have every time is e. Whether f differs from 1 at all is asked by an F-test (Scheffe, The
// Analysis of Variance, chapter 4) of the means of batches of consecutive steps: a disturbance lasts, so neighbouring
// steps are not independent, but the means of long enough batches nearly are, and nearly normal (method of batch means;
// Law, Simulation Modeling and Analysis, section 9.5.3). Ranks that do not pass have no effect; else it is
// shrunk by 1 - 1/F, the share of the variance of the means that noise does not explain (James and Stein 1961).
// The sum over the ranks of a step stays what it was. Pure; any thread.
#pragma once

#include <cstddef>
#include <vector>

namespace nplus1::hypothesis::transform {

class TwoWay {
 public:
  /// The level of the F-test: so often are ranks that differ by chance taken to differ.
  static constexpr double kLevel = 0.01;
  /// At most so many batches of steps.
  static constexpr std::size_t kMostBatches = 10;

  /// `times[r][k]` >= 0: at least two ranks, each as often, at least twice; else std::invalid_argument.
  explicit TwoWay(const std::vector<std::vector<float>>& times);

  /// What rank r (place in `times`) takes the k-th time without what comes and goes; at least 0.
  [[nodiscard]] double steady(std::size_t r, std::size_t k) const;

  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] bool proportional() const { return proportional_; }
  /// Nothing comes and goes: rank and step tell every time but for rounding.
  [[nodiscard]] bool exact() const { return exact_; }
  /// The ranks differ (at kLevel).
  [[nodiscard]] bool ranks_differ() const { return kept_ > 0; }
  [[nodiscard]] double f() const { return f_; }  // infinite where nothing comes and goes
  [[nodiscard]] double p() const { return p_; }  // of an F at least as large by chance
  [[nodiscard]] std::size_t batches() const { return batches_; }
  /// Standard deviations, in the unit of the times.
  [[nodiscard]] double by_rank() const { return by_rank_; }
  [[nodiscard]] double by_step() const { return by_step_; }
  [[nodiscard]] double random() const { return random_; }

 private:
  void means_of(const std::vector<std::vector<float>>& times);
  void test(const std::vector<std::vector<float>>& times);

  std::vector<double> factor_, step_;  // f(r), m(k)
  double mean_ = 0, kept_ = 0, f_ = 0, p_ = 1, by_rank_ = 0, by_step_ = 0, random_ = 0;
  std::size_t batches_ = 0;
  bool proportional_ = false, exact_ = false;
};

}  // namespace nplus1::hypothesis::transform
