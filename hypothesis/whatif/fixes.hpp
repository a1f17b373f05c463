// What a sweep has tried, by problem: several changes may mend the same one (computing balanced over the run or
// each time; messages of a line done by this collective or that). What to fix first is one entry a problem. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/units.hpp"

namespace nplus1::hypothesis {

/// One change that was tried, and what it came to.
struct Fix {
  std::string kind, what, flags;
  std::size_t trial = 0;  // which one: its place among all that were tried
  std::string subject;    // of a balance: which computing, empty: all; of algorithms: which collective
  std::vector<std::uint32_t> sites;  // call paths whose sends it changes
  bool bound = false;                // what something costs at most: no advice
  bool assumes = false;              // of a collective: nothing in the recording shows that it is one
  Duration makespan{};
  double saved_s = 0;
  std::optional<double>
      systematic_s{};  // of a balance: what it saves of what rank or step has every time; the rest of
                       // saved_s comes and goes. Nothing: it was not told apart
  std::optional<std::pair<double, double>>
      between_s;            // where the saving lies in nine cases of ten, if that is known
  bool finished = false;    // every rank reached its end
  std::size_t problem = 0;  // from 1, the most worthwhile first; 0: no advice
  bool leads = false;       // the change to show for its problem

  /// What it is ranked by: what comes and goes is no fault of the program's that it could mend.
  [[nodiscard]] double worth_s() const { return systematic_s.value_or(saved_s); }
};

/// How far a replay came: whether every rank reached its end, and how many calls returned.
struct Reached {
  bool finished = false;
  std::uint64_t calls_ended = 0;
};

/// Whether a changed run comes to where the run as it was came, so that their times can be compared. Of a `part` of a recording
/// no rank reaches its end; there nearly as many calls must return.
[[nodiscard]] bool comes_as_far(Reached changed, Reached run, bool part);

/// What a balance of some computing saves of what is systematic: `steady` is the run without what comes and goes,
/// `steady_balanced` that balanced. At least nothing, at most `saved_s`.
[[nodiscard]] double systematic_part(double saved_s, Duration steady, Duration steady_balanced);

/// Sets `problem` and `leads`, by worth_s(). Advice first, problem by problem: the change that leads, then what else mends the
/// same, what saves most first; at last bounds, and what does not end.
void sort_by_problem(std::vector<Fix>& fixes);

}  // namespace nplus1::hypothesis
