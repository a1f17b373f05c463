#include "cli/run/run_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "cli/failure.hpp"
#include "events/payload/choice.hpp"
#include "events/recording/compute_times.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/options.hpp"
#include "semantics/processor_counters.hpp"
#include "semantics/time_settings.hpp"
#include "support/size.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kSimgridFlag = "--simgrid";

enum Position : std::size_t {
  kNetwork,
  kClock,
  kCompute,
  kProtocol,
  kTransport,
  kDirect,
  kOnDeadlock,
  kPollCost,
  kCollectives,
  kRecord,
  kRecordCap,
  kRecordRegion,
  kHash,
  kInlinePayloads,
  kFrames,
  kPcontrol,
  kPlatform,
  kModel,
  kMap,
  kSimgrid,
  kHostSpeed
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

[[noreturn]] void usage(const std::string& cause, const std::string& next) {
  throw Failure{ExitCode::kUsage, cause, kNothingStarted, next};
}

void check_compute(const std::string& text) {
  if (text.empty()) return;
  const auto times = semantics::parse_compute(text);
  if (!times) usage("--compute: " + times.error().what, times.error().remedy);
  if (times.value().mode != semantics::ComputeMode::kTable) return;
  if (const auto rules = semantics::read_compute_rules(times.value().table); !rules)
    usage("--compute: " + rules.error().what, rules.error().remedy);
}

/// Twins tell what they measured to the recording, and cannot be told apart from other measurements.
void check_warm(const RunOptions& options) {
  if (options.native)
    usage("--compute warm corrects virtual time, and a native run has none", "leave out --native");
  if (options.accesses)
    usage("--record-accesses and --compute warm both look into the program's stretches of computing",
          "make two runs");
  if (const std::string& record = options.passed[kRecord]; !record.empty() && record != "full")
    usage("--compute warm needs a recording, and --record " + record + " keeps none", "leave out --record");
}

/// On this host; ranks on others that cannot count say so in the results.
void check_instructions(const RunOptions& options, bool warm) {
  if (options.native)
    usage("--clock instructions is of virtual time, and a native run has none", "leave out --native");
  if (options.accesses)
    usage("--record-accesses executes instructions of its own between the program's", "make two runs");
  if (warm)
    usage("--clock instructions and --compute warm both take out what the host's caches cost",
          "keep one of the two");
  if (!options.mpi_args.empty()) return;
  if (const auto counter = semantics::open_processor_counter(); !counter)
    throw Failure{ExitCode::kUnavailable, "--clock instructions: " + counter.error().what, kNothingStarted,
                  counter.error().remedy};
}

void check_poll_cost(const std::string& text) {
  if (text.empty()) return;
  if (const auto cost = semantics::parse_poll_cost(text); !cost)
    usage("--poll-cost: " + cost.error().what, cost.error().remedy);
}

netmodel::PlatformFlags platform_flags(const RunOptions& options) {
  return {options.passed[kPlatform],
          options.passed[kModel],
          options.passed[kMap],
          options.passed[kSimgrid],
          options.passed[kHostSpeed],
          {},
          {}};
}

void check_record_cap(const std::string& text) {
  if (text.empty() || parse_size(text)) return;
  usage(fmt::format("--record-cap: '{}' is not a size", text), "e.g. --record-cap 512M, or 0 for no limit");
}

void check_frames(const std::string& text) {
  const std::optional<std::uint64_t> frames = text.empty() ? 1 : parse_size(text);
  if (frames && *frames >= 1 && *frames <= 16) return;
  usage(fmt::format("--frames: '{}' is not a number from 1 to 16", text), "e.g. --frames 4");
}

void check_content(const std::string& hash, const std::string& whole) {
  if (!hash.empty() && !events::payload::parse_choice(hash))
    usage(fmt::format("--hash: '{}' is not understood", hash),
          "use all, off, or a list of prefix, crc32, poly61, samples and kept, e.g. --hash crc32,poly61");
  if (!whole.empty() && !events::payload::parse_whole_bytes(whole))
    usage(fmt::format("--inline-payloads: '{}' is not a number from 0 to 64", whole),
          "e.g. --inline-payloads 16");
}

/// Paths are made absolute, because ranks may run in another folder.
std::string for_the_ranks(std::size_t position, const std::string& value) {
  constexpr std::string_view kTables[] = {"file:", "recorded:"};
  std::error_code error;
  const bool path = position == kPlatform || (position == kMap && std::filesystem::exists(value, error));
  if (path) return std::filesystem::absolute(value).string();
  if (position != kCompute) return value;
  for (const std::string_view kind : kTables)
    if (value.compare(0, kind.size(), kind) == 0)
      return std::string{kind} + std::filesystem::absolute(value.substr(kind.size())).string();
  return value;
}

void declare_passed(CLI::App& verb, RunOptions& options) {
  const auto& known = passed_options();
  options.passed.resize(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    CLI::Option* option = verb.add_option(known[i].flag, options.passed[i], known[i].help);
    option->envname(known[i].environment)->type_name(known[i].value);
    if (known[i].flag == std::string_view{kSimgridFlag}) option->join(' ');
    if (known[i].choices != nullptr) option->check(CLI::IsMember(split(known[i].choices, '|')));
  }
}

}  // namespace

const std::vector<PassedOption>& passed_options() {
  static const std::vector<PassedOption> options{
      {"--network", "NPLUS1_NETWORK", "SPEC",
       "The simulated network: lsb:latency=S,bandwidth=B/S[,eager=BYTES] or "
       "loggops:L=..,o=..,g=..,G=..,O=..,S=..[,interfaces=both]",
       nullptr},
      {"--clock", "NPLUS1_CLOCK", "WHICH",
       "What a rank's compute time is: auto, cpu (its thread's CPU time), wall, or instructions (counted by "
       "the "
       "processor, times what one takes when caches are warm)",
       "auto|cpu|wall|instructions"},
      {"--compute", "NPLUS1_COMPUTE", "HOW",
       "Compute times: measured, warm (and what the host's caches cost: nplus1 clock), scale:FACTOR, "
       "fixed:TIME "
       "between calls (1us), file:FILE, or recorded:DIR (of a recorded run)",
       nullptr},
      {"--protocol", "NPLUS1_PROTOCOL", "WHICH",
       "conservative, or riesen (figures 2 and 3 of the paper, to the letter)", "conservative|riesen"},
      {"--transport", "NPLUS1_TRANSPORT", "HOW", "How events reach the simulator: auto, shm or tcp",
       "auto|shm|tcp"},
      {"--direct", "NPLUS1_DIRECT", "on|off",
       "Whether time stamps go straight from rank to rank where the network model allows it", "on|off"},
      {"--on-deadlock", "NPLUS1_ON_DEADLOCK", "WHAT", "abort the job with a report, or continue (and hang)",
       "abort|continue"},
      {"--poll-cost", "NPLUS1_POLL_COST", "TIME[,CAP]",
       "Virtual time that an unsuccessful Test or Probe costs at first, and at most", nullptr},
      {"--collectives", "NPLUS1_COLLECTIVES", "SPEC",
       "Algorithms of the simulated collectives: mpich, openmpi, or e.g. openmpi,bcast=chain", nullptr},
      {"--record", "NPLUS1_RECORD", "WHAT",
       "What is kept of the run: full (every event, in DIR/recording), patterns (sums), or off (the summary)",
       "off|patterns|full"},
      {"--record-cap", "NPLUS1_RECORD_CAP", "SIZE",
       "The recording ends at this size, the run goes on; e.g. 512M; 0: no limit (default: 4G)", nullptr},
      {"--record-region", "NPLUS1_RECORD_REGION", "NAME",
       "Record only what happens inside the region NAME (all is simulated)", nullptr},
      {"--hash", "NPLUS1_HASH", "WHICH",
       "What is recorded of the content of messages: all (default), off, or a list of prefix (the first 8 "
       "bytes), "
       "crc32, poly61 (a hash that adds up), samples (four elements), kept (parts that a rank keeps); both "
       "is "
       "crc32,poly61",
       nullptr},
      {"--inline-payloads", "NPLUS1_INLINE_PAYLOADS", "BYTES",
       "Messages up to this size are recorded as they are, instead of their hashes: 0 to 64 (default: 64)",
       nullptr},
      {"--frames", "NPLUS1_FRAMES", "N", "Stack frames of a recorded call, 1 to 16 (default: 4)", nullptr},
      {"--pcontrol", "NPLUS1_PCONTROL", "HOW",
       "What MPI_Pcontrol means: mpip (0 pauses the recording, others resume it) or ipm ((1, \"name\") "
       "begins "
       "a region, (-1, \"name\") ends it)",
       "mpip|ipm"},
      {"--platform", "NPLUS1_PLATFORM", "FILE",
       "A network with contention instead of --network: a SimGrid platform, simulated by SimGrid", nullptr},
      {"--model", "NPLUS1_MODEL", "WHICH", "SimGrid's network model: SMPI (default), LV08, CM02 or IB",
       "SMPI|LV08|CM02|IB|ns-3"},
      {"--map", "NPLUS1_MAP", "HOW",
       "Ranks on hosts: round-robin, block, or a file with a host name for each rank (NAME*K: K ranks)",
       nullptr},
      {kSimgridFlag, "NPLUS1_SIMGRID", "KEY:VALUE",
       "SimGrid's own configuration, e.g. smpi/os:0:1e-6; may be repeated", nullptr},
      {"--host-speed", "NPLUS1_HOST_SPEED", "SPEED|FILE[:FILE]",
       "This machine's speed, e.g. 2.5Gf, or its file of nplus1 calibrate --host: compute times are scaled "
       "to the "
       "platform's hosts. HERE:THERE[:KIND], two files: to the host of the second",
       nullptr},
  };
  return options;
}

std::string& passed(RunOptions& options, std::string_view flag) {
  options.passed.resize(passed_options().size());
  const auto found = std::find_if(passed_options().begin(), passed_options().end(),
                                  [&](const PassedOption& option) { return option.flag == flag; });
  return options.passed.at(static_cast<std::size_t>(found - passed_options().begin()));
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
  declare_passed(verb, options);
  verb.add_flag("--virtual-clocks", options.virtual_clocks,
                "gettimeofday, clock_gettime and time tell virtual time too, not MPI_Wtime alone")
      ->envname("NPLUS1_VIRTUAL_CLOCKS");
  verb.add_flag(
          "--record-accesses", options.accesses,
          "Record, too, when the program touches the memory of its messages: what `nplus1 overlap` needs; "
          "implies --record full, and costs some 10 us for each first touch (docs/accesses.md)")
      ->envname("NPLUS1_RECORD_ACCESSES");
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

void check_run_options(const RunOptions& options) {
  if (const std::string& network = options.passed[kNetwork]; !network.empty()) {
    const auto model = netmodel::parse(network);
    if (!model) usage("--network: " + model.error().what, model.error().remedy);
    if (!model.value()->contention_free() && !model.value()->flows())
      usage("--network: '" + network + "' tells the protocol only", "use --platform FILE");
  }
  if (const std::string& collectives = options.passed[kCollectives]; !collectives.empty()) {
    const auto selection = netmodel::Selection::parse(collectives);
    if (!selection) usage("--collectives: " + selection.error().what, selection.error().remedy);
  }
  if (options.passed[kPlatform].empty()) {
    for (const Position p : {kModel, kMap, kSimgrid, kHostSpeed})
      if (!options.passed[p].empty())
        usage(std::string{passed_options()[p].flag} + " needs a platform", "add --platform FILE");
  } else if (!options.passed[kNetwork].empty()) {
    usage("--network and --platform both name a network", "keep one of the two");
  }
  if (options.accesses) {
    if (options.native)
      usage("--record-accesses needs the simulation's virtual time: a native run would be charged for it",
            "leave out --native");
    if (const std::string& record = options.passed[kRecord]; !record.empty() && record != "full")
      usage("--record-accesses needs a recording, and --record " + record + " keeps none",
            "leave out --record");
  }
  check_compute(options.passed[kCompute]);
  if (measures_warm_times(options)) check_warm(options);
  if (options.passed[kClock] == "instructions") check_instructions(options, measures_warm_times(options));
  check_poll_cost(options.passed[kPollCost]);
  check_record_cap(options.passed[kRecordCap]);
  check_frames(options.passed[kFrames]);
  check_content(options.passed[kHash], options.passed[kInlinePayloads]);
}

bool measures_warm_times(const RunOptions& options) {
  const auto times = semantics::parse_compute(options.passed[kCompute]);
  return times && times.value().warm;
}

const std::string& platform_of(const RunOptions& options) {
  return options.passed[kPlatform];
}

void check_recorded_compute(const RunOptions& options, int ranks) {
  const std::string& text = options.passed[kCompute];
  const auto times = semantics::parse_compute(text.empty() ? "measured" : text);
  if (!times || times.value().mode != semantics::ComputeMode::kRecorded) return;
  const std::string& source = times.value().table;
  const auto recorded = events::recording::read_compute_intervals(source);
  if (!recorded) usage("--compute: " + recorded.error().what, recorded.error().remedy);
  const auto had = static_cast<int>(recorded.value().of_rank.size());
  if (had != ranks)
    usage(fmt::format("--compute: {} is of {} ranks, and this run is to have {}", source, had, ranks),
          fmt::format("nplus1 run -n {} -o DIR ... without --compute makes one", ranks));
  if (options.accesses && recorded.value().accesses && recorded.value().measured)
    usage("--compute: " + source + " was itself measured while accesses were recorded, and has their cost",
          fmt::format("nplus1 run -n {} -o DIR ... without --record-accesses makes one that has not", ranks));
}

void check_platform(const RunOptions& options, int ranks) {
  if (options.passed[kPlatform].empty()) return;
  const auto parsed = netmodel::parse_platform_flags(platform_flags(options), ranks);
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
  const std::string& record = options.passed[kRecord];
  return options.native && !record.empty() && record != "off";
}

std::vector<std::pair<std::string, std::string>> job_environment(const RunOptions& options) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (std::size_t i = 0; i < options.passed.size(); ++i) {
    if (!options.passed[i].empty()) {
      variables.emplace_back(passed_options()[i].environment, for_the_ranks(i, options.passed[i]));
    }
  }
  if (options.virtual_clocks) variables.emplace_back("NPLUS1_VIRTUAL_CLOCKS", "1");
  if (options.native)
    variables.emplace_back(records_natively(options) ? "NPLUS1_NATIVE_RECORD" : "NPLUS1_NATIVE", "1");
  if (options.accesses) variables.emplace_back("NPLUS1_RECORD_ACCESSES", "1");
  if (options.quiet) variables.emplace_back("NPLUS1_QUIET", "1");
  if (options.verbose) variables.emplace_back("NPLUS1_VERBOSE", "1");
  return variables;
}

}  // namespace nplus1::cli
