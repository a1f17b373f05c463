// One side of a what-if: a replay with everything that is to be compared: times, wait states, critical path,
// efficiencies, timeline. In one pass over the recording, in memory bounded by what is unmatched. One thread.
#pragma once

#include <optional>
#include <string>

#include "events/recording/reader.hpp"
#include "hypothesis/replay.hpp"
#include "hypothesis/wait_states_results.hpp"
#include "report/run_summary.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis {

struct AnalysisOptions {
  ReplayOptions replay;  // its sink is taken
  std::string application;
  std::string network;  // as it is to be called
  bool timeline = false;
};

struct Analysis {
  ReplayResult replay;
  WaitStateResults states;  // with efficiencies
  std::string timeline;     // timeline.json; empty if not wanted
};

/// Errors: those of replay().
[[nodiscard]] Result<Analysis> analyse(events::recording::Reader& reader, const AnalysisOptions& options);

/// What can be told of the run that was recorded and is not in the recording.
struct RunTrust {
  std::optional<report::Trust> run;             // summary.json's `trust`; empty: it is not there
  std::string compute;                          // --compute, where computing was given and not measured
  std::optional<double> reenactment_deviation;  // of the run itself; none: not performed again
};

/// How far an analysis can be believed, as JSON: `trust` of docs/formats/whatif.md. Its identity error is the
/// analysis' own, so it means something where there is no hypothesis.
[[nodiscard]] std::string trust_json(const Analysis& analysis, const RunTrust& run,
                                     std::optional<double> reenactment_deviation);

/// The same where nothing was replayed: what numbers that were taken from a recording as it is rely on.
[[nodiscard]] std::string trust_json(const WaitStateResults& states, const RunTrust& run);

/// waitstates.json of the analysis, with `wait_states` in total.
[[nodiscard]] std::string side_json(const Analysis& analysis);

/// The JSON object `text` with a member more at its end.
[[nodiscard]] std::string with_member(std::string text, const std::string& key, const std::string& value);

}  // namespace nplus1::hypothesis
