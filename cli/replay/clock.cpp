// `nplus1 clock`: the virtual time of a recorded run with warm caches, as twins of its ranks have measured.
#include "cli/replay/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyses/clock_replays.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/replay/replay.hpp"
#include "cli/verbs.hpp"
#include "hypothesis/transform/what_exists.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "support/number_of.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

using hypothesis::clock::KindReport;
using report::exact_seconds;

constexpr const char* kNoClock = "no clock was corrected";
constexpr std::size_t kMostKinds = 12;
constexpr double kSpeedWorthSaying = 0.01;
constexpr const char* kClockExamples =
    "  nplus1 run -n 16 --compute warm -- ./app     twins of the ranks measure what computing takes when it "
    "is warm\n"
    "  nplus1 clock DIR                             the virtual time without what this host's caches cost\n"
    "  nplus1 clock DIR -o warm --record            a result folder and a recording with that clock, for all "
    "else\n"
    "  nplus1 clock A --with B                      with what another run of the program says of the host, "
    "too\n";

/// Of so wide an interval it is said what makes it narrower.
constexpr double kWide = 0.1;

std::string three_times(const analyses::WarmTimes& clocks, std::size_t other_runs) {
  std::string text;
  const auto line = [&](const char* what, Duration time, const char* meaning) {
    text += fmt::format("{:<15}{} s ({}){}\n", what, exact_seconds(time), report::readable(time), meaning);
  };
  if (!clocks.finished)
    text +=
        "not ended      with this clock some ranks wait for what never comes; take what was measured: what "
        "follows is of the time until then\n";
  const bool warm = clocks.samples != 0;
  line("virtual time", clocks.estimate, warm ? ", with warm caches" : ", on cores as fast as the fastest");
  text +=
      fmt::format("  90 %         {} to {}\n", report::readable(clocks.from), report::readable(clocks.to));
  if (other_runs == 0 && seconds(clocks.to - clocks.from) > kWide * seconds(clocks.estimate))
    text += "               (five runs together tell more: nplus1 run --compute warm --repeat 5)\n";
  line(
      "  at least", clocks.lowest,
      warm
          ? ": each stretch as short as the shortest of its kind that a twin measured; what happens once, "
            "without "
            "all that may be the host's"
          : ": each stretch as short as the shortest of its kind; what happens once, without all that may be "
            "the host's");
  line("  as measured", clocks.measured, ": with what this host's caches cost");
  return text;
}

/// What the clock rests on.
std::string evidence(const analyses::WarmTimes& clocks) {
  if (clocks.samples == 0)
    return "no stretch measured by twins (too long, impossible to repeat, or beside threads of the program's "
           "own), only the cores' speed taken "
           "out";
  return fmt::format("{} of computing measured by twins", number_of(clocks.samples, "stretch", "stretches"));
}

std::string text(const ReplayWords& words, std::size_t other_runs, const analyses::WarmTimes& clocks) {
  std::string text =
      fmt::format("{}: {}, {}{}\n", words.source, number_of(clocks.ranks, "rank"), evidence(clocks),
                  other_runs == 0 ? "" : ", and those of " + number_of(other_runs, "other run"));
  text += three_times(clocks, other_runs);
  text += fmt::format("computing      {} of all ranks, as measured {}\n",
                      report::readable(clocks.computing_warm), report::readable(clocks.computing_measured));
  if (clocks.slower_than_fastest >= kSpeedWorthSaying)
    text += fmt::format(
        "cores          {:.0f} % slower on average than at the highest frequency they were met at, which "
        "counts\n",
        100 * clocks.slower_than_fastest);
  text += "\nWhere the host added most, seconds of all ranks\n";
  text += fmt::format("{:>12} {:>12} {:>9} {:>8}  {:<11} {}\n", "as measured", "warm", "times", "twins",
                      "told by", "computing between");
  for (std::size_t i = 0; i < std::min(kMostKinds, clocks.kinds.size()); ++i) {
    const KindReport& k = clocks.kinds[i];
    const auto place = [&](std::uint32_t path) {
      return path == 0 ? std::string{"the beginning"}
                       : hypothesis::transform::place_of_path(path, clocks.names);
    };
    text += fmt::format("{:>12.6f} {:>12.6f} {:>9} {:>8}  {:<11} {} and {}{}{}\n", 1e-12 * k.recorded_ps,
                        1e-12 * k.warm_ps, k.count, k.samples, hypothesis::clock::name(k.model),
                        place(k.kind.after), place(k.kind.before),
                        k.kind.size > 0 ? fmt::format(" ({} bytes)", k.kind.size) : std::string{},
                        k.kind.longer ? ", the longer ones" : "");
  }
  return text;
}

int clock(const ReplayWords& words, const std::vector<std::string>& other_runs) {
  if (words.record && words.output.empty())
    throw Failure{ExitCode::kUsage, "--record needs a folder", kNoClock, "add -o DIR"};
  std::optional<analyses::ReplayFolder> folder;
  if (!words.output.empty()) folder = analyses::ReplayFolder{words.output, words.record};
  const analyses::WarmTimes clocks = done_or_fail(
      [&] { return analyses::warm_times(words, folder, other_runs); }, ExitCode::kNoInput, kNoClock);
  if (!words.json.empty())
    or_fail(report::write_file(words.json, analyses::clock_json(words.source, clocks)), ExitCode::kCantCreate,
            kNoClock);
  fmt::print("{}", text(words, other_runs.size(), clocks));
  return 0;
}

}  // namespace

std::string clock_lines(const std::string& folder) {
  const analyses::WarmTimes clocks =
      done_or_fail([&] { return analyses::leave_warm_results(folder); }, ExitCode::kNoInput, kNoClock);
  return fmt::format("The clock without this host: {} (nplus1 clock {})\n{}", evidence(clocks), quote(folder),
                     three_times(clocks, 0));
}

void add_clock(const Registration& registration) {
  CLI::App* verb =
      registration.app.add_subcommand("clock", "The run's virtual time without what this host's caches cost");
  set_manual(*verb, {"nplus1 clock DIR|RECORDING [--network SPEC] [options]", kClockExamples});
  const auto words = std::make_shared<ReplayWords>();
  const auto other_runs = std::make_shared<std::vector<std::string>>();
  verb->add_option("source", words->source, "Result folder of a run with --compute warm, or its recording")
      ->type_name("DIR|RECORDING")
      ->required();
  declare_network(*verb, *words);
  verb->add_option("-o,--output", words->output, "New folder for the results with that clock, as of a run")
      ->type_name("DIR");
  verb->add_flag("--record", words->record,
                 "Record them in that folder, too: for whatif, waitstates and all else");
  verb->add_option("--with", *other_runs,
                   "Other runs of the same program with --compute warm: each kind of stretch takes what it "
                   "took where the "
                   "host was fast with it")
      ->type_name("DIR");
  verb->add_option("--json", words->json, "Write the result to this file (replaces it)")->type_name("FILE");
  verb->callback([registration, words, other_runs] {
    registration.chosen = [words, other_runs] { return clock(*words, *other_runs); };
  });
}

}  // namespace nplus1::cli
