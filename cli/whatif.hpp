// What `nplus1 whatif` was asked for, shared by its two ways: one hypothesis, or a sweep over many.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/by_hand.hpp"
#include "cli/replay.hpp"
#include "cli/trust.hpp"
#include "hypothesis/analysis.hpp"
#include "hypothesis/clock/stretches.hpp"
#include "hypothesis/fixes.hpp"
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
  std::vector<std::string> overlap;   // ID or ID:VARIANT, of nplus1 overlap's chains
  std::vector<std::size_t> findings;  // places in the list of nplus1 collectives, from 1
  std::vector<std::string> fail_if;
  std::optional<double> reenactment_deviation;
  bool deterministic = false;
  bool sweep = false;
  std::optional<std::chrono::steady_clock::time_point> until;  // no change of a sweep is begun later
};

struct OverlapSource;

/// One replay with its transformations: everything a child process needs.
struct WhatIfCase {
  ReplayWords replay;
  std::vector<hypothesis::transform::Step> steps;
  ByHand by_hand;                    // to be done by the library, after the steps
  std::vector<std::string> overlap;  // chains made non-blocking, last of all: ID or ID:VARIANT
  std::shared_ptr<const OverlapSource> overlap_source;  // null: the recording is surveyed for it
  bool deterministic = false;
  std::shared_ptr<hypothesis::clock::Stretches>
      clock;                    // what twins say of the recording's stretches; null: as recorded
  std::uint32_t replicate = 0;  // and with which samples
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
[[nodiscard]] Result<hypothesis::ReplayResult> replay_case(const WhatIfCase& c,
                                                           hypothesis::transform::Chain& chain);

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
  std::optional<WhatIfCase> best;  // the first advice, if it saves anything
  /// What uneven computing costs that no rank and no step has every time: noise of the host or of the program.
  /// Nothing: it was not told apart.
  std::optional<double> random_s;
  bool warm = false;                  // told with warm caches
  std::optional<double> order_turns;  // share of the replicates in which the second saves more than the first

  [[nodiscard]] double virtual_time_s() const { return *before.metric("virtual_time_s"); }
  /// A saving as a share of the run; 0 for a run that takes no time.
  [[nodiscard]] double share(double saved_s) const {
    return virtual_time_s() > 0 ? saved_s / virtual_time_s() : 0;
  }
};

/// Tries what there is to try, each alone; of every kind the most promising first. Throws Failure.
[[nodiscard]] Fixes find_fixes(const WhatIfWords& words);

/// Of a fix whose interval is known: where its saving lies, as a share of the run.
[[nodiscard]] std::string saving_between(const Fixes& fixes, const hypothesis::Fix& fix);
/// A line where the first fix could be another; else empty.
[[nodiscard]] std::string order_text(const Fixes& fixes);

/// `nplus1 whatif --sweep`. The exit code. Throws Failure.
[[nodiscard]] int sweep_hypotheses(const WhatIfWords& words);

/// Writes `json` where it was asked for: as `file` into the new folder of -o, with a report that has `documents`, and
/// to the file of --json. Throws Failure.
void write_results(const ReplayWords& words, const char* file, const std::string& json,
                   report::html::Documents documents);

/// --jobs, --json, --quiet and, where results go into a folder as `file`, -o.
void declare_results(CLI::App& verb, ReplayWords& words, const char* file);

[[nodiscard]] std::size_t jobs_of(const ReplayWords& words);

}  // namespace nplus1::cli
