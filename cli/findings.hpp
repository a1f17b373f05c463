// What a recording shows beyond its patterns, for the report of its run: wait states, hand-written collective
// operations, and what to fix first. Called from one thread, in a process without MPI (the replays of the
// sweep are its children).
#pragma once

#include <cstdint>
#include <string>

namespace nplus1::cli {

/// How large a recording may be for each, in bytes: what is larger is left to the verb of its own.
struct FindingLimits {
  std::uint64_t read;                  // wait states
  std::uint64_t searched;              // hand-written collectives
  std::uint64_t replayed;              // what to fix: some twenty replays
  std::uint64_t replayed_on_platform;  // the same where each loads and drives SimGrid
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

/// Of the recording at `source`, if there is one. Throws Failure.
[[nodiscard]] Findings find_in_recording(const std::string& source, const FindingLimits& limits);

/// After a run that recorded: its report.html again, with what is found in so many seconds on an idle machine. Returns
/// the text for the terminal.
[[nodiscard]] std::string add_findings_to_report(const std::string& folder, double seconds);

}  // namespace nplus1::cli
