// What a recording shows beyond its patterns, and the page that shows it: wait states, hand-written collective operations, and
// what to fix first. Called from one thread, in a process without MPI (replays are its children).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/fixes.hpp"
#include "patterns/timeline.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

/// How large a recording may be for each, in bytes: what is larger is left to the verb of its own.
struct FindingLimits {
  std::uint64_t read;                  // wait states
  std::uint64_t searched;              // hand-written collectives
  std::uint64_t replayed;              // what to fix: some thirty replays
  std::uint64_t replayed_on_platform;  // the same where each loads and drives SimGrid
  std::optional<std::chrono::steady_clock::time_point> until = {};  // no replay is begun later
};

/// Why what to fix is not looked for.
enum class NoFixes : std::uint8_t { kNotAsked, kTooLarge, kTooLargeForPlatform, kNoNetwork };

/// JSON documents; empty where nothing was looked for.
struct Findings {
  std::string source;  // what was read: with the twins' clock, if there was one
  std::string waitstates;
  std::string collectives;
  std::string overlap;         // of a recording with accesses
  std::optional<Fixes> fixes;  // else `why_none`
  NoFixes why_none = NoFixes::kNotAsked;
  std::uint64_t bytes = 0;       // of the recording
  std::optional<Error> trouble;  // there is a recording, and it cannot be read
};

/// Face. Wait states and hand-written collectives of the recording at `source`, if there is one.
[[nodiscard]] Result<Findings> find_without_replays(const std::string& source, const FindingLimits& limits);

/// Face. The same with what to fix, and overlap, where wait states were looked for.
[[nodiscard]] Result<Findings> with_fixes(const std::string& source, const FindingLimits& limits,
                                          Findings found);

/// A page from a result folder or a recording.
struct PageOptions {
  std::string source;
  std::string output;                                 // empty: report.html in the folder
  std::optional<patterns::TimelineOptions> window{};  // of virtual time; needs a recording
};
struct Page {
  std::string file;
  std::vector<std::string> notes;  // what the source lacks
};

/// Where the page of these options goes.
[[nodiscard]] std::string page_file(const PageOptions& options);

/// Face.
[[nodiscard]] Result<Page> write_page(const PageOptions& options, const Findings& found);

/// What to fix (nplus1-whatif-sweep/1), in the result folder of a run of a series.
inline constexpr const char* kFixesFile = "fixes.json";

/// Face. After a run that recorded: its report.html again, with what is found in so many seconds; first with what takes no
/// replays, so that this is there if the rest never ends. `keep_fixes`: kFixesFile, too.
[[nodiscard]] Result<Findings> add_findings_to_page(const std::string& folder, double seconds,
                                                    bool keep_fixes = false);

}  // namespace nplus1::analyses
