#include "cli/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/collectives.hpp"
#include "cli/side_source.hpp"
#include "cli/whatif.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/wait_states_report.hpp"
#include "report/exact_time.hpp"

namespace nplus1::cli {
namespace {

namespace recording = events::recording;

/// What saves less than this share of the run is not worth a line of the run's summary.
constexpr double kWorthALine = 0.01;
constexpr std::size_t kMostLines = 3;
/// Messages not sent at all: what they cost at most, no advice.
constexpr const char* kBound = "messages";

std::string collectives_of(const std::string& source) {
  CollectivesWords words;
  words.replay.source = source;
  return detector::collectives_json(search_recording(words, detector::Keep::kFirst).findings);
}

std::string lines_of(const Fixes& fixes, const std::string& source) {
  std::string text;
  std::size_t lines = 0;
  for (const Fix& fix : fixes.all) {
    if (fix.saved_s < kWorthALine * fixes.virtual_time_s() || lines == kMostLines) break;
    if (fix.kind == kBound) continue;
    ++lines;
    text += fmt::format("{:>12} {:>6.1f} %  {}\n", report::readable(from_seconds(fix.saved_s)),
                        100 * fix.saved_s / fixes.virtual_time_s(), fix.what);
  }
  if (lines == 0) return fmt::format("What to fix: of {} changes tried, none saves 1 %\n", fixes.all.size());
  return fmt::format("What to fix first, and what it would save (more: nplus1 whatif {} --sweep)\n", source) +
         text;
}

}  // namespace

Findings find_in_recording(const std::string& source, const FindingLimits& limits) {
  Findings found;
  auto reader = recording::Reader::open(source);
  if (!reader || reader.value().bytes() > limits.read) return found;
  found.waitstates = hypothesis::wait_states_json(search_wait_states(reader.value(), true));
  if (reader.value().bytes() <= limits.searched) found.collectives = collectives_of(source);
  const auto recorded = hypothesis::recorded_settings(reader.value().properties());
  if (recorded.network.empty()) return found;  // a native run: there is nothing to replay it on
  if (reader.value().bytes() >
      (recorded.network.starts_with("simgrid") ? limits.replayed_on_platform : limits.replayed)) {
    found.first_fixes = fmt::format("What to fix first: nplus1 whatif {} --sweep\n", source);
    return found;
  }
  WhatIfWords words;
  words.replay.source = source;
  words.replay.quiet = true;
  const Fixes fixes = find_fixes(words);
  found.fixes = fixes.json;
  found.first_fixes = lines_of(fixes, source);
  return found;
}

}  // namespace nplus1::cli
