// `nplus1 whatif`: the recorded program under a hypothesis, next to what it was.
#include "cli/whatif/whatif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "analyses/compare.hpp"
#include "analyses/overlap.hpp"
#include "cli/fail_if.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/replay/host_speed.hpp"
#include "cli/replay/results.hpp"
#include "cli/verbs.hpp"
#include "hypothesis/transform/step.hpp"
#include "hypothesis/whatif/text.hpp"
#include "support/number_of.hpp"

namespace nplus1::cli {
namespace {

using hypothesis::transform::Step;

constexpr const char* kNothingTried = "nothing was tried, nothing is written";

constexpr const char* kWhatifExamples =
    "  nplus1 whatif DIR --scale 'region=solve,factor=0.5'    this region twice as fast\n"
    "  nplus1 whatif DIR --balance 'before=halo.c:58'         this computing shared evenly by the ranks\n"
    "  nplus1 whatif DIR --replace 'tag=7,with=bcast'         these messages as MPI_Bcast\n"
    "  nplus1 whatif DIR --finding 1                          the first that nplus1 collectives lists, by "
    "the library\n"
    "  nplus1 whatif DIR --network lsb:latency=1us,bandwidth=100GBps -o faster\n"
    "  nplus1 whatif DIR --platform P.xml --link '*=x2'       on this platform, with all links twice as "
    "fast\n"
    "  nplus1 whatif DIR --hypothesis plan.toml --fail-if 'parallel_efficiency<0.8'\n"
    "  nplus1 whatif DIR --sweep                              what to fix first\n";

/// The hypothesis of files and command line together; the command line comes last, and its network counts.
hypothesis::transform::Hypothesis hypothesis_of(const WhatIfWords& words) {
  hypothesis::transform::Hypothesis all;
  for (const std::string& file : words.replay.transformations.files) {
    auto read = or_fail(hypothesis::transform::read_hypothesis(file), ExitCode::kUsage, kNothingTried);
    for (Step& step : read.steps) all.steps.push_back(std::move(step));
    for (auto field : {&decltype(read)::network, &decltype(read)::storage, &decltype(read)::collectives,
                       &decltype(read)::eager, &decltype(read)::platform, &decltype(read)::map})
      if (read.*field) all.*field = read.*field;
  }
  for (const auto& [verb, text] : words.replay.transformations.steps)
    all.steps.push_back(
        or_fail(hypothesis::transform::parse_step(verb, text, "--" + verb), ExitCode::kUsage, kNothingTried));
  const auto override_by = [](std::optional<std::string>& field, const std::string& word) {
    if (!word.empty()) field = word;
  };
  override_by(all.network, words.replay.network);
  override_by(all.storage, words.replay.storage);
  override_by(all.collectives, words.replay.collectives);
  override_by(all.eager, words.eager);
  override_by(all.platform, words.replay.platform.platform);
  override_by(all.map, words.replay.platform.map);
  return all;
}

analyses::WhatIf what_of(const WhatIfWords& words) {
  analyses::WhatIf what;
  what.replay = words.replay;
  what.hypothesis = hypothesis_of(words);
  what.overlap = words.overlap;
  what.findings = words.findings;
  what.deterministic = words.deterministic;
  what.timelines = !words.replay.output.empty() || !words.replay.html.empty();
  what.reenactment_deviation = words.reenactment_deviation;
  return what;
}

std::string text(const analyses::Comparison& c) {
  std::string text = fmt::format("{} on {}: what if\n", c.application.empty() ? "The program" : c.application,
                                 number_of(c.before.ranks, "rank"));
  for (const std::string& line : c.hypothesis) text += "  " + line + "\n";
  text += "\n" + hypothesis::comparison_text(c.before, c.after, "before", "after");
  text += "\nHow far to believe it\n";
  if (c.before.trust == c.after.trust) return text + "  " + c.before.trust + "\n";
  return text + "  before: " + c.before.trust + "\n  after:  " + c.after.trust + "\n";
}

/// Of a part of the recording: that it is one, and whether the changed program comes as far.
std::string part_text(const analyses::Comparison& c) {
  constexpr double kEnough = 0.999;
  if (c.before_trust.left_out == 0) return {};
  std::string text = "\n" + left_out_text(c.before_trust.rows, c.before_trust.left_out);
  if (static_cast<double>(c.after_trust.calls_ended) <
      kEnough * static_cast<double>(c.before_trust.calls_ended))
    text += "Changed, the program does not come as far as this part goes: the times cannot be compared\n";
  return text;
}

int whatif(const WhatIfWords& words) {
  const auto conditions = conditions_of(words.fail_if);
  if (words.sweep) return sweep_hypotheses(words);
  const auto compared = or_fail(analyses::compare(what_of(words)), ExitCode::kNoInput, kNothingTried);
  report::html::Documents documents;
  documents.add("whatif", compared.json);
  documents.add("timeline", compared.before_timeline);
  documents.add("after", compared.after_timeline);
  write_results(words.replay, kWhatIfFile, compared.json, documents);
  fmt::print("{}{}", text(compared), part_text(compared));
  return judge(conditions, compared.after);
}

/// A sweep tries each change alone on the run as it was recorded: what else was asked for would have no part in it.
void refuse_beside_a_sweep(const CLI::App& verb) {
  constexpr std::string_view kOfASweep[] = {"--sweep",  "--deterministic", "--events",   "--jobs",
                                            "--output", "--json",          "--html",     "--quiet",
                                            "--config", "--fail-if",       "--deviation"};
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || option->get_positional() ||
        std::ranges::find(kOfASweep, name) != std::end(kOfASweep))
      continue;
    throw Failure{
        ExitCode::kUsage,
        "--sweep tries each change alone on the run as it was recorded, and " + name +
            " would have no part in it",
        kNothingTried,
        "leave out one of the two; what to fix on another network: nplus1 replay DIR --network SPEC -o THERE "
        "--record, then nplus1 whatif THERE --sweep"};
  }
}

void declare(CLI::App& verb, WhatIfWords& words) {
  verb.add_option("source", words.replay.source, "Result folder of a run, or a recording")
      ->type_name("DIR|RECORDING")
      ->required();
  declare_transformations(verb, words.replay.transformations, "");
  verb.add_option("--overlap", words.overlap,
                  "This chain of nplus1 overlap non-blocking: its number, and after a colon grouped, merged, "
                  "per_request or one_wait [grouped]; may be repeated")
      ->type_name("CHAIN")
      ->expected(1)
      ->take_all();
  verb.add_option("--finding", words.findings,
                  "The N-th of what nplus1 collectives lists, done by the library; may be repeated")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->expected(1)
      ->take_all();
  declare_network(verb, words.replay);
  verb.add_option("--eager", words.eager, "Messages up to this size do not wait for their receive")
      ->type_name("SIZE");
  verb.add_option("--compute-scale", words.replay.compute_scale,
                  "All compute times are the recorded ones times this")
      ->check(CLI::PositiveNumber)
      ->type_name("FACTOR");
  verb.add_flag("--deterministic", words.deterministic,
                "Who is first (any source, Waitany, tests) stays as recorded [follows the replay]");
  verb.add_flag("--sweep", words.sweep,
                "Try what there is to try, and rank it by the time that it would save");
  verb.add_option(
          "--events", words.most_rows,
          fmt::format("Look at the first so many events and matches of the recording; 0: at all [with "
                      "--sweep or --overlap {}]",
                      analyses::kOverlapRows))
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  declare_results(verb, words.replay, kWhatIfFile);
  verb.add_option("--deviation", words.reenactment_deviation,
                  "Deviation of a re-enactment, as nplus1 replay --reenact found it: for the line of trust")
      ->type_name("SHARE");
  declare_fail_if(verb, words.fail_if);
}

}  // namespace

void add_whatif(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "whatif", "Show what a recorded program would gain if some of it were different");
  set_manual(*verb, {"nplus1 whatif DIR|RECORDING [what should be different] [options]", kWhatifExamples});
  const auto words = std::make_shared<WhatIfWords>();
  declare(*verb, *words);
  verb->callback([registration, words, verb] {
    collect_transformations(*verb, words->replay.transformations);
    registration.chosen = [words, verb] {
      if (words->sweep) refuse_beside_a_sweep(*verb);
      apply_host_speed(words->replay);
      const bool bounded = words->sweep || !words->overlap.empty();
      words->replay.most_rows = words->most_rows.value_or(bounded ? analyses::kOverlapRows : 0);
      return whatif(*words);
    };
  });
}

}  // namespace nplus1::cli
