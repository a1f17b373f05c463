#include "analyses/findings.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "analyses/clock.hpp"
#include "analyses/collectives.hpp"
#include "analyses/overlap.hpp"
#include "analyses/patterns.hpp"
#include "analyses/wait_states.hpp"
#include "detector/findings.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/waitstates/report.hpp"
#include "netmodel/simgrid/options.hpp"
#include "patterns/links.hpp"
#include "patterns/patterns_json.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"
#include "report/results.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

using events::recording::Reader;

/// A folder without a recording is that of a run that was told to leave none.
bool has_recording(const std::string& source) {
  std::error_code error;
  return !fs::is_directory(source, error) || fs::exists(fs::path{source} / "recording", error);
}

Findings without_replays(const std::string& source, const FindingLimits& limits) {
  Findings found;
  found.source = with_warm_clock(source);
  auto reader = Reader::open(found.source);
  if (!reader) {
    if (has_recording(found.source)) found.trouble = reader.error();
    return found;
  }
  found.bytes = reader.value().bytes();
  if (found.bytes > limits.read) {
    found.why_none = NoFixes::kTooLarge;
    return found;
  }
  found.waitstates = hypothesis::wait_states_json(search_wait_states(reader.value(), true));
  if (found.bytes <= limits.searched) {
    CollectivesOptions search;
    search.source = found.source;
    found.collectives = detector::collectives_json(need(find_collectives(search)).analysis.findings);
  }
  return found;
}

/// The file's text, which must be a document of that schema; empty if there is no such file.
std::string document(const fs::path& file, std::string_view schema) {
  std::ifstream in{file, std::ios::binary};
  if (!in) return {};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  need(report::html::check_document(text, schema, file.string()));
  return text;
}

std::string timeline_of(Reader& reader, const patterns::TimelineOptions& options,
                        std::vector<std::string>& notes) {
  patterns::Timeline timeline{static_cast<std::size_t>(reader.header().ranks), options};
  const auto coverage = need(reader.read(timeline));
  if (!coverage.complete) notes.push_back("recording: " + coverage.text());
  return timeline.json();
}

/// From the recording if a part of the run is wanted, else the one that the run left; empty if there is
/// neither.
std::string timeline_document(const PageOptions& options, std::vector<std::string>& notes) {
  const std::string made_by_run =
      document(fs::path{options.source} / patterns::kTimelineFile, patterns::kTimelineSchema);
  if (!options.window && !made_by_run.empty()) return made_by_run;
  auto reader = Reader::open(options.source);
  if (reader.ok())
    return timeline_of(reader.value(), options.window.value_or(patterns::TimelineOptions{}), notes);
  if (!options.window) return {};
  throw Stopped{{"there is nothing to take --window from: " + reader.error().what, reader.error().remedy,
                 Fault::kInput}};
}

/// A window in which nothing happens is an empty picture: empty if it is within the run.
std::string behind_the_run(const patterns::TimelineOptions& window, const patterns::Patterns& patterns) {
  Duration end{};
  for (const patterns::RankTotals& rank : patterns.rank) end = std::max(end, rank.end);
  if (window.begin < kTimeZero + end) return {};
  return "the timeline is empty: --window begins after the run, which ends after " + report::readable(end);
}

Page write(const PageOptions& options, const Findings& found) {
  Page page{page_file(options), {}};
  const PatternsSource source = need(load_patterns(options.source));
  if (options.window)
    if (std::string behind = behind_the_run(*options.window, source.patterns); !behind.empty())
      page.notes.push_back(std::move(behind));
  if (!source.note.empty()) page.notes.push_back(source.note);
  const fs::path folder{options.source};
  const std::string patterns = patterns::patterns_json(source.patterns);
  const std::string summary = document(folder / "summary.json", report::kSummarySchema);
  const std::string timeline = timeline_document(options, page.notes);
  const std::string links = document(folder / patterns::kLinksFile, patterns::kLinksSchema);
  const std::string clock = document(clock_beside(options.source), "nplus1-clock/1");
  report::html::Documents documents;
  documents.add("links", links);
  documents.add("patterns", patterns);
  documents.add("summary", summary);
  documents.add("timeline", timeline);
  documents.add("waitstates", found.waitstates);
  documents.add("collectives", found.collectives);
  if (found.fixes) documents.add("fixes", found.fixes->json);
  documents.add("overlap", found.overlap);
  documents.add("clock", clock);
  need(report::html::write_report(page.file, source.patterns.application, documents), Fault::kOutput);
  return page;
}

/// Bytes of recording a second, on two cores: low ones of those measured. Replays stop in time by themselves; what comes
/// before them, five readings, doesn't.
FindingLimits limits_of(double seconds) {
  constexpr double kRead = 16e6, kSearched = 2e6, kReplayed = 2e6, kReplayedOnPlatform = 20e3;
  const auto bytes = [&](double rate) { return static_cast<std::uint64_t>(seconds * rate); };
  return {bytes(kRead), bytes(kSearched), bytes(kReplayed), bytes(kReplayedOnPlatform)};
}

}  // namespace

Result<Findings> find_without_replays(const std::string& source, const FindingLimits& limits) {
  return attempt([&] { return without_replays(source, limits); });
}

Result<Findings> with_fixes(const std::string& source, const FindingLimits& limits, Findings found) {
  return attempt([&] {
    if (found.waitstates.empty()) return found;  // no recording, or a large one
    const auto reader = need(Reader::open(found.source));
    const auto recorded = hypothesis::recorded_settings(reader.properties());
    const bool on_platform = recorded.network.starts_with("simgrid") &&
                             recorded.network.find(netmodel::kOwnSolver) == std::string::npos;
    if (recorded.network.empty())
      found.why_none = NoFixes::kNoNetwork;
    else if (reader.bytes() > (on_platform ? limits.replayed_on_platform : limits.replayed))
      found.why_none = on_platform ? NoFixes::kTooLargeForPlatform : NoFixes::kTooLarge;
    else {
      FixOptions options;
      options.replay.source = source;
      options.until = limits.until;
      found.fixes = need(find_fixes(options));
      found.overlap = need(overlap_document(found.source));
    }
    return found;
  });
}

std::string page_file(const PageOptions& options) {
  if (!options.output.empty()) return options.output;
  const fs::path source{options.source};
  return ((fs::is_directory(source) ? source : source.parent_path()) / report::html::kReportFile).string();
}

Result<Page> write_page(const PageOptions& options, const Findings& found) {
  return attempt([&] { return write(options, found); });
}

Result<Findings> add_findings_to_page(const std::string& folder, double seconds, bool keep_fixes) {
  constexpr double kShareForReplays = 0.8;  // those that are under way then end, and the report is written
  const auto begin = std::chrono::steady_clock::now();
  return attempt([&] {
    PageOptions page;
    page.output = page_file({folder, {}, {}});
    page.source = with_warm_clock(folder);
    FindingLimits limits = limits_of(seconds);
    Findings found = without_replays(folder, limits);
    if (found.waitstates.empty()) return found;
    write(page, found);
    limits.until = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                               std::chrono::duration<double>(kShareForReplays * seconds));
    found = need(with_fixes(folder, limits, std::move(found)));
    if (found.fixes) write(page, found);
    if (keep_fixes && found.fixes)
      need(report::write_file(fs::path{folder} / kFixesFile, found.fixes->json), Fault::kOutput);
    return found;
  });
}

}  // namespace nplus1::analyses
