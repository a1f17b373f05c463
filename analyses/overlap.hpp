// Which communication of a recording could be hidden behind computing: the replays behind `nplus1 overlap`, and what
// find_fixes() and reports take from it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyses/replay.hpp"
#include "overlap/chains.hpp"
#include "overlap/phases.hpp"
#include "overlap/plan.hpp"
#include "overlap/results.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

/// What is looked at of a longer recording unless more is asked for: it bounds time and memory (docs/benchmarks.md).
inline constexpr std::uint64_t kOverlapRows = 4'000'000;

struct OverlapOptions {
  ReplaySettings replay{.most_rows = kOverlapRows};  // source, network, collectives, jobs
  double at_least = 0.05;                            // share of the run that a finding saves
  std::optional<std::size_t> most{};  // chains that are tried; nothing: 12, or as many as the length allows
  overlap::ProgressKind progress = overlap::ProgressKind::kAsynchronous;  // what the ranking goes by
  bool efficiency = false;  // how much is hidden already, and nothing that needs accesses
};

/// A recording surveyed and analysed.
struct OverlapSource {
  std::shared_ptr<const overlap::Survey> survey;
  std::shared_ptr<const overlap::Analysis> analysis;
  std::string coverage;                  // empty: complete
  std::uint64_t rows = 0, left_out = 0;  // events and matches
};

/// Whether the recording was made with --record-accesses.
[[nodiscard]] bool has_accesses(const events::recording::Reader& reader);

/// Without accesses nobody knows when a message is used: what is wrong then, and how to record them.
[[nodiscard]] std::optional<Error> lacks_accesses(const events::recording::Reader& reader,
                                                  const std::string& source);

/// Face. Reads the recording once, or its first `most_rows` events and matches.
[[nodiscard]] Result<OverlapSource> survey_overlap(const std::string& source, std::uint64_t most_rows = 0);

/// "ID" or "ID:VARIANT" (grouped, merged, per_request, one_wait), all of one variant. Errors list the chains.
[[nodiscard]] Result<overlap::Plan> plan_of_chains(const OverlapSource& source,
                                                   const std::vector<std::string>& names);

/// Face. Replays what there is to try, in child processes.
[[nodiscard]] Result<overlap::Results> find_overlap(const OverlapOptions& options,
                                                    const OverlapSource& source,
                                                    const Progress& progress = {});

/// Face. Seconds of virtual time of a recording put at other phases: as written, and with each of `chains` (places in the
/// analysis) grouped; in child processes.
[[nodiscard]] Result<std::vector<double>> replay_scaled(const OverlapOptions& options,
                                                        const OverlapSource& source,
                                                        const std::shared_ptr<const overlap::Scales>& scales,
                                                        const std::vector<std::size_t>& chains);

/// Face. The document of a recording with accesses, for a report; empty without.
[[nodiscard]] Result<std::string> overlap_document(const std::string& source);

}  // namespace nplus1::analyses
