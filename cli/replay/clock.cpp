// `nplus1 clock`: the virtual time of a recorded run with warm caches, as twins of its ranks have measured.
#include "cli/replay/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "analyses/clock.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/replay/replay.hpp"
#include "cli/verbs.hpp"
#include "events/definitions_collector.hpp"
#include "hypothesis/clock/interval.hpp"
#include "hypothesis/clock/warm_clock.hpp"
#include "hypothesis/transform/what_exists.hpp"
#include "hypothesis/whatif/analysis.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/json_object.hpp"
#include "support/processes/children.hpp"
#include "support/shell.hpp"
#include "support/stopped.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

using hypothesis::clock::KindReport;
using hypothesis::clock::Stretches;
using report::exact_seconds;

constexpr const char* kNoClock = "no clock was corrected";
constexpr std::size_t kMostKinds = 12;
constexpr const char* kClockExamples =
    "  nplus1 run -n 16 --compute warm -- ./app     twins of the ranks measure what computing takes when it "
    "is warm\n"
    "  nplus1 clock DIR                             the virtual time without what this host's caches cost\n"
    "  nplus1 clock DIR -o warm --record            a result folder and a recording with that clock, for all "
    "else\n";

/// Replays with other samples, for the interval; none of a recording that is larger.
constexpr std::size_t kReplicates = 16;
constexpr std::uint64_t kMostReplicated = std::uint64_t{64} << 20U;
/// What a twin may be wrong by in all its stretches alike, as a share: mostly the core's speed, which changes by the minute
/// (docs/benchmarks.md has what it was calibrated on).
constexpr double kSystematic = 0.025;

/// The three ends of what is known of the run's time, and the interval that holds it in nine cases of ten.
struct Clocks {
  Duration measured{}, estimate{}, lowest{};
  Duration from{}, to{};
  Duration computing_measured{}, computing_warm{};  // of all ranks
  std::vector<KindReport> kinds;
  std::size_t samples = 0;
  int ranks = 0;
  bool finished = true;
};

Duration computing_of(const hypothesis::ReplayResult& result) {
  Duration sum{};
  for (const auto& rank : result.ranks) sum += rank.compute;
  return sum;
}

class ClockReplays {
 public:
  explicit ClockReplays(const ReplayWords& words)
      : words_{words},
        reader_{need(events::recording::Reader::open(words.source))},
        recorded_{hypothesis::recorded_settings(reader_.properties())},
        samples_{need(hypothesis::clock::samples_of(reader_.properties()))} {
    if (samples_.empty())
      throw Stopped{
          {words.source + " has no stretch that a twin has measured",
           "record the run with nplus1 run --compute warm (docs/clock.md says when twins are not possible)",
           Fault::kInput}};
  }

  Clocks run() {
    Clocks clocks;
    clocks.samples = samples_.size();
    clocks.ranks = reader_.header().ranks;
    const auto stretches = analyses::fitted_stretches(words_.source);
    const std::size_t replicates = reader_.bytes() > kMostReplicated ? 0 : kReplicates;
    const auto ends = need(processes::in_children(2 + replicates, {.jobs = analyses::jobs_of({})},
                                                  [&](std::size_t i) { return end_of(i, stretches); }));
    std::tie(clocks.measured, clocks.computing_measured) = ends[0];
    std::tie(clocks.lowest, std::ignore) = ends[1];
    clocks.lowest =
        from_seconds(seconds(clocks.lowest) * (1 - 1.645 * kSystematic));  // the shortest may be too long
    const auto best = replay(stretches, words_.output.empty() ? nullptr : &words_);
    clocks.estimate = best.makespan().time_since_epoch();
    clocks.computing_warm = computing_of(best);
    clocks.kinds = stretches->report();
    std::vector<double> others;
    for (std::size_t i = 2; i < ends.size(); ++i) others.push_back(seconds(ends[i].first));
    std::tie(clocks.from, clocks.to) = interval(clocks, others);
    clocks.finished = best.state == simnode::engine::State::kFinished;
    return clocks;
  }

 private:
  static std::pair<Duration, Duration> interval(const Clocks& clocks, const std::vector<double>& others) {
    if (others.empty()) return {clocks.lowest, clocks.measured};
    const auto around = hypothesis::clock::interval(seconds(clocks.estimate), others, kSystematic);
    return {std::clamp(from_seconds(around.from), clocks.lowest, clocks.estimate),
            std::clamp(from_seconds(around.to), clocks.estimate, clocks.measured)};
  }

  /// Makespan and computing, in a process of its own: SimGrid allows one simulation per process. 0: as measured, 1: at
  /// least, then replicates.
  Result<std::pair<Duration, Duration>> end_of(std::size_t which,
                                               const std::shared_ptr<Stretches>& stretches) {
    reader_ = need(events::recording::Reader::open(words_.source));
    if (which > 1) stretches->replicate(static_cast<std::uint32_t>(which - 1));
    const auto result = replay(which == 0 ? nullptr : stretches, nullptr,
                               which == 1 ? Stretches::Estimate::kLowest : Stretches::Estimate::kBest);
    return std::pair{result.makespan().time_since_epoch(), computing_of(result)};
  }

  hypothesis::ReplayResult replay(const std::shared_ptr<Stretches>& stretches, const ReplayWords* folder,
                                  Stretches::Estimate estimate = Stretches::Estimate::kBest) {
    const auto prepared = analyses::prepare_replay(words_, recorded_, reader_.header().ranks);
    hypothesis::transform::Chain chain;
    if (stretches) {
      need(chain.add(std::make_unique<hypothesis::clock::WarmClock>(stretches, estimate),
                     analyses::play_recording(words_.source)));
      prepared->options.hypothesis = &chain;
      prepared->options.decisions = hypothesis::Decisions::kAdapted;
      prepared->compute = "warm";
    }
    return folder == nullptr ? need(hypothesis::replay(reader_, prepared->options))
                             : analyses::replay_into_folder(words_, {folder->output, folder->record},
                                                            recorded_, *prepared, reader_);
  }

  const ReplayWords& words_;
  events::recording::Reader reader_;
  hypothesis::RecordedSettings recorded_;
  std::vector<hypothesis::clock::Sample> samples_;
};

events::DefinitionsCollector names_of(const std::string& source) {
  events::DefinitionsCollector names;
  or_fail(analyses::play_recording(source)(names, true), ExitCode::kNoInput, kNoClock);
  return names;
}

std::string three_times(const Clocks& clocks) {
  std::string text;
  const auto line = [&](const char* what, Duration time, const char* meaning) {
    text += fmt::format("{:<15}{} s ({}){}\n", what, exact_seconds(time), report::readable(time), meaning);
  };
  line("virtual time", clocks.estimate, ", with warm caches");
  text +=
      fmt::format("  90 %         {} to {}\n", report::readable(clocks.from), report::readable(clocks.to));
  line("  at least", clocks.lowest,
       ": each stretch as short as the shortest of its kind that a twin measured");
  line("  as measured", clocks.measured, ": with what this host's caches cost");
  return text;
}

std::string text(const ReplayWords& words, const Clocks& clocks, const events::DefinitionsCollector& names) {
  std::string text = fmt::format("{}: {} ranks, {} stretches of computing measured by twins\n", words.source,
                                 clocks.ranks, clocks.samples);
  text += three_times(clocks);
  text += fmt::format("computing      {} of all ranks, as measured {}\n",
                      report::readable(clocks.computing_warm), report::readable(clocks.computing_measured));
  if (!clocks.finished) text += "not ended    with this clock some ranks wait for what never comes\n";
  text += "\nWhere the host added most, seconds of all ranks\n";
  text += fmt::format("{:>12} {:>12} {:>9} {:>8}  {:<11} {}\n", "as measured", "warm", "times", "twins",
                      "told by", "computing between");
  for (std::size_t i = 0; i < std::min(kMostKinds, clocks.kinds.size()); ++i) {
    const KindReport& k = clocks.kinds[i];
    const auto place = [&](std::uint32_t path) {
      return path == 0 ? std::string{"the beginning"} : hypothesis::transform::place_of_path(path, names);
    };
    text += fmt::format("{:>12.6f} {:>12.6f} {:>9} {:>8}  {:<11} {} and {}{}\n", 1e-12 * k.recorded_ps,
                        1e-12 * k.warm_ps, k.count, k.samples, hypothesis::clock::name(k.model),
                        place(k.kind.after), place(k.kind.before),
                        k.kind.size > 0 ? fmt::format(" ({} bytes)", k.kind.size) : std::string{});
  }
  return text;
}

std::string json(const ReplayWords& words, const Clocks& clocks, const events::DefinitionsCollector& names) {
  report::JsonObject object;
  object.text("schema", "nplus1-clock/1");
  object.text("recording", words.source);
  object.raw("virtual_time_s", exact_seconds(clocks.estimate));
  object.raw("from_s", exact_seconds(clocks.from));
  object.raw("to_s", exact_seconds(clocks.to));
  object.raw("lowest_s", exact_seconds(clocks.lowest));
  object.raw("measured_s", exact_seconds(clocks.measured));
  object.raw("computing_s", exact_seconds(clocks.computing_warm));
  object.raw("computing_measured_s", exact_seconds(clocks.computing_measured));
  object.number("samples", clocks.samples);
  object.truth("finished", clocks.finished);
  object.list("kinds", clocks.kinds, [&](const KindReport& k) {
    report::JsonObject kind;
    kind.text("after", k.kind.after == 0 ? "" : hypothesis::transform::place_of_path(k.kind.after, names));
    kind.text("before", hypothesis::transform::place_of_path(k.kind.before, names));
    kind.real("size", static_cast<double>(k.kind.size));
    kind.number("count", k.count);
    kind.number("samples", k.samples);
    kind.text("model", hypothesis::clock::name(k.model));
    kind.real("measured_s", 1e-12 * k.recorded_ps);
    kind.real("warm_s", 1e-12 * k.warm_ps);
    kind.real("spread", k.spread);
    return kind.inner();
  });
  return object.document();
}

/// The folder's summary was written before the interval was known.
void add_interval_to_summary(const fs::path& summary, const std::string& folder) {
  std::ifstream in{summary, std::ios::binary};
  if (!in) return;
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  report::JsonObject last;
  analyses::add_interval(last, folder);
  const std::string member = last.document();  // "{\n  ...\n}\n"
  const std::size_t end = text.rfind("\n}");
  constexpr std::size_t kBrace = 2;
  if (end == text.npos || member.size() <= 2 * kBrace + 1) return;
  text.replace(end, kBrace, ",\n" + member.substr(kBrace, member.size() - kBrace - 1));
  or_fail(report::write_file(summary, text), ExitCode::kCantCreate,
          "the summary lacks the interval of its virtual time");
}

int clock(const ReplayWords& words) {
  if (words.record && words.output.empty())
    throw Failure{ExitCode::kUsage, "--record needs a folder", kNoClock, "add -o DIR"};
  const Clocks clocks =
      or_fail(attempt([&] { return ClockReplays{words}.run(); }), ExitCode::kNoInput, kNoClock);
  const auto names = names_of(words.source);
  if (!words.json.empty())
    or_fail(report::write_file(words.json, json(words, clocks, names)), ExitCode::kCantCreate, kNoClock);
  fmt::print("{}", text(words, clocks, names));
  return 0;
}

}  // namespace

std::string clock_lines(const std::string& folder) {
  ReplayWords words;
  words.source = folder;
  words.output = (std::filesystem::path{folder} / analyses::kWarmFolder).string();
  words.record = true;
  const Clocks clocks =
      or_fail(attempt([&] { return ClockReplays{words}.run(); }), ExitCode::kNoInput, kNoClock);
  or_fail(report::write_file((fs::path{folder} / analyses::kClockFile).string(),
                             json(words, clocks, names_of(folder))),
          ExitCode::kCantCreate, "the clock's report is missing");
  add_interval_to_summary(fs::path{words.output} / "summary.json", words.output);
  return fmt::format(
      "With warm caches, from {} stretches that twins of the ranks measured (nplus1 clock {})\n{}",
      clocks.samples, quote(folder), three_times(clocks));
}

void add_clock(const Registration& registration) {
  CLI::App* verb =
      registration.app.add_subcommand("clock", "The run's virtual time without what this host's caches cost");
  set_manual(*verb, {"nplus1 clock DIR|RECORDING [--network SPEC] [options]", kClockExamples});
  const auto words = std::make_shared<ReplayWords>();
  verb->add_option("source", words->source, "Result folder of a run with --compute warm, or its recording")
      ->type_name("DIR|RECORDING")
      ->required();
  declare_network(*verb, *words);
  verb->add_option("-o,--output", words->output, "New folder for the results with that clock, as of a run")
      ->type_name("DIR");
  verb->add_flag("--record", words->record,
                 "Record them in that folder, too: for whatif, waitstates and all else");
  verb->add_option("--json", words->json, "Write the result to this file (replaces it)")->type_name("FILE");
  verb->callback([registration, words] { registration.chosen = [words] { return clock(*words); }; });
}

}  // namespace nplus1::cli
