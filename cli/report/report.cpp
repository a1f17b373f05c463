// `nplus1 report`: report.html from a result folder or a recording.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "analyses/clock.hpp"
#include "analyses/findings.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/run/findings_text.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "patterns/timeline.hpp"

namespace nplus1::cli {
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

int make_report(const ReportOptions& options) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  constexpr analyses::FindingLimits kPatient{256 * kMiB, 256 * kMiB, 64 * kMiB, 4 * kMiB};
  analyses::PageOptions page;
  page.source = options.source;
  page.output = options.output;
  page.output = analyses::page_file(page);
  if (!options.window.empty()) page.window = parse_window(options.window);  // before anything is read
  page.source = analyses::with_warm_clock(options.source);
  auto found =
      or_fail(analyses::find_without_replays(page.source, kPatient), ExitCode::kNoInput, kNothingWritten);
  found = or_fail(analyses::with_fixes(page.source, kPatient, std::move(found)), ExitCode::kNoInput,
                  kNothingWritten);
  const auto written = or_fail(analyses::write_page(page, found), ExitCode::kNoInput, kNothingWritten);
  for (const std::string& note : written.notes) to_stderr("{}\n", note);
  to_stderr("{}", trouble_text(found));
  fmt::print("{}\n", written.file);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

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
  verb->callback(
      [registration, options] { registration.chosen = [options] { return make_report(*options); }; });
}

}  // namespace nplus1::cli
