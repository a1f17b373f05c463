// What a sweep has tried, by problem: several changes may mend the same one (computing balanced over the run or
// each time; messages of a line done by this collective or that). What to fix first is one entry a problem. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/units.hpp"

namespace nplus1::hypothesis {

/// One change that was tried, and what it came to.
struct Fix {
  std::string kind, what, flags;
  std::string subject;               // of a balance: which computing; empty: all
  std::vector<std::uint32_t> sites;  // call paths whose sends it changes
  bool bound = false;                // what something costs at most: no advice
  Duration makespan{};
  double saved_s = 0;
  bool finished = false;    // every rank reached its end
  std::size_t problem = 0;  // from 1, the most worthwhile first; 0: no advice
  bool leads = false;       // the change to show for its problem
};

/// Sets `problem` and `leads`. Advice first, problem by problem: the change that leads, then what else mends the
/// same, what saves most first; at last bounds, and what does not end.
void sort_by_problem(std::vector<Fix>& fixes);

}  // namespace nplus1::hypothesis
