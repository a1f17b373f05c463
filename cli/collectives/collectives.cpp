// `nplus1 collectives`: hand-written collective operations in a recording, and what to call instead.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "analyses/collectives.hpp"
#include "analyses/patterns.hpp"
#include "analyses/trust.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "cli/replay/replay.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "detector/findings.hpp"
#include "patterns/patterns_json.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kCollectivesExamples =
    "  nplus1 run -n 16 --record full -- ./app\n"
    "  nplus1 collectives nplus1-app-16-1                         the list, the most certain first\n"
    "  nplus1 collectives nplus1-app-16-1 --json collectives.json  for other programs\n"
    "  nplus1 collectives nplus1-app-16-1 --price                 what replacing each would save, the most "
    "first\n"
    "  nplus1 collectives nplus1-app-16-1 --network lsb:latency=2us,bandwidth=10GB/s   the same elsewhere\n"
    "  nplus1 collectives nplus1-app-16-1 --analysers 8           by 8 processes\n";

struct CollectivesWords {
  ReplayWords replay;  // source, network, collectives
  std::string json;
  std::string html;
  bool all = false;  // what is only possible in full, too
  std::string method = "default";
  int analysers = 1;
  bool price = false;
};

/// The same list, in the report.
void write_report(const CollectivesWords& words, const std::string& json) {
  constexpr const char* kNoReport = "no report was written";
  const auto source = or_fail(analyses::load_patterns(words.replay.source), ExitCode::kNoInput, kNoReport);
  const std::string patterns = patterns::patterns_json(source.patterns);
  report::html::Documents documents;
  documents.add("patterns", patterns);
  documents.add("collectives", json);
  or_fail(report::html::write_report(words.html, source.patterns.application, documents),
          ExitCode::kCantCreate, kNoReport);
}

int show(const CollectivesWords& words) {
  const ReplayWords& replay = words.replay;
  const bool price = words.price || !replay.network.empty() || !replay.platform.platform.empty() ||
                     !replay.collectives.empty();
  analyses::CollectivesOptions options;
  options.source = replay.source;
  options.method =
      words.method == "paper" ? analyses::SearchMethod::kPaper : analyses::SearchMethod::kDefault;
  options.analysers = words.analysers;
  options.keep = price ? detector::Keep::kAll : detector::Keep::kFirst;
  options.of_recording = words.price || !words.html.empty();
  if (price && options.method == analyses::SearchMethod::kPaper)
    throw Failure{ExitCode::kUsage, "the paper's method gives no prices", kNothingShown,
                  "leave out --method, or --price, --network, --platform and --collectives"};
  auto search = or_fail(analyses::find_collectives(options), ExitCode::kNoInput, kNothingShown);
  auto& analysis = search.analysis;
  for (const std::string& sentence : search.lacks) to_stderr("nplus1: {}\n", sentence);
  if (!analysis.damage.empty()) to_stderr("recording: {}\n", analysis.damage);
  if (price)
    analysis.findings =
        or_fail(analyses::price(std::move(analysis.findings), replay, progress_of("replays", replay.quiet)),
                ExitCode::kNoInput, "nothing was priced");
  const std::string json = detector::collectives_json(analysis.findings);
  if (!words.json.empty())
    or_fail(report::write_file(words.json, json), ExitCode::kCantCreate, kNothingShown);
  if (!words.html.empty()) write_report(words, json);
  fmt::print("{}", detector::collectives_text(
                       analysis.findings, words.all ? detector::Detail::kAll : detector::Detail::kSummary));
  const std::string note = detector::coverage_note(analysis.messages, analysis.unknown, analysis.unmatched);
  fmt::print("{}", analyses::run_trust_text(analyses::run_trust(replay.source)));
  if (!note.empty()) to_stderr("{}\n", note);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_collectives(const Registration& registration) {
  auto words = std::make_shared<CollectivesWords>();
  CLI::App* verb = registration.app.add_subcommand("collectives",
                                                   "Find hand-written collective operations in a recording");
  verb->add_option("source", words->replay.source, "A recording, or the result folder it is in")
      ->type_name("DIR|RECORDING")
      ->required();
  verb->add_option("--json", words->json, "Also write the list to this file")->type_name("FILE");
  verb->add_flag("--all", words->all, "Show what is only possible in full, too");
  verb->add_flag("-q,--quiet", words->replay.quiet, "No progress on stderr");
  verb->add_option("--html", words->html, "Also write a report with a drawing of each")->type_name("FILE");
  verb->add_option("--method", words->method, "Search as Calotoiu et al. (2012) do, for comparison [default]")
      ->check(CLI::IsMember({"default", "paper"}))
      ->type_name("default|paper");
  verb->add_option("--analysers", words->analysers, "Processes that search, under mpirun [1: without MPI]")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("Q");
  verb->add_flag(
      "--price", words->price,
      "Replay each as the library's operation: what that saves, on the recorded network or on the one "
      "that is given");
  declare_network(*verb, words->replay);
  set_manual(*verb, {"nplus1 collectives DIR|RECORDING [options]", kCollectivesExamples});
  verb->callback([registration, words] { registration.chosen = [words] { return show(*words); }; });
}

}  // namespace nplus1::cli
