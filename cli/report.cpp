// `nplus1 report`: report.html from a result folder or a recording.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "cli/clock.hpp"
#include "cli/failure.hpp"
#include "cli/findings.hpp"
#include "cli/patterns_source.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "events/recording/reader.hpp"
#include "patterns/links.hpp"
#include "patterns/patterns_json.hpp"
#include "patterns/timeline.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"
#include "report/results.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kReportExamples =
    "  nplus1 report nplus1-app-16-1                 writes nplus1-app-16-1/report.html again\n"
    "  nplus1 report DIR/recording -o app.html       from the recording alone\n"
    "  nplus1 report DIR --window 0.5:0.51           every call between 0.5 s and 0.51 s of virtual time\n";

constexpr const char* kNothingWritten = "no report was written";

struct ReportOptions {
  std::string source;
  std::string output;
  std::string window;
};

/// "0.5:0.51", in seconds of virtual time; either side may be empty.
patterns::TimelineOptions parse_window(const std::string& text) {
  patterns::TimelineOptions options;
  const auto bad = [&] {
    return Failure{ExitCode::kUsage, fmt::format("'{}' is no window of time", text), kNothingWritten,
                   "give FROM:TO in seconds of virtual time, e.g. --window 0.5:0.51"};
  };
  const auto time = [&](const std::string& part, Time otherwise) {
    if (part.empty()) return otherwise;
    char* end = nullptr;
    const double seconds = std::strtod(part.c_str(), &end);
    if (*end != '\0' || !std::isfinite(seconds) || seconds < 0 || seconds > 9e6) throw bad();
    return kTimeZero + from_seconds(seconds);
  };
  const std::size_t colon = text.find(':');
  if (colon == text.npos) throw bad();
  options.begin = time(text.substr(0, colon), options.begin);
  options.end = time(text.substr(colon + 1), options.end);
  if (options.end <= options.begin) throw bad();
  return options;
}

/// The file's text, which must be a document of that schema; empty if there is no such file.
std::string document(const fs::path& file, std::string_view schema) {
  std::ifstream in{file, std::ios::binary};
  if (!in) return {};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  or_fail(report::html::check_document(text, schema, file.string()), ExitCode::kNoInput, kNothingWritten);
  return text;
}

std::string timeline_of(events::recording::Reader& reader, const patterns::TimelineOptions& options) {
  patterns::Timeline timeline{static_cast<std::size_t>(reader.header().ranks), options};
  const auto coverage = or_fail(reader.read(timeline), ExitCode::kNoInput, kNothingWritten);
  if (!coverage.complete) fmt::print(stderr, "recording: {}\n", coverage.text());
  return timeline.json();
}

/// From the recording if a part of the run is wanted, else the one that the run left; empty if there is
/// neither.
std::string timeline_document(const ReportOptions& options) {
  const std::string made_by_run =
      document(fs::path{options.source} / patterns::kTimelineFile, patterns::kTimelineSchema);
  if (options.window.empty() && !made_by_run.empty()) return made_by_run;
  auto reader = events::recording::Reader::open(options.source);
  if (reader.ok()) {
    const auto window = options.window.empty() ? patterns::TimelineOptions{} : parse_window(options.window);
    return timeline_of(reader.value(), window);
  }
  if (options.window.empty()) return {};
  throw Failure{ExitCode::kNoInput, reader.error().what, "there is nothing to take --window from",
                reader.error().remedy};
}

fs::path output_path(const ReportOptions& options) {
  if (!options.output.empty()) return options.output;
  const fs::path source{options.source};
  return (fs::is_directory(source) ? source : source.parent_path()) / report::html::kReportFile;
}

std::string write(const ReportOptions& options, const Findings& found) {
  if (!options.window.empty()) static_cast<void>(parse_window(options.window));  // before anything is read
  const PatternsSource source = load_patterns(options.source);
  const std::string patterns = patterns::patterns_json(source.patterns);
  const std::string summary = document(fs::path{options.source} / "summary.json", report::kSummarySchema);
  const std::string timeline = timeline_document(options);
  const std::string links = document(fs::path{options.source} / patterns::kLinksFile, patterns::kLinksSchema);
  const fs::path file = output_path(options);
  report::html::Documents documents;
  documents.links = links;
  documents.patterns = patterns;
  documents.summary = summary;
  documents.timeline = timeline;
  documents.waitstates = found.waitstates;
  documents.collectives = found.collectives;
  documents.fixes = found.fixes;
  documents.overlap = found.overlap;
  const std::string clock = document(clock_beside(options.source), "nplus1-clock/1");
  documents.clock = clock;
  or_fail(report::html::write_report(file, source.patterns.application, documents), ExitCode::kCantCreate,
          kNothingWritten);
  return source.note;
}

}  // namespace

std::string add_findings_to_report(const std::string& folder, double seconds, bool keep_fixes) {
  // Bytes of recording a second, on two cores: low ones of those measured. Replays stop in time by themselves; what
  // comes before them, five readings, doesn't.
  constexpr double kRead = 16e6, kSearched = 2e6, kReplayed = 2e6, kReplayedOnPlatform = 20e3;
  constexpr double kShareForReplays = 0.8;  // those that are under way then end, and the report is written
  const auto begin = std::chrono::steady_clock::now();
  const auto bytes = [&](double rate) { return static_cast<std::uint64_t>(seconds * rate); };
  ReportOptions options;
  options.output = output_path({folder, {}, {}});
  options.source = with_warm_clock(folder);
  FindingLimits limits{bytes(kRead), bytes(kSearched), bytes(kReplayed), bytes(kReplayedOnPlatform)};
  Findings found = find_without_replays(folder, limits);
  if (found.waitstates.empty()) return found.trouble + found.first_fixes;
  write(options, found);
  limits.until = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                             std::chrono::duration<double>(kShareForReplays * seconds));
  add_fixes(folder, limits, found);
  if (!found.fixes.empty()) write(options, found);
  if (keep_fixes && !found.fixes.empty())
    or_fail(report::write_file(fs::path{folder} / kFixesFile, found.fixes), ExitCode::kCantCreate,
            "what to fix is not compared");
  return found.trouble + found.first_fixes;
}

void add_report(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand("report", "Write report.html, to be opened in a browser");
  set_manual(*verb, {"nplus1 report DIR|RECORDING [-o FILE] [--window FROM:TO]", kReportExamples});
  const auto options = std::make_shared<ReportOptions>();
  verb->add_option("source", options->source, "Result folder of a run, or a recording")
      ->type_name("DIR|RECORDING")
      ->required();
  verb->add_option("-o,--output", options->output,
                   "The report [report.html in DIR]; an older one is replaced")
      ->type_name("FILE");
  verb->add_option("--window", options->window,
                   "Show only this part of virtual time in the timeline, in seconds; needs a recording")
      ->type_name("FROM:TO");
  verb->callback([registration, options] {
    registration.chosen = [options] {
      options->output = output_path(*options);
      const std::string source = std::exchange(options->source, with_warm_clock(options->source));
      constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
      constexpr FindingLimits kPatient{256 * kMiB, 256 * kMiB, 64 * kMiB, 4 * kMiB};
      Findings found = find_without_replays(source, kPatient);
      add_fixes(source, kPatient, found);
      if (const std::string note = write(*options, found); !note.empty()) fmt::print(stderr, "{}\n", note);
      fmt::print(stderr, "{}", found.trouble);
      fmt::print("{}\n", output_path(*options).string());
      return static_cast<int>(ExitCode::kOk);
    };
  });
}

}  // namespace nplus1::cli
