// `nplus1 overlap`: which communication could be hidden behind computing, and what that saves.
#include "cli/overlap/overlap.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "analyses/trust.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "cli/replay/results.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "events/recording/reader.hpp"
#include "overlap/measured.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kNothingPatched = "no patch is written";
constexpr const char* kNoOverlap = "nothing was analysed, nothing is written";

constexpr const char* kOverlapExamples =
    "  nplus1 run -n 4 --record-accesses -- ./app   record which memory is used, and when\n"
    "  nplus1 overlap DIR                           what could be hidden behind computing\n"
    "  nplus1 overlap DIR --network lsb:latency=20us,bandwidth=1GBps   on another network\n"
    "  nplus1 overlap DIR --at-least 1 --json overlap.json\n"
    "  nplus1 overlap DIR --efficiency              how much is hidden already; needs no accesses\n";

/// What cannot be analysed is said before anything is replayed or written.
void check_source(const OverlapWords& words, const events::recording::Reader& reader,
                  const analyses::OverlapSource& source) {
  if (words.efficiency) return;
  if (const auto error = analyses::lacks_accesses(reader, words.words.source))
    throw failure_of(*error, ExitCode::kNoInput, kNoOverlap);
  if (!words.addresses && !source.analysis->chains.empty() &&
      !overlap::has_source_lines(*source.survey, *source.analysis))
    throw Failure{
        ExitCode::kUnsuitable,
        "no call of the program has a source line: it was compiled without debug information, or is not "
        "the program that was recorded any more",
        kNoOverlap,
        fmt::format("compile it with -g and record it again; or see addresses: nplus1 overlap {} "
                    "--addresses",
                    quote(words.words.source))};
}

/// What `nplus1 overlap measure` has left in the folder, beside the chains that it is about.
void add_measured(const OverlapWords& words, const analyses::OverlapSource& source,
                  overlap::Results& results) {
  const std::string text = measured_text_in(words.words.source);
  if (text.empty()) return;
  const auto lines = overlap::measured_lines(text);
  if (!lines) {
    to_stderr("nplus1: {} is left out: {}\n  next: {}\n", kOverlapMeasuredFile, lines.error().what,
              lines.error().remedy);
    return;
  }
  for (overlap::ChainFinding& finding : results.chains) {
    const auto found =
        lines.value().find(overlap::title(*source.survey, source.analysis->chains[finding.chain].contexts));
    if (found != lines.value().end()) finding.measured = found->second;
  }
}

/// Text for the terminal.
std::string written_patch(const OverlapWords& words, const analyses::OverlapSource& source,
                          overlap::Results& results) {
  const analyses::Patch patch =
      or_fail(analyses::patch_chains(words.compiled, source, results), ExitCode::kSoftware, kNothingPatched);
  if (patch.chains == 0)
    return fmt::format("No patch is written: no blocking chain saves {:g} % of the run (--at-least)\n",
                       words.percent);
  if (patch.diff.empty()) return "No patch is written: every chain was refused\n";
  or_fail(report::write_file(words.patch, patch.diff), ExitCode::kCantCreate, kNothingPatched);
  return fmt::format("Patch: {}; apply it in {}: patch -p1 < {}\n", words.patch,
                     patch.root.empty() ? "." : patch.root,
                     quote(std::filesystem::absolute(words.patch).string()));
}

int show_overlap(const OverlapWords& words) {
  if (words.words.source.empty())
    throw Failure{ExitCode::kUsage, "there is no recording to analyse", kNoOverlap,
                  "name the result folder of a run: nplus1 overlap DIR"};
  const auto reader =
      or_fail(events::recording::Reader::open(words.words.source), ExitCode::kNoInput, kNoOverlap);
  const analyses::OverlapSource source = or_fail(
      analyses::survey_overlap(words.words.source, words.words.most_rows), ExitCode::kNoInput, kNoOverlap);
  check_source(words, reader, source);
  overlap::Results results =
      or_fail(analyses::find_overlap(words.options(), source, progress_of("replays", words.words.quiet)),
              ExitCode::kNoInput, kNoOverlap);
  if (words.efficiency) results.accesses = false;
  add_measured(words, source, results);
  const std::string patched = words.patch.empty() ? std::string{} : written_patch(words, source, results);
  const std::string json = overlap::overlap_json(results, *source.survey, *source.analysis);
  report::html::Documents documents;
  documents.add("overlap", json);
  write_results(words.words, kOverlapFile, json, documents);
  fmt::print("{}", overlap::overlap_text(results, *source.survey, *source.analysis));
  if (!patched.empty()) fmt::print("\n{}", patched);
  if (!results.access_cost.empty()) fmt::print("\nRecording the accesses: {}\n", results.access_cost);
  if (results.left_out > 0) fmt::print("\n{}", left_out_text(results.events, results.left_out));
  if (!results.coverage.empty()) fmt::print("\nrecording: {}\n", results.coverage);
  if (const std::string doubts = analyses::run_trust_text(analyses::run_trust(words.words.source));
      !doubts.empty())
    fmt::print("\n{}", doubts);
  return static_cast<int>(ExitCode::kOk);
}

void declare_overlap(CLI::App& verb, OverlapWords& words) {
  verb.add_option("source", words.words.source,
                  "Result folder of a run with --record-accesses, or its recording")
      ->type_name("DIR|RECORDING");
  declare_network(verb, words.words);
  verb.add_option("--at-least", words.percent, "Show what saves so many percent of the run [5]")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("PERCENT");
  declare_bounds(verb, words);
  verb.add_option(
          "--progress", words.progress_word,
          "Rank by what is saved if long messages go on whatever the ranks do (asynchronous), or only while "
          "both are inside MPI (weak) [asynchronous]")
      ->check(CLI::IsMember({"asynchronous", "weak"}))
      ->type_name("HOW");
  CLI::Option* patch =
      verb.add_option("--patch", words.patch,
                      "Write the findings as a patch of the source (C, C++) to this file (replaces it)")
          ->type_name("FILE");
  verb.add_option("--compile-commands", words.compiled.compile_commands,
                  "How the source is compiled: a compile_commands.json, or its folder")
      ->needs(patch)
      ->type_name("FILE");
  verb.add_option("--compile", words.compiled.compile, "How the source is compiled: flags for all files")
      ->needs(patch)
      ->type_name("FLAGS");
  verb.add_flag("--efficiency", words.efficiency,
                "Only how much is hidden already; works on every full recording")
      ->excludes(patch);
  verb.add_flag("--addresses", words.addresses, "Go on where no source lines are known");
  declare_results(verb, words.words, kOverlapFile);
}

}  // namespace

analyses::OverlapOptions OverlapWords::options() const {
  analyses::OverlapOptions options = *this;
  options.replay = words;
  options.at_least = percent / 100;
  options.progress =
      progress_word == "weak" ? overlap::ProgressKind::kWeak : overlap::ProgressKind::kAsynchronous;
  return options;
}

void declare_bounds(CLI::App& verb, OverlapWords& words) {
  verb.add_option("--events", words.words.most_rows,
                  fmt::format("Look at the first so many events and matches of a recording; 0: at all [{}]",
                              analyses::kOverlapRows))
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  verb.add_option("--most", words.most,
                  "Try so many chains, those that take most time [12; fewer where that were many events]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
}

void add_overlap(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "overlap", "Show which communication could be hidden behind computing, and what that saves");
  set_manual(
      *verb,
      {"nplus1 overlap DIR|RECORDING [options], nplus1 overlap project DIR DIR..., or nplus1 overlap measure "
       "-n N -- PROGRAM",
       kOverlapExamples});
  const auto words = std::make_shared<OverlapWords>();
  declare_overlap(*verb, *words);
  add_overlap_project(*verb, registration);
  add_overlap_measure(*verb, registration);
  verb->callback([registration, words, verb] {
    if (verb->get_subcommands().empty()) registration.chosen = [words] { return show_overlap(*words); };
  });
}

}  // namespace nplus1::cli
