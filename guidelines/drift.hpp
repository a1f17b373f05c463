// Tests whose times change level while they are repeated: a library that changes its algorithm after k calls
// (MVAPICH2's Gather does after 14, Hunold et al. 2016, section 5.2), or a machine that changes speed. Pure;
// one thread.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "guidelines/raw_data.hpp"

namespace nplus1::guidelines {

struct Drift {
  std::string test;
  std::uint64_t size = 0;
  int after = 0;     // repetitions of the old level, median over the mpiruns that changed
  double ratio = 1;  // new level / old level, likewise
  std::size_t changed = 0, mpiruns = 0;
};

class DriftFinder {
 public:
  /// Repetitions of one test in the order in which they were measured.
  void add(const Measurement& measurement);

  /// Those that changed by more than a tenth, with p < 0.001 (Pettitt's test), in more than half of their
  /// mpiruns.
  [[nodiscard]] std::vector<Drift> found() const;

 private:
  std::map<std::pair<std::string, std::uint64_t>, std::map<int, std::vector<double>>> series_;
};

/// "test,msize,after,ratio,changed,mpiruns" and a line for each.
[[nodiscard]] std::string drift_csv(const std::vector<Drift>& drifts);

}  // namespace nplus1::guidelines
