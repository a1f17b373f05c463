// What a recording shows beyond its patterns, for the report of its run: wait states, hand-written collective
// operations, and what to fix first. Called from one thread, in a process without MPI (the replays of the
// sweep are its children).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace nplus1::cli {

/// How large a recording may be for each, in bytes: what is larger is left to the verb of its own.
struct FindingLimits {
  std::uint64_t read;                  // wait states
  std::uint64_t searched;              // hand-written collectives
  std::uint64_t replayed;              // what to fix: some thirty replays
  std::uint64_t replayed_on_platform;  // the same where each loads and drives SimGrid
  std::optional<std::chrono::steady_clock::time_point> until = {};  // no replay is begun later
};

/// JSON documents; empty where nothing was looked for.
struct Findings {
  std::string waitstates;
  std::string collectives;
  std::string fixes;
  std::string overlap;      // of a recording with accesses
  std::string first_fixes;  // for a terminal: the few that are worth most, or why there are none
  std::string trouble;      // for a terminal: there is a recording, and nothing can be read
};

/// Wait states and hand-written collectives of the recording at `source`, if there is one. Throws Failure.
[[nodiscard]] Findings find_without_replays(const std::string& source, const FindingLimits& limits);

/// Adds what to fix, and overlap, where wait states were looked for. Throws Failure.
void add_fixes(const std::string& source, const FindingLimits& limits, Findings& found);

/// What to fix (nplus1-whatif-sweep/1), in the result folder of a run of a series.
inline constexpr const char* kFixesFile = "fixes.json";

/// After a run that recorded: its report.html again, with what is found in so many seconds; first with what takes no
/// replays, so that this is there if the rest never ends. `keep_fixes`: kFixesFile, too. Returns the text for the
/// terminal.
[[nodiscard]] std::string add_findings_to_report(const std::string& folder, double seconds,
                                                 bool keep_fixes = false);

}  // namespace nplus1::cli
