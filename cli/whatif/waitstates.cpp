// `nplus1 waitstates`: where a recorded run waited, for whom, and why.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "analyses/patterns.hpp"
#include "analyses/trust.hpp"
#include "analyses/wait_states.hpp"
#include "cli/fail_if.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "hypothesis/waitstates/report.hpp"
#include "patterns/patterns_json.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kWaitstatesExamples =
    "  nplus1 waitstates nplus1-app-16-1            wait states, their causes, the critical path\n"
    "  nplus1 waitstates DIR --json waitstates.json  for other programs\n"
    "  nplus1 waitstates DIR --no-ideal              without the replay on an ideal network\n"
    "  nplus1 waitstates DIR --fail-if 'parallel_efficiency<0.8'   in a script: exit code 2\n";

struct Options {
  std::string source;
  std::string json;
  std::string html;
  std::vector<std::string> fail_if;
  bool no_ideal = false;
};

void write_page(const Options& options, const std::string& waitstates) {
  const auto source = or_fail(analyses::load_patterns(options.source), ExitCode::kNoInput, kNothingShown);
  const std::string patterns = patterns::patterns_json(source.patterns);
  report::html::Documents documents;
  documents.add("patterns", patterns);
  documents.add("waitstates", waitstates);
  or_fail(report::html::write_report(options.html, source.patterns.application, documents),
          ExitCode::kCantCreate, kNothingShown);
}

int show(const Options& options) {
  const auto conditions = conditions_of(options.fail_if);
  const auto search = or_fail(analyses::find_wait_states(options.source, !options.no_ideal),
                              ExitCode::kNoInput, kNothingShown);
  if (!options.json.empty())
    or_fail(report::write_file(options.json, search.json), ExitCode::kCantCreate, kNothingShown);
  if (!options.html.empty()) write_page(options, search.json);
  fmt::print("{}", hypothesis::wait_states_text(search.results, {report::unicode_locale()}));
  if (!search.results.coverage.empty()) fmt::print("\nrecording: {}\n", search.results.coverage);
  if (const std::string doubts = analyses::run_trust_text(search.run); !doubts.empty())
    fmt::print("\n{}", doubts);
  return judge(conditions, or_fail(hypothesis::parse_side(search.json, "the search"), ExitCode::kSoftware,
                                   kNothingShown));
}

}  // namespace

void add_waitstates(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "waitstates", "Show where a run waited, for whom, who caused it, and its critical path");
  set_manual(*verb, {"nplus1 waitstates DIR|RECORDING [options]", kWaitstatesExamples});
  const auto options = std::make_shared<Options>();
  verb->add_option("source", options->source, "Result folder of a run, or a recording")
      ->type_name("DIR|RECORDING")
      ->required();
  verb->add_option("--json", options->json, "Write everything to this file (replaces it)")->type_name("FILE");
  verb->add_option("--html", options->html,
                   "Write a report with these wait states to this file (replaces it)")
      ->type_name("FILE");
  verb->add_flag("--no-ideal", options->no_ideal,
                 "Leave out the replay on an ideal network, and with it two of the efficiencies");
  declare_fail_if(*verb, options->fail_if);
  verb->callback([registration, options] { registration.chosen = [options] { return show(*options); }; });
}

}  // namespace nplus1::cli
