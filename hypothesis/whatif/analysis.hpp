// One side of a what-if: a replay with everything that is to be compared: times, wait states, critical path,
// efficiencies, timeline. In one pass over the recording, in memory bounded by what is unmatched. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "events/recording/reader.hpp"
#include "hypothesis/replay/replay.hpp"
#include "hypothesis/waitstates/results.hpp"
#include "report/json_object.hpp"
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

/// How far a replay can be believed. Its identity error means something where there is no hypothesis.
struct ReplayTrust {
  std::string model;  // of the network
  Duration identity_error{};
  double unmodelled_share = 0;
  std::uint64_t ranks = 0;
  std::uint64_t order_inversions = 0, forced_decisions = 0;
  std::uint64_t missing = 0;
  AdaptationCounts adaptation{};
  bool relies_on_buffering = false, finished = false;
  std::uint64_t calls_ended = 0;
  std::uint64_t rows = 0, left_out = 0;  // events and matches
  std::vector<RankId> blocked;
  static constexpr auto kMembers =
      std::tuple{&ReplayTrust::model,    &ReplayTrust::identity_error,   &ReplayTrust::unmodelled_share,
                 &ReplayTrust::ranks,    &ReplayTrust::order_inversions, &ReplayTrust::forced_decisions,
                 &ReplayTrust::missing,  &ReplayTrust::adaptation,       &ReplayTrust::relies_on_buffering,
                 &ReplayTrust::finished, &ReplayTrust::calls_ended,      &ReplayTrust::rows,
                 &ReplayTrust::left_out, &ReplayTrust::blocked};
};
[[nodiscard]] ReplayTrust replay_trust(const Analysis& analysis);

/// `trust` of docs/formats/whatif.md.
[[nodiscard]] std::string trust_json(const ReplayTrust& replay, const RunTrust& run,
                                     std::optional<double> reenactment_deviation);

/// The same where nothing was replayed: what numbers that were taken from a recording as it is rely on.
[[nodiscard]] std::string trust_json(const WaitStateResults& states, const RunTrust& run);

/// waitstates.json of the analysis, with `wait_states` in total; `trust` is for the caller to add.
[[nodiscard]] report::JsonObject side_object(const Analysis& analysis);

}  // namespace nplus1::hypothesis
