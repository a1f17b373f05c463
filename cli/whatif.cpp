// `nplus1 whatif`: the recorded program under a hypothesis, next to what it was.
#include "cli/whatif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/clock.hpp"
#include "cli/collectives.hpp"
#include "cli/fail_if.hpp"
#include "cli/failure.hpp"
#include "cli/host_speed.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "hypothesis/children.hpp"
#include "hypothesis/side.hpp"
#include "hypothesis/sweep.hpp"
#include "hypothesis/whatif_text.hpp"
#include "netmodel/quantity.hpp"
#include "report/json_object.hpp"

namespace nplus1::cli {
namespace {

using events::recording::Reader;
using hypothesis::Side;
using hypothesis::transform::Chain;
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
    for (auto field : {&decltype(read)::network, &decltype(read)::collectives, &decltype(read)::eager,
                       &decltype(read)::platform, &decltype(read)::map})
      if (read.*field) all.*field = read.*field;
  }
  for (const auto& [verb, text] : words.replay.transformations.steps)
    all.steps.push_back(
        or_fail(hypothesis::transform::parse_step(verb, text, "--" + verb), ExitCode::kUsage, kNothingTried));
  const auto override_by = [](std::optional<std::string>& field, const std::string& word) {
    if (!word.empty()) field = word;
  };
  override_by(all.network, words.replay.network);
  override_by(all.collectives, words.replay.collectives);
  override_by(all.eager, words.eager);
  override_by(all.platform, words.replay.platform.platform);
  override_by(all.map, words.replay.platform.map);
  return all;
}

/// The network with another eager threshold.
std::string with_eager(const std::string& network, const std::string& size) {
  const auto bytes = netmodel::parse_quantity(size, netmodel::Quantity::kSize);
  if (!bytes)
    throw Failure{ExitCode::kUsage, "--eager: " + bytes.error().what, kNothingTried, bytes.error().remedy};
  const bool lsb = network.rfind("lsb", 0) == 0;
  if (!lsb && network.rfind("loggops", 0) != 0)
    throw Failure{ExitCode::kUsage, "--eager: the network '" + network + "' has no such key", kNothingTried,
                  "use --network lsb or loggops; for a platform, --simgrid smpi/async-small-thresh:SIZE"};
  return hypothesis::network_at(network, {{lsb ? "eager" : "S", {}}}, {bytes.value()});
}

struct Prepared {
  WhatIfCase before, after;
  std::vector<std::string> hypothesis;  // in words
  std::string application;
};

/// Adds what was asked for of the detector's list.
void add_findings(const WhatIfWords& words, Prepared& p) {
  if (words.findings.empty()) return;
  CollectivesWords search;
  search.replay.source = with_warm_clock(words.replay.source);
  const auto found = search_recording(search, detector::Keep::kAll).findings;
  for (const std::size_t place : words.findings) {
    if (place > found.size())
      throw Failure{ExitCode::kUsage,
                    fmt::format("--finding {}: {} hand-written collectives were found", place, found.size()),
                    kNothingTried, "nplus1 collectives lists them; the first is 1"};
    const ByHand instances = or_fail(by_hand(found[place - 1]), ExitCode::kUsage, kNothingTried);
    p.after.by_hand.insert(p.after.by_hand.end(), instances.begin(), instances.end());
    p.hypothesis.push_back(title(found[place - 1]));
  }
}

Prepared prepare(const WhatIfWords& words) {
  Reader reader = or_fail(Reader::open(words.replay.source), ExitCode::kNoInput, kNothingTried);
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  const int ranks = reader.header().ranks;
  const auto wanted = hypothesis_of(words);
  Prepared p;
  p.application = recorded.application;
  p.before.deterministic = p.after.deterministic = words.deterministic;
  p.before.replay.source = with_warm_clock(words.replay.source);
  p.after.replay = words.replay;
  p.after.replay.source = p.before.replay.source;
  p.after.replay.network = wanted.network.value_or("");
  p.after.replay.collectives = wanted.collectives.value_or("");
  p.after.replay.platform.platform = wanted.platform.value_or("");
  p.after.replay.platform.map = wanted.map.value_or("");
  p.after.steps = wanted.steps;
  if (wanted.eager)
    p.after.replay.network = with_eager(wanted.network.value_or(recorded.network), *wanted.eager);
  // A recording that came from elsewhere says nothing of its network: then both are on the one named.
  if (recorded.network.empty()) p.before.replay = p.after.replay;
  for (const WhatIfCase* c : {&p.before, &p.after}) check_network(c->replay, recorded, ranks);
  for (const Step& step : p.after.steps) p.hypothesis.push_back(step.text());
  add_findings(words, p);
  p.after.overlap = words.overlap;
  for (const std::string& chain : words.overlap) p.hypothesis.push_back("chain " + chain + " non-blocking");
  const auto add = [&p](const char* what, const std::string& value) {
    if (!value.empty()) p.hypothesis.push_back(what + value);
  };
  add("network ", p.after.replay.network);
  add("platform ", p.after.replay.platform.platform);
  add("map ", p.after.replay.platform.map);
  add("link ", p.after.replay.platform.links);
  add("jitter ", p.after.replay.platform.jitter);
  add("collectives ", p.after.replay.collectives);
  if (p.hypothesis.empty() && p.after.replay.compute_scale == 1)
    throw Failure{ExitCode::kUsage, "there is no hypothesis", kNothingTried,
                  "say what should be different (nplus1 whatif --help), or use --sweep"};
  return p;
}

/// Both sides, as JSON.
struct Outcome {
  std::string before, after;                    // with trust
  std::string before_timeline, after_timeline;  // empty if not wanted
};

std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

Outcome replay_both(const WhatIfWords& words, const Prepared& p, Chain& chain) {
  const hypothesis::RunTrust run = run_trust(words.replay.source);
  Chain nothing;
  const auto texts =
      or_fail(hypothesis::in_children(
                  2, jobs_of(words.replay),
                  [&](std::size_t i) -> Result<std::string> {
                    const auto analysis = analyse_case(i == 0 ? p.before : p.after, i == 0 ? nothing : chain,
                                                       !words.replay.output.empty());
                    if (!analysis) return analysis.error();
                    const auto& a = analysis.value();
                    return hypothesis::side_json(a) + '\0' +
                           hypothesis::trust_json(a, run, words.reenactment_deviation) + '\0' + a.timeline;
                  },
                  [](std::size_t) {}),
              ExitCode::kNoInput, kNothingTried);
  const auto before = parts(texts[0]);
  const auto after = parts(texts[1]);
  auto trust = nlohmann::ordered_json::parse(after[1]);
  trust["identity_error_s"] = nlohmann::json::parse(before[1])["identity_error_s"];
  return {hypothesis::with_member(before[0], "trust", before[1]),
          hypothesis::with_member(after[0], "trust", trust.dump(2)), before[2], after[2]};
}

std::string json(const WhatIfWords& words, const Prepared& p, const Outcome& outcome, const Side& before,
                 const Side& after) {
  report::JsonObject object;
  object.text("schema", kWhatIfSchema);
  object.text("recording", words.replay.source);
  object.text("application", p.application);
  object.list("hypothesis", p.hypothesis, report::JsonObject::quoted);
  object.real("saved_s", *before.metric("virtual_time_s") - *after.metric("virtual_time_s"));
  object.raw("before", with_interval(outcome.before, words.replay.source));
  object.raw("after", outcome.after);
  return object.document();
}

std::string text(const Prepared& p, const Side& before, const Side& after) {
  std::string text = fmt::format("{} on {} ranks: what if\n",
                                 p.application.empty() ? "The program" : p.application, before.ranks);
  for (const std::string& line : p.hypothesis) text += "  " + line + "\n";
  text += "\n" + hypothesis::comparison_text(before, after, "before", "after");
  text += "\nHow far to believe it\n";
  if (before.trust == after.trust) return text + "  " + before.trust + "\n";
  return text + "  before: " + before.trust + "\n  after:  " + after.trust + "\n";
}

int whatif(const WhatIfWords& words) {
  const auto conditions = conditions_of(words.fail_if);
  if (words.sweep) return sweep_hypotheses(words);
  const Prepared p = prepare(words);
  Chain chain = or_fail(build_chain(p.after), ExitCode::kUsage, kNothingTried);
  const Outcome outcome = replay_both(words, p, chain);
  const Side before =
      or_fail(hypothesis::parse_side(outcome.before, "before"), ExitCode::kSoftware, kNothingTried);
  const Side after =
      or_fail(hypothesis::parse_side(outcome.after, "after"), ExitCode::kSoftware, kNothingTried);
  const std::string document = json(words, p, outcome, before, after);
  report::html::Documents documents;
  documents.whatif = document;
  documents.timeline = outcome.before_timeline;
  documents.after = outcome.after_timeline;
  write_results(words.replay, kWhatIfFile, document, documents);
  fmt::print("{}", text(p, before, after));
  return judge(conditions, after);
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
    registration.chosen = [words] {
      apply_host_speed(words->replay);
      return whatif(*words);
    };
  });
}

}  // namespace nplus1::cli
