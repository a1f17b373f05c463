// What `nplus1 whatif` was asked for, shared by its two ways: one hypothesis, or a sweep over many.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/by_hand.hpp"
#include "cli/replay.hpp"
#include "cli/trust.hpp"
#include "hypothesis/analysis.hpp"
#include "hypothesis/side.hpp"
#include "hypothesis/transform/chain.hpp"
#include "hypothesis/transform/step.hpp"
#include "report/html/html_report.hpp"

namespace nplus1::cli {

inline constexpr const char* kWhatIfFile = "whatif.json";
inline constexpr const char* kWhatIfSchema = "nplus1-whatif/1";

struct WhatIfWords {
  ReplayWords replay;  // source, network, collectives, transformations, jobs, output, json
  std::string eager;
  std::vector<std::size_t> findings;  // places in the list of nplus1 collectives, from 1
  std::vector<std::string> fail_if;
  std::optional<double> reenactment_deviation;
  bool deterministic = false;
  bool sweep = false;
};

/// One replay with its transformations: everything a child process needs.
struct WhatIfCase {
  ReplayWords replay;
  std::vector<hypothesis::transform::Step> steps;
  ByHand by_hand;  // to be done by the library, after the steps
  bool deterministic = false;
};

/// Plays the recording at `source`; opens it anew each time.
[[nodiscard]] hypothesis::transform::Play play_recording(const std::string& source);

/// The case's transformations, surveyed. Errors as of Chain::build() and add().
[[nodiscard]] Result<hypothesis::transform::Chain> build_chain(const WhatIfCase& c);

/// The case on its network. Runs in a child process; errors are those of the recording, the hypothesis, the
/// network. `chain`: from build_chain().
[[nodiscard]] Result<hypothesis::Analysis> analyse_case(const WhatIfCase& c,
                                                        hypothesis::transform::Chain& chain, bool timeline);
/// The same, but for the times alone.
[[nodiscard]] Result<hypothesis::ReplayResult> replay_case(const WhatIfCase& c);

/// One change that was tried.
struct Fix {
  std::string kind, what, flags;
  Duration makespan{};
  double saved_s = 0;
  bool finished = false;  // every rank reached its end
};

struct Fixes {
  std::string json;  // nplus1-whatif-sweep/1
  hypothesis::Side before;
  std::vector<Fix> all;  // what saves most comes first

  [[nodiscard]] double virtual_time_s() const { return *before.metric("virtual_time_s"); }
};

/// Tries what there is to try, each alone. Throws Failure.
[[nodiscard]] Fixes find_fixes(const WhatIfWords& words);

/// `nplus1 whatif --sweep`. The exit code. Throws Failure.
[[nodiscard]] int sweep_hypotheses(const WhatIfWords& words);

/// Writes `json` where it was asked for: into the new folder of -o, with a report that has `documents`, and
/// to the file of --json. Throws Failure.
void write_results(const WhatIfWords& words, const std::string& json, report::html::Documents documents);

[[nodiscard]] std::size_t jobs_of(const ReplayWords& words);

}  // namespace nplus1::cli
