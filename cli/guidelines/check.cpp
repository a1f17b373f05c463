// `nplus1 guidelines check`: judges measured run-times by the catalogue of performance guidelines.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <memory>

#include "analyses/guidelines/judge.hpp"
#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "guidelines/findings_output.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"

namespace nplus1::cli {
namespace {

namespace fs = std::filesystem;
using guidelines::Analysis;
using guidelines::Correction;
using guidelines::Method;

constexpr const char* kGuidelinesCheckExamples =
    "  nplus1 guidelines check DIR                             the tables, violations.json and "
    "guidelines.html\n"
    "  nplus1 guidelines check DIR --fail-on-violation         for CI: exit code 1 if anything is violated\n"
    "  nplus1 guidelines check DIR --application nplus1-cg-16-1  weighed by a recorded program's own calls\n"
    "  nplus1 guidelines check reprompi/ --processes 32        what PGMPI or ReproMPI measured\n";
constexpr const char* kPageFile = "guidelines.html";
constexpr int kViolated = 1;  // exit code of --fail-on-violation

const std::map<std::string, Method> kMethods{{"rank-sum", Method::kRankSum},
                                             {"rank-sum-normal", Method::kRankSumNormal},
                                             {"ks", Method::kKolmogorovSmirnov},
                                             {"signed-rank", Method::kSignedRank}};
const std::map<std::string, Correction> kCorrections{{"none", Correction::kNone},
                                                     {"bh", Correction::kBenjaminiHochberg},
                                                     {"by", Correction::kBenjaminiYekutieli},
                                                     {"holm", Correction::kHolm}};

struct CheckWords {
  analyses::JudgingOptions options;
  std::string method = "rank-sum";
  std::string correction = "bh";
  bool legacy_split = false;
  bool no_filter = false;
  std::string json;
  std::string html;
  std::string profiles;
  bool fail_on_violation = false;
  bool all = false;
};

analyses::JudgingOptions options_of(const CheckWords& words) {
  analyses::JudgingOptions options = words.options;
  options.judging.method = kMethods.at(words.method);
  options.judging.correction = kCorrections.at(words.correction);
  options.judging.split_factor =
      words.legacy_split ? guidelines::kLegacySplitFactor : options.judging.least_ratio;
  options.filter = !words.no_filter;
  return options;
}

void write(const fs::path& file, const std::string& text) {
  or_fail(report::write_file(file, text), ExitCode::kCantCreate, "nothing is judged");
  to_stderr("wrote {}\n", file.string());
}

/// In the folder of the measurements, unless told otherwise; a single file's results are only printed.
fs::path place_of(const std::string& named, const CheckWords& words, const char* name) {
  if (!named.empty()) return named;
  return fs::is_directory(words.options.source) ? fs::path{words.options.source} / name : fs::path{};
}

void write_profiles(const fs::path& folder, const Analysis& analysis) {
  std::error_code error;
  fs::create_directories(folder, error);
  const auto profiles = guidelines::tuning_profiles(analysis);
  for (const guidelines::Profile& profile : profiles) write(folder / profile.file, profile.text);
  if (profiles.empty()) to_stderr("no violation is of a mock-up that PGMPITuneLib has: no profile\n");
}

void write_results(const CheckWords& words, const Analysis& analysis, const guidelines::Context& context) {
  if (const fs::path json = place_of(words.json, words, guidelines::kViolationsFile); !json.empty())
    write(json, analysis_json(analysis, context, false));
  if (const fs::path html = place_of(words.html, words, kPageFile); !html.empty()) {
    report::html::Documents documents;
    const std::string all = analysis_json(analysis, context, true);
    documents.add("guidelines", all);
    write(html, report::html::page("Performance guidelines", documents));
  }
  if (!words.profiles.empty()) write_profiles(words.profiles, analysis);
}

int check(const CheckWords& words) {
  const analyses::JudgedGuidelines judged = done_or_fail(
      [&] { return analyses::judge_guidelines(options_of(words)); }, ExitCode::kNoInput, "nothing is judged");
  if (!judged.coverage.empty()) to_stderr("recording: {}\n", judged.coverage);
  const guidelines::Context context{words.options.source, judged.gains ? &*judged.gains : nullptr, words.all};
  fmt::print("{}", analysis_text(*judged.analysis, context));
  write_results(words, *judged.analysis, context);
  return words.fail_on_violation && judged.violated() ? kViolated : static_cast<int>(ExitCode::kOk);
}

template <class Map>
std::vector<std::string> names_of(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

void declare_judging(CLI::App& verb, CheckWords& words) {
  verb.add_option("--alpha", words.options.judging.alpha,
                  "Violated where the corrected p is at most this [0.05]")
      ->check(CLI::Range(1e-6, 0.5))
      ->type_name("P");
  verb.add_option("--least-ratio", words.options.judging.least_ratio,
                  "Slowdowns up to this factor are no violations; also the split rule's tolerance [1.05]")
      ->check(CLI::Range(1.0, 1000.0))
      ->type_name("FACTOR");
  verb.add_option("--test", words.method,
                  "rank-sum (exact up to 60 values), rank-sum-normal (as PGMPI), ks, or signed-rank "
                  "(pairs of one mpirun) [rank-sum]")
      ->check(CLI::IsMember(names_of(kMethods)))
      ->type_name("TEST");
  verb.add_option("--correction", words.correction,
                  "For many tests: bh or by (false discovery rate), holm (any false one), none [bh]")
      ->check(CLI::IsMember(names_of(kCorrections)))
      ->type_name("NAME");
  verb.add_flag("--legacy-split", words.legacy_split, "Split rule as PGMPI 1.0.0 computes it: factor 2.05");
  verb.add_flag("--without-copies", words.options.judging.without_copies,
                "Count no local copies of the mock-ups");
  verb.add_flag("--no-filter", words.no_filter, "Keep outliers among the repetitions (no Tukey filter)");
}

void declare(CLI::App& verb, CheckWords& words) {
  verb.add_option("source", words.options.source, "Folder of measurements, or one file")
      ->type_name("DIR|FILE")
      ->required();
  declare_catalogue(verb, words.options.catalogue);
  declare_judging(verb, words);
  verb.add_option("--processes", words.options.processes, "Number of processes, of files that don't say it")
      ->check(CLI::PositiveNumber)
      ->type_name("P");
  verb.add_option("--application", words.options.application,
                  "Weigh the violations by this program's own calls")
      ->type_name("DIR|RECORDING");
  verb.add_flag(
      "--fail-on-violation", words.fail_on_violation,
      "Exit code 1 if a pattern or monotony guideline is violated, or a split violation is confirmed");
  verb.add_flag("--all", words.all, "Also show guidelines that are violated at no size");
  verb.add_option("--json", words.json, "Where violations.json goes [the folder of measurements]")
      ->type_name("FILE");
  verb.add_option("--html", words.html, "Where guidelines.html goes [the folder of measurements]")
      ->type_name("FILE");
  verb.add_option("--profiles", words.profiles, "Also write profiles for PGMPITuneLib to this folder")
      ->type_name("DIR");
}

}  // namespace

void add_guidelines_check(CLI::App& guidelines, const Registration& registration) {
  const auto words = std::make_shared<CheckWords>();
  CLI::App* verb = guidelines.add_subcommand("check", "Judge what was measured, here or elsewhere");
  declare(*verb, *words);
  set_manual(*verb, {"nplus1 guidelines check DIR|FILE [options]", kGuidelinesCheckExamples});
  verb->callback([registration, words] { registration.chosen = [words] { return check(*words); }; });
}

}  // namespace nplus1::cli
