// What `nplus1 overlap` was asked for, and what others take from it: `whatif --sweep`, and the report of a run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/replay.hpp"
#include "cli/verbs.hpp"
#include "overlap/chains.hpp"
#include "overlap/phases.hpp"
#include "overlap/plan.hpp"
#include "overlap/results.hpp"
#include "support/result.hpp"

namespace nplus1::cli {

inline constexpr const char* kOverlapFile = "overlap.json";
inline constexpr const char* kOverlapMeasuredFile = "overlap-measured.json";

/// What is looked at of a longer recording unless more is asked for: it bounds time and memory (docs/benchmarks.md).
inline constexpr std::uint64_t kOverlapRows = 4'000'000;

struct OverlapWords {
  ReplayWords replay;               // source, network, collectives, jobs, output, json
  double at_least = 5;              // percent of the run
  std::optional<std::size_t> most;  // chains that are tried; nothing: 12, or as many as the length allows
  std::uint64_t most_rows = kOverlapRows;  // events and matches that are looked at; 0: all
  std::string progress = "asynchronous";
  std::string patch;  // file for the diff
  std::string compile_commands, compile;
  bool efficiency = false;  // and nothing that needs accesses
  bool addresses = false;   // instead of source lines
};

/// A recording surveyed and analysed.
struct OverlapSource {
  std::shared_ptr<const overlap::Survey> survey;
  std::shared_ptr<const overlap::Analysis> analysis;
  std::string coverage;                  // empty: complete
  std::uint64_t rows = 0, left_out = 0;  // events and matches
};

/// `nplus1 overlap project`.
void add_overlap_project(CLI::App& parent, const Registration& registration);

/// `nplus1 overlap measure`.
void add_overlap_measure(CLI::App& parent, const Registration& registration);

/// The measurement beside a recording; empty where there is none.
[[nodiscard]] std::string measured_text_in(const std::string& source);

/// Whether the recording was made with --record-accesses.
[[nodiscard]] bool has_accesses(const events::recording::Reader& reader);

/// Without accesses nobody knows when a message is used: throws Failure then.
void check_accesses(const events::recording::Reader& reader, const std::string& source,
                    const char* consequence);

/// Reads the recording once, or its first `most_rows` events and matches.
[[nodiscard]] Result<OverlapSource> survey_overlap(const std::string& source, std::uint64_t most_rows = 0);

/// "ID" or "ID:VARIANT" (grouped, merged, per_request, one_wait), all of one variant. Errors list the chains.
[[nodiscard]] Result<overlap::Plan> plan_of_chains(const OverlapSource& source,
                                                   const std::vector<std::string>& names);

/// Replays what there is to try, in child processes. Throws Failure.
[[nodiscard]] overlap::Results find_overlap(const OverlapWords& words, const OverlapSource& source);

/// Seconds of virtual time of a recording put at other phases: as written, and with each of `chains` (places in the
/// analysis) grouped; in child processes. Throws Failure.
[[nodiscard]] std::vector<double> replay_scaled(const OverlapWords& words, const OverlapSource& source,
                                                const std::shared_ptr<const overlap::Scales>& scales,
                                                const std::vector<std::size_t>& chains);

/// Asks for patches of the findings, notes them with their chains, and writes them to `words.patch`. Text for the
/// terminal. Throws Failure.
[[nodiscard]] std::string patch_chains(const OverlapWords& words, const OverlapSource& source,
                                       overlap::Results& results);

/// The document of a recording with accesses, for a report; empty without. Throws Failure.
[[nodiscard]] std::string overlap_document(const std::string& source);

}  // namespace nplus1::cli
