// What to fix first: everything there is to try on a recording, each change alone, replayed in child processes and ranked by
// what it would save. The library behind `nplus1 whatif --sweep` and the end of `nplus1 run`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/case.hpp"
#include "analyses/replay.hpp"
#include "hypothesis/whatif/fixes.hpp"
#include "hypothesis/whatif/side.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

struct FixOptions {
  ReplaySettings replay;       // source, most_rows, jobs: the recorded network is what is improved
  bool deterministic = false;  // who is first stays as recorded
  std::optional<double> reenactment_deviation{};
  std::optional<std::chrono::steady_clock::time_point> until{};  // no change is begun later
};

/// A change that came to nothing, and why.
struct NotTried {
  std::string kind, what, flags, reason;
  bool failed = false;  // the replay did; else it is about nothing in the recording, or cannot be done to it,
  bool late = false;    // or its turn had not come when the time was up
};

struct Fixes {
  std::string json;  // nplus1-whatif-sweep/1
  hypothesis::Side before;
  std::vector<hypothesis::Fix> all;  // as sort_by_problem() leaves them
  std::vector<NotTried> not_tried;
  std::vector<std::string> notes;  // what could not be looked for
  std::optional<Case> best;        // the first advice, if it saves anything
  /// What uneven computing costs that no rank and no step has every time: noise of the host or of the program.
  /// Nothing: it was not told apart.
  std::optional<double> random_s;
  bool warm = false;                     // told with warm caches
  std::uint64_t rows = 0, left_out = 0;  // events and matches that were looked at, and that were not
  /// What hiding communication behind computing could save at most, as a share of the run, where the recording has no
  /// accesses to memory, so that no such change was looked for; 0 where it was, or nothing is known.
  double not_looked_at = 0;
  std::optional<double> order_turns;  // share of the replicates in which the second saves more than the first

  [[nodiscard]] double virtual_time_s() const { return *before.metric("virtual_time_s"); }
  /// A saving as a share of the run; 0 for a run that takes no time.
  [[nodiscard]] double share(double saved_s) const {
    return virtual_time_s() > 0 ? saved_s / virtual_time_s() : 0;
  }
};

/// Face. Of every kind the most promising first.
[[nodiscard]] Result<Fixes> find_fixes(const FixOptions& options, const Progress& progress = {});

/// Face. The run with the change that saves most, or as it was if none saves anything: for conditions that speak of the
/// side after.
[[nodiscard]] Result<hypothesis::Side> after_the_best(const FixOptions& options, const Fixes& fixes);

}  // namespace nplus1::analyses
