#include "cli/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/collectives.hpp"
#include "cli/overlap.hpp"
#include "cli/side_source.hpp"
#include "cli/whatif.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/wait_states_report.hpp"
#include "report/exact_time.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

namespace recording = events::recording;

/// What saves less than this share of the run is not worth a line of the run's summary.
constexpr double kWorthALine = 0.01;
constexpr std::size_t kMostLines = 3;

/// A folder without a recording is that of a run that was told to leave none.
bool has_recording(const std::string& source) {
  std::error_code error;
  return !std::filesystem::is_directory(source, error) ||
         std::filesystem::exists(std::filesystem::path{source} / "recording", error);
}

std::string collectives_of(const std::string& source) {
  CollectivesWords words;
  words.replay.source = source;
  return detector::collectives_json(search_recording(words, detector::Keep::kFirst).findings);
}

/// One line a problem, three at most; where there are fewer, that is said.
std::string lines_of(const Fixes& fixes, const std::string& source) {
  if (fixes.virtual_time_s() <= 0)
    return "What to fix: the run takes no virtual time, so nothing could save any\n";
  std::string text;
  std::size_t lines = 0;
  for (const hypothesis::Fix& fix : fixes.all) {
    if (!fix.leads || fixes.share(fix.saved_s) < kWorthALine || lines == kMostLines) continue;
    ++lines;
    text += fmt::format("{:>12} {:>6.1f} %  {}\n", report::readable(from_seconds(fix.saved_s)),
                        100 * fixes.share(fix.saved_s), fix.what);
  }
  if (lines == 0) return fmt::format("What to fix: of {} changes tried, none saves 1 %\n", fixes.all.size());
  if (lines < kMostLines)
    text += fmt::format("{:>24}of {} changes tried, no other problem's saves 1 %\n", "", fixes.all.size());
  return fmt::format("What to fix first, and what it would save (more: nplus1 whatif {} --sweep)\n",
                     quote(source)) +
         text;
}

std::string too_large(const events::recording::Reader& reader, const std::string& source) {
  return fmt::format(
      "What to fix first is not looked for by itself in a recording of {:.1f} MB: it would take too much of "
      "the "
      "run's time. nplus1 whatif {} --sweep does\n",
      1e-6 * static_cast<double>(reader.bytes()), quote(source));
}

}  // namespace

Findings find_in_recording(const std::string& source, const FindingLimits& limits) {
  Findings found;
  auto reader = recording::Reader::open(source);
  if (!reader) {
    if (has_recording(source))
      found.trouble = fmt::format(
          "nplus1: the recording cannot be read: {}\n  so:   wait states, hand-written collectives and what "
          "to "
          "fix are not looked for\n  next: {}\n",
          reader.error().what, reader.error().remedy);
    return found;
  }
  if (reader.value().bytes() > limits.read) {
    found.first_fixes = too_large(reader.value(), source);
    return found;
  }
  found.waitstates = hypothesis::wait_states_json(search_wait_states(reader.value(), true));
  if (reader.value().bytes() <= limits.searched) found.collectives = collectives_of(source);
  const auto recorded = hypothesis::recorded_settings(reader.value().properties());
  if (recorded.network.empty()) {
    found.first_fixes = fmt::format(
        "No changes are tried: the recording names no network (nplus1 whatif {} --network lsb ... does)\n",
        quote(source));
    return found;
  }
  if (reader.value().bytes() >
      (recorded.network.starts_with("simgrid") ? limits.replayed_on_platform : limits.replayed)) {
    found.first_fixes = too_large(reader.value(), source);
    return found;
  }
  WhatIfWords words;
  words.replay.source = source;
  words.replay.quiet = true;
  const Fixes fixes = find_fixes(words);
  found.fixes = fixes.json;
  found.overlap = overlap_document(source);
  found.first_fixes = lines_of(fixes, source);
  return found;
}

}  // namespace nplus1::cli
