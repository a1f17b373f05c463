#include "cli/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/clock.hpp"
#include "cli/collectives.hpp"
#include "cli/failure.hpp"
#include "cli/overlap.hpp"
#include "cli/side_source.hpp"
#include "cli/whatif.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/wait_states_report.hpp"
#include "netmodel/simgrid/options.hpp"
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

/// What is said of changes whose turn did not come; empty if all were tried.
std::string late_ones(const Fixes& fixes, const std::string& source) {
  const auto late = std::ranges::count_if(fixes.not_tried, &NotTried::late);
  return late == 0
             ? ""
             : fmt::format("{:>24}for {} more changes the time was up: nplus1 whatif {} --sweep tries all\n",
                           "", late, quote(source));
}

/// Computing that is uneven, but not by rank or step every time: no advice, and said so that nobody looks for it.
std::string noise_of(const Fixes& fixes) {
  if (!fixes.random_s || fixes.share(*fixes.random_s) < kWorthALine) return {};
  return fmt::format(
      "{:>12} {:>6.1f} %  no advice: uneven computing that comes and goes, noise of this host or of the "
      "program "
      "(nplus1 run --repeat tells more)\n",
      report::readable(from_seconds(*fixes.random_s)), 100 * fixes.share(*fixes.random_s));
}

/// One line a problem, three at most; where there are fewer, that is said.
std::string lines_of(const Fixes& fixes, const std::string& source) {
  if (fixes.virtual_time_s() <= 0)
    return "What to fix: the run takes no virtual time, so nothing could save any\n";
  std::string text;
  std::size_t lines = 0;
  for (const hypothesis::Fix& fix : fixes.all) {
    if (!fix.leads || fixes.share(fix.worth_s()) < kWorthALine || lines == kMostLines) continue;
    ++lines;
    text += fmt::format("{:>12} {:>6.1f} %  {}{}\n", report::readable(from_seconds(fix.worth_s())),
                        100 * fixes.share(fix.worth_s()), fix.what,
                        fix.between_s ? " (" + saving_between(fixes, fix) + ")" : std::string{});
  }
  const std::string noise = noise_of(fixes);
  if (fixes.all.empty() && !late_ones(fixes, source).empty())
    return fmt::format(
        "What to fix: the time for it was up before a change was tried; nplus1 whatif {} --sweep has no "
        "limit\n",
        quote(source));
  if (lines == 0)
    return fmt::format("What to fix: of {} changes tried, none saves 1 %\n", fixes.all.size()) + noise +
           late_ones(fixes, source);
  if (lines < kMostLines)
    text += fmt::format("{:>24}of {} changes tried, no other problem's saves 1 %\n", "", fixes.all.size());
  return fmt::format("What to fix first, and what it would save{} (more: nplus1 whatif {} --sweep)\n",
                     fixes.warm ? ", with warm caches" : "", quote(source)) +
         text + order_text(fixes) + noise + late_ones(fixes, source);
}

std::string left_out(const events::recording::Reader& reader, bool on_platform, const std::string& source) {
  return fmt::format(
      "What to fix first is not looked for by itself{}: it would take too much of the run's time. nplus1 "
      "whatif {} "
      "--sweep does\n",
      on_platform ? ", as each replay on the platform drives SimGrid"
                  : fmt::format(" in a recording of {:.1f} MB", 1e-6 * static_cast<double>(reader.bytes())),
      quote(source));
}

}  // namespace

Findings find_without_replays(const std::string& folder, const FindingLimits& limits) {
  Findings found;
  const std::string source = with_warm_clock(folder);
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
    found.first_fixes = left_out(reader.value(), false, source);
    return found;
  }
  found.waitstates = hypothesis::wait_states_json(search_wait_states(reader.value(), true));
  if (reader.value().bytes() <= limits.searched) found.collectives = collectives_of(source);
  return found;
}

void add_fixes(const std::string& folder, const FindingLimits& limits, Findings& found) {
  if (found.waitstates.empty()) return;  // no recording, or a large one
  const std::string source = with_warm_clock(folder);
  const auto reader =
      or_fail(recording::Reader::open(source), ExitCode::kNoInput, "what to fix is not looked for");
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  if (recorded.network.empty()) {
    found.first_fixes = fmt::format(
        "No changes are tried: the recording names no network (nplus1 whatif {} --network lsb ... does)\n",
        quote(source));
    return;
  }
  const bool on_platform = recorded.network.starts_with("simgrid") &&
                           recorded.network.find(netmodel::kOwnSolver) == std::string::npos;
  if (reader.bytes() > (on_platform ? limits.replayed_on_platform : limits.replayed)) {
    found.first_fixes = left_out(reader, on_platform, source);
    return;
  }
  WhatIfWords words;
  words.replay.source = folder;
  words.replay.quiet = true;
  words.until = limits.until;
  const Fixes fixes = find_fixes(words);
  found.fixes = fixes.json;
  found.overlap = overlap_document(source);
  found.first_fixes = lines_of(fixes, folder);
}

}  // namespace nplus1::cli
