// Models of how a number grows with the problem size n and the number of ranks p: the performance model normal form,
//
//   f(n, p) = c1 t1(n, p) + c2 t2(n, p),  t = n^i log2(n)^j p^k log2(p)^l,  c >= 0, the second term only if it pays.
//
// Source: A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, "Using Automated Performance Modeling to Find Scalability Bugs in
// Complex Codes", SC 2013, section 3; here with at most two terms, of which one may be the constant, relative weights,
// and leave-one-out errors. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

namespace nplus1::overlap {

/// A measured point. Parameters are positive.
struct Point {
  double n = 1, p = 1;
  double value = 0;
};

struct Term {
  double n_power = 0, p_power = 0;
  int n_log = 0, p_log = 0;
  [[nodiscard]] double at(double n, double p) const;
  /// "n^2 / p", "log p"; "1" for the constant.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool constant() const { return n_power == 0 && p_power == 0 && n_log == 0 && p_log == 0; }
};

struct Model {
  std::vector<Term> terms;  // none: zero
  std::vector<double> factors;
  double error = 0;  // symmetric mean absolute percentage error of leaving one out, as a share
  [[nodiscard]] double at(double n, double p) const;
  /// "2.0e-06 + 3.0e-09 n^2".
  [[nodiscard]] std::string text() const;
};

struct Fit {
  Model best;
  std::vector<Model> others;                  // the runners-up, best first
  bool few_sizes = false, few_ranks = false;  // less than kFewestValues of a parameter that changes
  bool knee = false;  // the largest sizes are not as the smaller ones let one expect: a cache may be full

  /// Least and most that the best model and those runners-up say that fit nearly as well.
  struct Spread {
    double least, most;
  };
  [[nodiscard]] Spread spread(double n, double p) const;
};

inline constexpr std::size_t kFewestValues = 5;

/// Needs at least two points.
[[nodiscard]] Fit fit(const std::vector<Point>& points);

}  // namespace nplus1::overlap
