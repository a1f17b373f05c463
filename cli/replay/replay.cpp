// `nplus1 replay`: the recorded program on another network.
#include "cli/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "analyses/trust.hpp"
#include "cli/fail_if.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/replay/host_speed.hpp"
#include "cli/replay/results.hpp"
#include "cli/verbs.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/json_object.hpp"
#include "report/trust.hpp"
#include "support/number_of.hpp"
#include "support/time_sum.hpp"

namespace nplus1::cli {
namespace {

using hypothesis::Decisions;
using hypothesis::RankResult;
using hypothesis::ReplayResult;
using report::exact_seconds;

constexpr const char* kReplayExamples =
    "  nplus1 replay nplus1-app-16-1                        on its own network: must come out as it was\n"
    "  nplus1 replay DIR --network lsb:latency=1us,bandwidth=100GBps\n"
    "  nplus1 replay DIR --network loggops:L=2us,o=1us,G=1e-10 -o faster   a result folder as a run's\n"
    "  nplus1 replay DIR --platform platforms/torus.xml     with contention: messages share links\n"
    "  nplus1 replay DIR --compute-scale 0.5                processors twice as fast\n"
    "  nplus1 replay DIR --collectives bcast=chain          other algorithms\n"
    "  nplus1 replay DIR --reenact                          really, by MPI processes of this machine\n"
    "  nplus1 replay APP.goal --network loggops:L=2us,o=1us,g=1us,G=1ns   as LogGOPSim would\n"
    "  nplus1 replay DIR --sweep 'bandwidth=1e9..1e11 x10,latency=1us,5us' --html sweep.html\n";

constexpr std::size_t kMostRanksShown = 16;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// What came out otherwise than recorded.
std::string adaptation_text(const hypothesis::AdaptationCounts& counts) {
  std::string text;
  if (!counts.as_recorded())
    text += decisions_line(
        {counts.swapped, counts.predrawn, counts.other_message, counts.waited_tests, counts.left_out});
  if (counts.tests > 0)
    text += fmt::format("tests        {} recorded, {} now: {:.3g} for each of {} requests\n",
                        counts.recorded_tests, counts.tests, counts.tests_per_request(), counts.tested);
  if (counts.threaded_ranks > 0)
    text += fmt::format("threads      {} MPI from several: what they do does not adapt to who is first\n",
                        number_of(counts.threaded_ranks, "rank calls", "ranks call"));
  if (counts.gave_up > 0)
    text += fmt::format("gave up      {}: what the program would have done is not known\n",
                        number_of(counts.gave_up, "time"));
  return text;
}

/// Why it has not ended.
std::string not_ended_text(const ReplayResult& result, Decisions decisions) {
  if (result.blocked.empty())
    return "not ended    nobody waits: the recording stops before the program does\n";
  return fmt::format("not ended    {} of {} {} for what never comes{}\n", result.blocked.size(),
                     number_of(result.ranks.size(), "rank"), result.blocked.size() == 1 ? "waits" : "wait",
                     result.coverage.complete ? "" : ": it is not in the recording") +
         (decisions == Decisions::kRecorded ? ""
                                            : "             --decisions recorded keeps the recorded order\n");
}

/// How far the replay can be believed.
std::string trust_text(const ReplayResult& result, bool identity, Decisions decisions) {
  std::string text;
  if (identity) {
    const Duration error = result.largest_difference();
    text += error == Duration::zero()
                ? "identity     every rank ends exactly when it did in the recording\n"
                : fmt::format("identity     ranks end up to {} apart from the recording\n",
                              report::readable(error));
  }
  text += adaptation_text(result.adaptation);
  if (result.unexplained_share() > 0)
    text += fmt::format("as recorded  {} of the time is in calls that are not modelled\n",
                        percent(result.unexplained_share()));
  if (!result.coverage.complete) text += fmt::format("recording    {}\n", result.coverage.text());
  if (result.gaps > 0)
    text += fmt::format("recording    calls are missing in {}\n", number_of(result.gaps, "place"));
  if (result.state != simnode::engine::State::kFinished) text += not_ended_text(result, decisions);
  return text + report::doubts_text(hypothesis::trust_of(result), "this replay  ");
}

std::string ends_text(const std::vector<RankResult>& ranks) {
  if (ranks.size() > kMostRanksShown) {
    std::vector<Time> ends;
    for (const RankResult& rank : ranks) ends.push_back(rank.end);
    std::sort(ends.begin(), ends.end());
    const auto at = [&ends](std::size_t i) { return exact_seconds(ends[i].time_since_epoch()); };
    return fmt::format("ranks end    first {} s, median {} s, last {} s\n", at(0), at(ends.size() / 2),
                       at(ends.size() - 1));
  }
  std::string text = "rank               end, s       recorded, s\n";
  for (std::size_t r = 0; r < ranks.size(); ++r)
    text += fmt::format("{:4} {:>20} {:>17}\n", r, exact_seconds(ranks[r].end.time_since_epoch()),
                        exact_seconds(ranks[r].recorded_end.time_since_epoch()));
  return text;
}

std::string text(const ReplayWords& words, const analyses::Replayed& replayed) {
  const hypothesis::RecordedSettings& recorded = replayed.recorded;
  const ReplayResult& result = replayed.result;
  const Duration now = result.makespan().time_since_epoch();
  const Duration before = result.recorded_makespan().time_since_epoch();
  std::string text =
      fmt::format("{}: {} on {}, {}\n", words.source, recorded.application,
                  number_of(result.ranks.size(), "rank"), number_of(result.coverage.events, "event"));
  text += fmt::format("network      {}\n", replayed.network);
  if (!replayed.identity)
    text +=
        fmt::format("recorded on  {}\n", recorded.native ? "its own machine, natively" : recorded.network);
  text += fmt::format("virtual time {} s ({}), recorded {} s", exact_seconds(now), report::readable(now),
                      exact_seconds(before));
  if (now > Duration::zero() && now != before)
    text += fmt::format(": {:.3g} times as fast", seconds(before) / seconds(now));
  text += fmt::format("\ntime         {} computing, {} communicating\n", percent(result.compute_share()),
                      percent(result.communication_share()));
  return text + trust_text(result, replayed.identity, replayed.decisions) +
         analyses::run_trust_text(replayed.run, "the run      ") + ends_text(result.ranks);
}

const char* decisions_name(Decisions decisions) {
  switch (decisions) {
    case Decisions::kRecorded:
      return "recorded";
    case Decisions::kAdapted:
      return "adapted";
    case Decisions::kSimulated:
      break;
  }
  return "simulated";
}

std::string json(const ReplayWords& words, const analyses::Replayed& replayed) {
  const hypothesis::RecordedSettings& recorded = replayed.recorded;
  const ReplayResult& result = replayed.result;
  const hypothesis::RunTrust& run = replayed.run;
  report::JsonObject object;
  object.text("schema", "nplus1-replay/1");
  object.text("recording", words.source);
  object.text("application", recorded.application);
  object.text("network", replayed.network);
  object.text("recorded_network", recorded.network);
  object.real("compute_scale", words.compute_scale);
  object.text("decisions", decisions_name(replayed.decisions));
  const hypothesis::AdaptationCounts& adaptation = result.adaptation;
  object.number("swapped_completions", adaptation.swapped);
  object.number("early_completions", adaptation.predrawn);
  object.number("other_messages", adaptation.other_message);
  object.number("calls_left_out", adaptation.left_out);
  object.number("tests_that_waited", adaptation.waited_tests);
  object.number("recorded_tests", adaptation.recorded_tests);
  object.number("tests", adaptation.tests);
  object.number("tested_requests", adaptation.tested);
  object.number("gave_up", adaptation.gave_up);
  object.number("threaded_ranks", adaptation.threaded_ranks);
  object.raw("virtual_time_s", exact_seconds(result.makespan().time_since_epoch()));
  object.raw("recorded_virtual_time_s", exact_seconds(result.recorded_makespan().time_since_epoch()));
  object.real("compute_share", result.compute_share());
  object.real("communication_share", result.communication_share());
  object.real("unmodelled_share", result.unexplained_share());
  object.truth("identity", replayed.identity);
  object.raw("largest_difference_s", exact_seconds(result.largest_difference()));
  const auto end = [](Time RankResult::*which) {
    return [which](const RankResult& rank) { return exact_seconds((rank.*which).time_since_epoch()); };
  };
  object.list("rank_end_s", result.ranks, end(&RankResult::end));
  object.list("recorded_rank_end_s", result.ranks, end(&RankResult::recorded_end));
  object.number("events", result.coverage.events);
  object.number("missing", result.gaps);
  object.truth("finished", result.state == simnode::engine::State::kFinished);
  object.list("blocked_ranks", result.blocked, [](RankId rank) { return std::to_string(rank.value); });
  object.truth("relies_on_buffering", result.counters.relies_on_buffering > 0);
  object.raw("trust", report::trust_object(hypothesis::trust_of(result)));
  object.raw("run_trust", run.run ? report::trust_object(*run.run) : "null");
  object.text("coverage", result.coverage.text());
  return object.document();
}

/// What --fail-if can ask a replay.
const std::vector<std::string> kMetrics{"virtual_time_s",      "parallel_efficiency", "compute_share",
                                        "communication_share", "unmodelled_share",    "largest_difference_s"};

hypothesis::Side side_of(const ReplayResult& result) {
  TimeSum compute;
  for (const RankResult& rank : result.ranks) compute += rank.compute;
  const double end = seconds(result.makespan());
  hypothesis::Side side;
  side.metrics["virtual_time_s"] = end;
  if (end > 0)
    side.metrics["parallel_efficiency"] = compute.seconds() / static_cast<double>(result.ranks.size()) / end;
  side.metrics["compute_share"] = result.compute_share();
  side.metrics["communication_share"] = result.communication_share();
  side.metrics["unmodelled_share"] = result.unexplained_share();
  side.metrics["largest_difference_s"] = seconds(result.largest_difference());
  return side;
}

int reenact_recording(const ReplayWords& words) {
  const auto reader =
      or_fail(events::recording::Reader::open(words.source), ExitCode::kNoInput, kNothingReplayed);
  return reenact(words, hypothesis::recorded_settings(reader.properties()), reader.header().ranks);
}

int replay(const ReplayWords& words) {
  if (is_goal(words.source)) return replay_goal(words);
  const auto conditions = conditions_of(words.fail_if, kMetrics);
  if (words.reenact) return reenact_recording(words);
  if (!words.sweep.empty()) return sweep(words);
  std::optional<analyses::ReplayFolder> folder;
  if (!words.output.empty()) folder = {words.output, words.record};
  const auto replayed =
      or_fail(analyses::replay(settings_of(words), folder), ExitCode::kNoInput, kNothingReplayed);
  if (!words.json.empty())
    or_fail(report::write_file(words.json, json(words, replayed)), ExitCode::kCantCreate, kNothingReplayed);
  fmt::print("{}", text(words, replayed));
  return judge(conditions, side_of(replayed.result));
}

void check(const ReplayWords& words) {
  const auto usage = [](const char* cause, const char* next) {
    throw Failure{ExitCode::kUsage, cause, kNothingReplayed, next};
  };
  if (!words.platform.platform.empty() && !words.network.empty())
    usage("--network and --platform both name a network", "keep one of the two");
  const bool about_platform = !words.platform.model.empty() || !words.platform.map.empty() ||
                              !words.platform.settings.empty() || !words.platform.host_speed.empty();
  if (words.platform.platform.empty() && about_platform)
    usage("--model, --map, --simgrid and --host-speed need a platform", "add --platform FILE");
  if (!words.platform.platform.empty() && !words.sweep.empty())
    usage("a platform has no keys to sweep",
          "sweep with --network, or replay on one platform after the other");
  const bool simulates = !(words.platform.platform.empty() && words.network.empty() &&
                           words.storage.empty() && words.collectives.empty() && words.sweep.empty() &&
                           words.output.empty() && words.decisions_word.empty());
  if (words.reenact && simulates)
    usage("a re-enactment simulates nothing: the network is this machine's own",
          "leave out the options of simulated replays, or --reenact");
  if (!words.reenact && !(words.mpi_args.empty() && words.patience == 0))
    usage("--mpi-args and --patience are about re-enactments", "add --reenact");
  if (!words.reenact && !words.transformations.empty())
    usage("a simulated replay changes nothing but the network", "nplus1 whatif, or add --reenact");
  if (words.deterministic && !words.decisions_word.empty() && words.decisions_word != "recorded")
    usage("--deterministic means --decisions recorded", "keep one of the two");
  if (words.record && words.output.empty()) usage("--record needs a folder", "add -o DIR");
  if (!words.sweep.empty() && !words.output.empty())
    usage("a sweep leaves no result folder",
          "leave out -o; --csv, --json and --html write its table and plot");
  if (!words.sweep.empty() && !words.fail_if.empty())
    usage("--fail-if judges one replay", "leave it out, or look at the table with --csv");
  if (words.sweep.empty() && !(words.csv.empty() && words.html.empty()))
    usage("--csv and --html are the table and plot of a sweep", "add --sweep, or -o DIR for a report");
}

void declare(CLI::App& verb, ReplayWords& words) {
  verb.add_option("source", words.source,
                  "Result folder of a run, a recording, or a GOAL file (.goal), which LogGOPS simulates as "
                  "what it is")
      ->type_name("DIR|RECORDING")
      ->required();
  declare_network(verb, words);
  verb.add_option("--compute-scale", words.compute_scale,
                  "Compute times are the recorded ones times this [1]")
      ->check(CLI::PositiveNumber)
      ->type_name("FACTOR");
  verb.add_option(
          "--decisions", words.decisions_word,
          "Who is first (any source, Waitany, tests): as recorded; simulated anew; or adapted: anew, and "
          "what follows is done with what has completed [simulated where everything else is as "
          "recorded, else recorded]")
      ->check(CLI::IsMember({"recorded", "simulated", "adapted"}))
      ->type_name("WHICH");
  verb.add_flag("--deterministic", words.deterministic, "The same as --decisions recorded");
  verb.add_flag(
      "--reenact", words.reenact,
      "Perform the recording again: as many MPI processes as were recorded make its calls, and wait as "
      "long as it computed");
  verb.add_option(
          "--patience", words.patience,
          "A re-enactment's process that waits for so many seconds is stuck, and everything ends [10 s "
          "and three times the recorded makespan]")
      ->check(CLI::PositiveNumber)
      ->type_name("S");
  declare_transformations(verb, words.transformations, "Of re-enactments: ");
  verb.add_option("--mpi-args", words.mpi_args, "Options for mpirun of a re-enactment, e.g. \"-hosts a,b\"")
      ->type_name("WORDS");
  verb.add_option(
          "--sweep", words.sweep,
          "Replays for each value: KEY=VALUE, KEY=V,V,V or KEY=FROM..TO xPOINTS, several with commas: "
          "all combinations")
      ->type_name("RANGES");
  verb.add_option("-j,--jobs", words.jobs, "Replays of a sweep at the same time [as many as cores]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb.add_option("-o,--output", words.output, "New folder for the results, as of a run")->type_name("DIR");
  verb.add_flag("--record", words.record, "Record the replay in that folder, too");
  verb.add_option("--json", words.json, "Write the result to this file (replaces it)")->type_name("FILE");
  verb.add_option("--csv", words.csv, "Write the sweep's table to this file (replaces it)")
      ->type_name("FILE");
  verb.add_option("--html", words.html, "Write the sweep's plot to this file (replaces it)")
      ->type_name("FILE");
  verb.add_flag("-q,--quiet", words.quiet, "No progress on stderr");
  declare_fail_if(verb, words.fail_if);
}

}  // namespace

analyses::ReplaySettings settings_of(const ReplayWords& words) {
  analyses::ReplaySettings settings = words;
  for (const Decisions d : {Decisions::kSimulated, Decisions::kRecorded, Decisions::kAdapted})
    if (words.decisions_word == decisions_name(d)) settings.decisions = d;
  if (words.deterministic) settings.decisions = Decisions::kRecorded;
  return settings;
}

void declare_network(CLI::App& verb, ReplayWords& words) {
  netmodel::PlatformFlags& flags = words.platform;
  verb.add_option("--network", words.network, "The network, as in nplus1 run [the recorded one]")
      ->type_name("SPEC");
  verb.add_option("--storage", words.storage,
                  "What files lie on, as in nplus1 run [the recorded one], e.g. total=20GB/s,stripes=8")
      ->type_name("SPEC");
  verb.add_option("--platform", flags.platform, "A SimGrid platform instead of --network")->type_name("FILE");
  verb.add_option("--model", flags.model, "SimGrid's network model: SMPI (default), LV08, CM02, IB or ns-3")
      ->type_name("WHICH");
  verb.add_option("--map", flags.map, "Ranks on hosts, as in nplus1 run")->type_name("HOW");
  verb.add_option("--simgrid", flags.settings, "SimGrid's own configuration; may be repeated")
      ->type_name("KEY:VALUE")
      ->join(' ');
  verb.add_option(
          "--link", flags.links,
          "A link of the platform (the recorded one, if none is given) that is faster (NAME=x2), slower "
          "(NAME=x0.5), fails (NAME=off) or has traffic of others in bursts "
          "(NAME=bursts/SHARE/BURST/QUIET/SEED, e.g. bursts/0.5/1ms/10ms/7); NAME * is all of them; may be "
          "repeated")
      ->type_name("NAME=HOW")
      ->join(' ');
  verb.add_option(
          "--jitter", flags.jitter,
          "Latencies on the platform vary by chance: exponential, uniform or lognormal, the mean of what is "
          "added, and a seed, e.g. exponential/2us/7")
      ->type_name("KIND/MEAN/SEED");
  verb.add_option(
          "--host-speed", flags.host_speed,
          "Speed of the machine that was recorded, e.g. 2.5Gf, or its file of nplus1 calibrate --host: "
          "compute times are scaled to the platform's hosts. HERE:THERE[:KIND], two files (replay, whatif): "
          "to "
          "the host of the second")
      ->type_name("SPEED|FILE[:FILE]");
  verb.add_option("--collectives", words.collectives,
                  "Algorithms of the collectives, as in nplus1 run [the recorded ones]")
      ->type_name("SPEC");
}

void add_replay(const Registration& registration) {
  CLI::App* verb =
      registration.app.add_subcommand("replay", "Replay a recorded program on another network, or on many");
  set_manual(*verb, {"nplus1 replay DIR|RECORDING|FILE.goal [--network SPEC] [options]", kReplayExamples});
  const auto words = std::make_shared<ReplayWords>();
  declare(*verb, *words);
  verb->callback([registration, words, verb] {
    collect_transformations(*verb, words->transformations);
    registration.chosen = [words] {
      apply_host_speed(*words);
      check(*words);
      return replay(*words);
    };
  });
}

}  // namespace nplus1::cli
