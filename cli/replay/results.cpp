// Where analysing verbs write: a folder of -o, a file of --json.
#include <fmt/format.h>

#include <filesystem>

#include "analyses/output_folder.hpp"
#include "analyses/patterns.hpp"
#include "cli/failure.hpp"
#include "cli/replay/results.hpp"
#include "patterns/patterns_json.hpp"
#include "report/files.hpp"
#include "support/number_of.hpp"

namespace nplus1::cli {

void write_results(const ReplayWords& words, const char* file, const std::string& json,
                   report::html::Documents documents) {
  constexpr const char* kIncomplete = "the results are not complete";
  if (!words.json.empty()) or_fail(report::write_file(words.json, json), ExitCode::kCantCreate, kIncomplete);
  if (words.output.empty() && words.html.empty()) return;
  const auto source = or_fail(analyses::load_patterns(words.source), ExitCode::kNoInput, kIncomplete);
  const std::string patterns = patterns::patterns_json(source.patterns);
  documents.add("patterns", patterns);
  const auto write_page = [&](const std::filesystem::path& page) {
    or_fail(report::html::write_report(page, source.patterns.application, documents), ExitCode::kCantCreate,
            kIncomplete);
  };
  if (!words.html.empty()) write_page(words.html);
  if (words.output.empty()) return;
  const auto folder =
      or_fail(analyses::OutputFolder::at(words.output), ExitCode::kCantCreate, kNothingStarted);
  or_fail(report::write_file(folder.path() / file, json), ExitCode::kCantCreate, kIncomplete);
  write_page(folder.path() / report::html::kReportFile);
}

void declare_results(CLI::App& verb, ReplayWords& words, const char* file) {
  verb.add_option("-j,--jobs", words.jobs, "Replays at the same time [as many as cores]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  if (file != nullptr)
    verb.add_option("-o,--output", words.output, fmt::format("New folder for {} and report.html", file))
        ->type_name("DIR");
  verb.add_option("--json", words.json, "Write everything to this file (replaces it)")->type_name("FILE");
  verb.add_option("--html", words.html, "Write the report to this file (replaces it)")->type_name("FILE");
  verb.add_flag("-q,--quiet", words.quiet, "No progress on stderr");
}

std::string decisions_line(const Adapted& adapted) {
  return fmt::format("decisions    {} swapped, {} early, {} from another sender; {} to wait, {} not needed\n",
                     number_of(adapted.swapped_completions, "completion"), adapted.early_completions,
                     number_of(adapted.messages_from_others, "message"),
                     number_of(adapted.tests_that_waited, "test had", "tests had"),
                     number_of(adapted.calls_left_out, "call was", "calls were"));
}

std::string left_out_text(std::uint64_t rows, std::uint64_t left_out) {
  return fmt::format(
      "This is about the first {} of the recording's {} events and matches; --events 0 takes all of them\n",
      rows, rows + left_out);
}

}  // namespace nplus1::cli
