#include "cli/run/run_options.hpp"

#include <fmt/core.h>

#include <sstream>
#include <utility>

#include "cli/failure.hpp"
#include "netmodel/simgrid/load.hpp"
#include "semantics/processor_counters.hpp"

namespace nplus1::cli {
namespace {

using semantics::ComputeMode;
using simnode::settings::run_option;
using simnode::settings::run_options;
using simnode::settings::RunOption;

/// An option's place in the table.
std::size_t place_of(std::string_view flag) {
  return static_cast<std::size_t>(&run_option(flag) - run_options().data());
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

[[noreturn]] void usage(const std::string& cause, const std::string& next) {
  throw Failure{ExitCode::kUsage, cause, kNothingStarted, next};
}

/// Twins tell what they measured to the recording, and cannot be told apart from other measurements.
void check_warm(const RunOptions& options) {
  if (options.native)
    usage("--compute warm corrects virtual time, and a native run has none", "leave out --native");
  if (options.settings.accesses)
    usage("--record-accesses and --compute warm both look into the program's stretches of computing",
          "make two runs");
  if (const std::string& record = given(options, "--record"); !record.empty() && record != "full")
    usage("--compute warm needs a recording, and --record " + record + " keeps none", "leave out --record");
}

/// On this host; ranks on others that cannot count say so in the results.
void check_instructions(const RunOptions& options) {
  if (options.native)
    usage("--clock instructions is of virtual time, and a native run has none", "leave out --native");
  if (options.settings.accesses)
    usage("--record-accesses executes instructions of its own between the program's", "make two runs");
  if (measures_warm_times(options))
    usage("--clock instructions and --compute warm both take out what the host's caches cost",
          "keep one of the two");
  if (!options.mpi_args.empty()) return;
  if (const auto counter = semantics::open_processor_counter(); !counter)
    throw Failure{ExitCode::kUnavailable, "--clock instructions: " + counter.error().what, kNothingStarted,
                  counter.error().remedy};
}

void check_accesses(const RunOptions& options) {
  if (options.native)
    usage("--record-accesses needs the simulation's virtual time: a native run would be charged for it",
          "leave out --native");
  if (const std::string& record = given(options, "--record"); !record.empty() && record != "full")
    usage("--record-accesses needs a recording, and --record " + record + " keeps none",
          "leave out --record");
}

void declare(CLI::App& verb, const RunOption& row, Given& given) {
  CLI::Option* const option = row.value == nullptr ? verb.add_flag(row.flag, given.switched_on, row.help)
                                                   : verb.add_option(row.flag, given.text, row.help);
  option->envname(row.variable);
  if (row.value != nullptr) option->type_name(row.value);
  if (row.may_repeat) option->join(' ');
  if (row.choices != nullptr) option->check(CLI::IsMember(split(row.choices, '|')));
}

}  // namespace

const std::string& given(const RunOptions& options, std::string_view flag) {
  return options.given[place_of(flag)].text;
}

void give(RunOptions& options, std::string_view flag, const std::string& text) {
  options.given[place_of(flag)].text = text;
}

void declare_run_options(CLI::App& verb, RunOptions& options) {
  verb.add_option("-n,--ranks", options.ranks,
                  "Ranks that the application sees (the first program's, with ':'); not needed where a "
                  "launcher's line "
                  "follows that says it")
      ->envname("NPLUS1_RANKS")
      ->type_name("N");
  verb.add_option("-o,--output", options.output,
                  "New folder for the results (default: nplus1-APP-N-K); %j is the job's number, %t date and "
                  "time, %n "
                  "the ranks, %h this host, %% a percent sign")
      ->envname("NPLUS1_OUTPUT")
      ->type_name("DIR");
  for (std::size_t i = 0; i < run_options().size(); ++i) declare(verb, run_options()[i], options.given[i]);
  verb.add_option("--mpi-args", options.mpi_args,
                  "Options for mpirun, e.g. \"-f hosts -ppn 4\"; may be repeated")
      ->envname("NPLUS1_MPI_ARGS")
      ->type_name("WORDS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--mpi", options.mpi,
                  "The MPI library of the programs: auto (what they are linked with; of scripts, MPICH), "
                  "mpich or openmpi")
      ->envname("NPLUS1_MPI")
      ->type_name("WHICH")
      ->check(CLI::IsMember({"auto", "mpich", "openmpi"}));
  verb.add_flag("--native", options.native,
                "No simulation: the program as it is, with waits that yield the core; with --record full or "
                "patterns its real times are recorded");
  verb.add_flag(
      "--patterns-only", options.patterns_only,
      "No simulation, no further rank: the program as it is natively, and who sends whom how much, and "
      "the time in MPI by call site, counted; `nplus1 where DIR/statistics` says where its ranks are");
  verb.add_option(
          "--hang-after", options.hang_after,
          "With --patterns-only: say on stderr where all ranks are, where one has been in or outside of "
          "the same MPI call for so long")
      ->type_name("TIME");
  verb.add_option(
          "--repeat", options.repeat,
          "Run it so many times, results in DIR/1, DIR/2 ...; median and spread of the virtual time and "
          "of what each change would save (DIR/repeat.json)")
      ->type_name("N");
  verb.add_flag("--print", options.print, "Print the mpirun line on stdout and stop");
  verb.add_flag("-q,--quiet", options.quiet, "Nothing on stderr but errors")->envname("NPLUS1_QUIET");
  verb.add_flag("-v,--verbose", options.verbose, "Say more about what happens")->envname("NPLUS1_VERBOSE");
}

void understand(RunOptions& options) {
  for (std::size_t i = 0; i < run_options().size(); ++i) {
    const RunOption& row = run_options()[i];
    const std::string value = options.given[i].value();
    if (const auto error = row.take(value.empty() ? row.fallback : value, options.settings))
      usage(std::string{row.flag} + ": " + error->what, error->remedy);
  }
}

void check_run_options(const RunOptions& options) {
  if (platform_of(options).empty()) {
    for (const char* flag : {"--model", "--map", "--simgrid", "--host-speed"})
      if (!given(options, flag).empty())
        usage(std::string{flag} + " needs a platform", "add --platform FILE");
  } else if (!given(options, "--network").empty()) {
    usage("--network and --platform both name a network", "keep one of the two");
  }
  if (options.settings.accesses) check_accesses(options);
  if (measures_warm_times(options)) check_warm(options);
  if (options.settings.clock == "instructions") check_instructions(options);
}

bool measures_warm_times(const RunOptions& options) {
  return options.settings.compute_times.warm;
}

const std::string& platform_of(const RunOptions& options) {
  return options.settings.platform.platform;
}

void check_recorded_compute(RunOptions& options, int ranks) {
  const semantics::ComputeTimes& times = options.settings.compute_times;
  if (times.mode != ComputeMode::kRecorded) return;
  const auto recorded = std::exchange(options.settings.compute_intervals, {});
  const auto had = static_cast<int>(recorded.of_rank.size());
  if (had != ranks)
    usage(fmt::format("--compute: {} is of {} ranks, and this run is to have {}", times.table, had, ranks),
          fmt::format("nplus1 run -n {} -o DIR ... without --compute makes one", ranks));
  if (options.settings.accesses && recorded.accesses && recorded.measured)
    usage(
        "--compute: " + times.table + " was itself measured while accesses were recorded, and has their cost",
        fmt::format("nplus1 run -n {} -o DIR ... without --record-accesses makes one that has not", ranks));
}

void check_platform(const RunOptions& options, int ranks) {
  if (platform_of(options).empty()) return;
  const auto parsed = netmodel::parse_platform_flags(options.settings.platform, ranks);
  if (!parsed) usage(parsed.error().what, parsed.error().remedy);
  if (!netmodel::works_live(parsed.value().model)) {
    usage("--model " + parsed.value().model +
              ": it computes ahead of the ranks, and cannot take back what a later message changes",
          "use SMPI, LV08, CM02 or IB for running programs");
  }
  const auto report = netmodel::validate_platform(parsed.value());
  if (!report) usage(report.error().what, report.error().remedy);
}

bool records_natively(const RunOptions& options) {
  const std::string& record = given(options, "--record");
  return options.native && !record.empty() && record != "off";
}

std::vector<std::pair<std::string, std::string>> job_environment(const RunOptions& options) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (std::size_t i = 0; i < run_options().size(); ++i) {
    const RunOption& row = run_options()[i];
    if (const std::string value = options.given[i].value(); !value.empty())
      variables.emplace_back(row.variable, simnode::settings::absolute(row, value));
  }
  if (options.native)
    variables.emplace_back(records_natively(options) ? "NPLUS1_NATIVE_RECORD" : "NPLUS1_NATIVE", "1");
  if (options.quiet) variables.emplace_back("NPLUS1_QUIET", "1");
  if (options.verbose) variables.emplace_back("NPLUS1_VERBOSE", "1");
  return variables;
}

}  // namespace nplus1::cli
