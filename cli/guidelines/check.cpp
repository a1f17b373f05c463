// `nplus1 guidelines check`: judges measured run-times by the catalogue of performance guidelines.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <memory>

#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/program.hpp"
#include "events/recording/reader.hpp"
#include "guidelines/analysis.hpp"
#include "guidelines/application.hpp"
#include "guidelines/findings_output.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"

namespace nplus1::cli {
namespace {

namespace fs = std::filesystem;
namespace recording = events::recording;
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
  std::string source;
  CatalogueWords catalogue;
  guidelines::Judging judging;
  std::string method = "rank-sum";
  std::string correction = "bh";
  bool legacy_split = false;
  bool no_filter = false;
  int processes = 0;
  std::string application;
  std::string json;
  std::string html;
  std::string profiles;
  bool fail_on_violation = false;
  bool all = false;
};

guidelines::Judging judging_of(const CheckWords& words) {
  guidelines::Judging judging = words.judging;
  judging.method = kMethods.at(words.method);
  judging.correction = kCorrections.at(words.correction);
  judging.split_factor = words.legacy_split ? guidelines::kLegacySplitFactor : judging.least_ratio;
  return judging;
}

guidelines::ApplicationGains gains_of(const std::string& source, const Analysis& analysis) {
  auto reader = or_fail(recording::Reader::open(source), ExitCode::kNoInput, "nothing is judged");
  guidelines::CallCounter counter;
  const recording::Coverage coverage = or_fail(reader.read(counter), ExitCode::kNoInput, "nothing is judged");
  if (!coverage.complete) fmt::print(stderr, "recording: {}\n", coverage.text());
  return guidelines::gains_of(analysis, counter.calls());
}

void write(const fs::path& file, const std::string& text) {
  or_fail(report::write_file(file, text), ExitCode::kCantCreate, "nothing is judged");
  fmt::print(stderr, "wrote {}\n", file.string());
}

/// In the folder of the measurements, unless told otherwise; a single file's results are only printed.
fs::path place_of(const std::string& named, const CheckWords& words, const char* name) {
  if (!named.empty()) return named;
  return fs::is_directory(words.source) ? fs::path{words.source} / name : fs::path{};
}

void write_profiles(const fs::path& folder, const Analysis& analysis) {
  std::error_code error;
  fs::create_directories(folder, error);
  const auto profiles = guidelines::tuning_profiles(analysis);
  for (const guidelines::Profile& profile : profiles) write(folder / profile.file, profile.text);
  if (profiles.empty())
    fmt::print(stderr, "no violation is of a mock-up that PGMPITuneLib has: no profile\n");
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

/// Whether a CI job should fail for it. The split rule compares medians without a test: it has to be
/// confirmed.
bool stands(const guidelines::Comparison& c) {
  const bool tested = c.rule != guidelines::Rule::kSplit;
  return c.verdict == guidelines::Verdict::kViolated && c.confirmed.value_or(tested);
}

int check(const CheckWords& words) {
  const guidelines::Catalogue catalogue = catalogue_of(words.catalogue, words.source);
  const auto data = or_fail(guidelines::read_data(words.source, catalogue, !words.no_filter, words.processes),
                            ExitCode::kNoInput, "nothing is judged");
  const Analysis analysis = analyse(catalogue, data, judging_of(words));
  guidelines::Context context{words.source, nullptr, words.all};
  guidelines::ApplicationGains gains;
  if (!words.application.empty()) {
    gains = gains_of(words.application, analysis);
    context.application = &gains;
  }
  fmt::print("{}", analysis_text(analysis, context));
  write_results(words, analysis, context);
  const bool violated = std::any_of(analysis.comparisons.begin(), analysis.comparisons.end(), stands);
  return words.fail_on_violation && violated ? kViolated : static_cast<int>(ExitCode::kOk);
}

template <class Map>
std::vector<std::string> names_of(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

void declare_judging(CLI::App& verb, CheckWords& words) {
  verb.add_option("--alpha", words.judging.alpha, "Violated where the corrected p is at most this [0.05]")
      ->check(CLI::Range(1e-6, 0.5))
      ->type_name("P");
  verb.add_option("--least-ratio", words.judging.least_ratio,
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
  verb.add_flag("--without-copies", words.judging.without_copies, "Count no local copies of the mock-ups");
  verb.add_flag("--no-filter", words.no_filter, "Keep outliers among the repetitions (no Tukey filter)");
}

void declare(CLI::App& verb, CheckWords& words) {
  verb.add_option("source", words.source, "Folder of measurements, or one file")
      ->type_name("DIR|FILE")
      ->required();
  declare_catalogue(verb, words.catalogue);
  declare_judging(verb, words);
  verb.add_option("--processes", words.processes, "Number of processes, of files that don't say it")
      ->check(CLI::PositiveNumber)
      ->type_name("P");
  verb.add_option("--application", words.application, "Weigh the violations by this program's own calls")
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
