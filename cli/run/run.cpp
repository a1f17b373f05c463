// `nplus1 run`: checks, makes the result folder, starts mpirun with one rank more (MPICH's; other launchers with the
// simulator beside them), waits for the simulator, and shows its summary.
#include "cli/run/run.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "analyses/clock.hpp"
#include "analyses/installation.hpp"
#include "analyses/output_folder.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/replay/clock.hpp"
#include "cli/run/findings.hpp"
#include "cli/run/host_speed.hpp"
#include "cli/run/launcher.hpp"
#include "cli/run/launcher_line.hpp"
#include "cli/run/output_name.hpp"
#include "cli/run/patterns_only.hpp"
#include "cli/run/program_check.hpp"
#include "cli/run/repeat.hpp"
#include "cli/run/simulator_beside.hpp"
#include "cli/run/waiting_teams.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "support/processes/children.hpp"
#include "support/processes/programs.hpp"
#include "support/processes/words.hpp"
#include "support/program_name.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;  // NAME, VALUE

constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::seconds kClockPatience{120};  // it was asked for
constexpr const char* kMeeting = "NPLUS1_MEETING";   // how ranks find the simulator beside their launcher
constexpr const char* kSummary = "summary.txt";      // the simulator writes it last
constexpr const char* kTrouble = "error.txt";        // why it could not write something
// Exit codes of nplus1-simnode (simnode/node/main.cpp).
constexpr int kSimulatorNotWritten = 74, kSimulatorAlone = 75;

constexpr const char* kRunExamples =
    "  nplus1 run -n 16 -- ./app args                     16 ranks on the default network\n"
    "  nplus1 run -n 16 --network lsb:latency=5e-6,bandwidth=1e9 -- ./app\n"
    "  nplus1 run -n 4 -o result -- ./a : -n 2 ./b        two programs, 4 + 2 ranks, results in result/\n"
    "  nplus1 run -n 8 --compute fixed:1e-6 -- ./app      exactly reproducible virtual times\n"
    "  nplus1 run -n 64 --mpi-args \"-f hosts\" -- ./app    on the machines in the file hosts\n"
    "  nplus1 run -- srun -n 16 ./app                     by a launcher's own line: mpirun, mpiexec, srun, "
    "flux run\n"
    "  nplus1 run -o 'result-%j-%t' -- mpirun -n 4 ./app  the job's number and the date in the folder's "
    "name\n"
    "  nplus1 run -n 16 --native -- ./app                 no simulator, but waits that yield the core\n"
    "  nplus1 run -n 16 --patterns-only -- ./app          statistics only: patterns and time in MPI, "
    "natively\n"
    "  nplus1 run -n 2 --native --record full -- ./app    nor simulator: real times, for replay --reenact\n"
    "  nplus1 run -n 4 --repeat 6 -- ./app                six times: median and spread of time and savings\n"
    "  nplus1 run -n 16 --print -- ./app                  only show the mpirun line\n";

std::vector<std::string> mpi_words(const RunOptions& options) {
  std::vector<std::string> words;
  for (const std::string& text : options.mpi_args) {
    const auto more = or_fail(processes::split_words(text), ExitCode::kUsage, kNothingStarted);
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

/// Whether all processes that the launcher starts are ranks. (Hydra starts the simulator's as well.)
bool starts_ranks_alone(const RunOptions& options) {
  return options.library == MpiLibrary::kOpenMpi ||
         (options.launcher && options.launcher->kind != LauncherKind::kHydra);
}

/// Nobody knows beforehand which hosts Slurm and its like give the job.
bool may_leave_this_host(const RunOptions& options) {
  return options.launcher && options.launcher->kind != LauncherKind::kHydra &&
         options.launcher->kind != LauncherKind::kOpenMpi;
}

/// What nplus1 does for MPICH's programs only.
void refuse_for_open_mpi(const RunOptions& options, const std::vector<Section>& sections) {
  const auto refuse = [](const std::string& what, const std::string& why, const std::string& next) {
    throw Failure{ExitCode::kUnsuitable, what + " is not there for programs linked with Open MPI: " + why,
                  kNothingStarted, next};
  };
  const std::string option = option_of_hosts(mpi_words(options), sections);
  if (!option.empty() && !may_leave_this_host(options))
    refuse(option, "mpirun hands nothing of the simulator's to other hosts",
           "leave it out, or build the program with mpicc.mpich");
  if (options.patterns_only)
    refuse("--patterns-only", "its library is built for MPICH only", "build the program with mpicc.mpich");
  if (options.settings.accesses)
    refuse("--record-accesses",
           "Open MPI lets a peer read messages out of the program's memory, whose pages would be closed",
           "leave it out, or build the program with mpicc.mpich");
}

/// mpirun options after which a program need not be on this machine, or not at the path given.
bool runs_elsewhere(const std::vector<std::string>& mpi_args) {
  constexpr const char* kOptions[] = {"-f",  "-hostfile", "-machinefile", "-hosts", "-host",
                                      "-wd", "-wdir",     "-path",        "-rmk",   "-launcher"};
  return std::any_of(mpi_args.begin(), mpi_args.end(), [&](const std::string& word) {
    return std::any_of(std::begin(kOptions), std::end(kOptions), [&](const char* option) {
      return word == option || word == std::string{"-"} + option;
    });
  });
}

void append_sections(std::vector<std::string>& line, const std::vector<Section>& sections, bool alone) {
  for (const Section& section : sections) {
    if (&section != &sections.front()) line.emplace_back(":");
    // The simulator's rank, or the writer's, is the last of the job.
    const int extra = &section == &sections.back() && !alone ? 1 : 0;
    line.insert(line.end(), {"-np", std::to_string(section.ranks + extra)});
    line.insert(line.end(), section.options.begin(), section.options.end());
    line.insert(line.end(), section.command.begin(), section.command.end());
  }
}

/// What keeps `folder` from taking another file, as far as can be seen.
std::string room_in(const fs::path& folder) {
  struct statvfs room {};
  if (statvfs(folder.c_str(), &room) != 0) return fmt::format("the folder {} is not there", folder.string());
  if (room.f_bavail == 0) return fmt::format("no space is left on the disk of {}", folder.string());
  if (room.f_files != 0 && room.f_favail == 0)
    return fmt::format("no file more fits on the disk of {} (no inode is left)", folder.string());
  if (access(folder.c_str(), W_OK) != 0) return fmt::format("{} may not be written to", folder.string());
  return fmt::format("the disk of {} was full, or a limit on files' sizes was reached", folder.string());
}

/// Why there is no summary, by how the simulator ended.
void say_why_nothing(const fs::path& folder, const Ended& ended) {
  std::string what = "the simulator never started, or ended early";
  std::string next = "nplus1 doctor, or run again with --verbose";
  if (ended.simulator_code == kSimulatorNotWritten) {
    what = "the simulator could not write it: " + room_in(folder);
    next = "choose another place with -o, or make room";
  } else if (ended.simulator_code == kSimulatorAlone) {
    what = "no rank of the application has called MPI_Init, or not all have";
    next = "nplus1 doctor PROGRAM, if it does call it";
  } else if (ended.simulator_code > 128) {
    what = fmt::format("the simulator was ended by signal {} ({})", ended.simulator_code - 128,
                       strsignal(ended.simulator_code - 128));
    next = "run again; signal 9 is the kernel's when memory runs out";
  }
  to_stderr(
      "nplus1: there is no result: {}\n"
      "  so:   the application ran as if without nplus1\n"
      "  next: {}\n",
      what, next);
}

/// The usual reason under Slurm why nobody was observed, which no rank can see.
void say_what_srun_needs(const RunOptions& options, const Ended& ended) {
  if (!options.launcher || options.launcher->kind != LauncherKind::kSlurm) return;
  if (ended.simulator_code == kSimulatorNotWritten || ended.simulator_code > 128) return;  // another is known
  to_stderr(
      "nplus1: srun makes each process a job by itself where it is not told of the MPI library\n"
      "  so:   if each said that it is rank 0 of 1, they were no ranks of one job\n"
      "  next: srun --mpi=pmi2 for MPICH, --mpi=pmix for Open MPI (srun --mpi=list)\n");
}

/// Progress on stderr, the application's own output apart. Errors are said in quiet runs, too.
void show_summary(const fs::path& folder, const Ended& ended, bool quiet) {
  std::ifstream file{folder / kSummary};
  std::ifstream trouble{folder / kTrouble};
  if (file && !quiet) std::cerr << file.rdbuf() << std::flush;
  if (trouble) {
    const std::string reason{std::istreambuf_iterator<char>{trouble}, {}};
    to_stderr("nplus1: {}:\n{}", file ? "the results are not complete" : "there is no result",
              reason.empty() ? room_in(folder) + "\n" : reason);
  }
  if (file || trouble) return;
  if (ended.simulator_done)
    say_why_nothing(folder, ended);
  else
    to_stderr("nplus1: the simulator is not done yet; its results will be in {}\n", folder.string());
}

std::string application_name(const std::vector<Section>& sections) {
  return program_name(sections.front().command);
}

/// In a process of its own, as above.
std::string warm_clock(const fs::path& folder) {
  const auto find = [&](std::size_t) -> Result<std::string> {
    try {
      return clock_lines(folder.string());
    } catch (const Failure& failure) {
      return Error{failure.what(), failure.next()};
    }
  };
  const auto found = processes::in_children(1, {.limit = kClockPatience}, find);
  if (found) return found.value().front();
  std::error_code none;
  fs::remove_all(folder / analyses::kWarmFolder, none);  // what it was writing: half of a result is none
  const bool late = found.error().what == processes::kTimeIsUp;
  return fmt::format("nplus1: the clock is as measured: {}\n  next: {}\n", found.error().what,
                     late ? fmt::format("nplus1 clock {}, which takes its time", quote(folder.string()))
                          : found.error().remedy);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool keeps_results(const RunOptions& options) {
  return options.patterns_only || !options.native || records_natively(options);
}

int print_line(const RunOptions& options, const std::vector<Section>& sections) {
  std::string output;
  if (keeps_results(options)) {
    output = options.output.empty()
                 ? analyses::preview_next(application_name(sections), total_ranks(sections)).string()
                 : fs::absolute(options.output).string();
  }
  fmt::print("{}\n", join_quoted(or_fail(mpirun_line(options, sections, output), ExitCode::kUnavailable,
                                         kNothingStarted)));
  return 0;
}

/// A replay has nobody to wait for.
void recommend_replay(const RunOptions& options) {
  const std::string& platform = platform_of(options);
  if (platform.empty() || options.native || options.quiet) return;
  to_stderr(
      "nplus1: on a platform, tests, probes and receives from any source, and all calls of programs "
      "with threads, wait for "
      "the simulation; if that takes long, record without --platform, then: nplus1 replay DIR "
      "--platform {}\n",
      join_quoted({platform}));
}

analyses::OutputFolder result_folder(const RunOptions& options, const std::vector<Section>& sections) {
  return or_fail(options.output.empty()
                     ? analyses::OutputFolder::next(application_name(sections), total_ranks(sections))
                     : analyses::OutputFolder::at(options.output),
                 ExitCode::kCantCreate, kNothingStarted);
}

Variables variables_of(const RunOptions& options, const std::vector<Section>& sections,
                       const std::string& output) {
  if (options.patterns_only) return counting_environment(options, output);
  Variables variables;
  if (!output.empty()) variables.emplace_back("NPLUS1_OUTPUT", output);
  for (const auto& variable : job_environment(options)) variables.push_back(variable);
  if (options.native || may_leave_this_host(options)) return variables;
  if (const auto waiting = how_teams_wait(sections, mpi_words(options))) variables.push_back(*waiting);
  return variables;
}

/// Of a job that is simulated or recorded. The ranks find it by their environment, which nobody but this
/// user can read, unlike a command line.
std::unique_ptr<SimulatorBeside> simulator_beside(const RunOptions& options,
                                                  const std::vector<Section>& sections,
                                                  const std::string& output) {
  unsetenv(kMeeting);
  if (!starts_ranks_alone(options) || output.empty()) return nullptr;
  const fs::path program = or_fail(analyses::find_simnode(), ExitCode::kUnavailable, kNothingStarted);
  auto made = std::make_unique<SimulatorBeside>(
      program, total_ranks(sections), variables_of(options, sections, output), may_leave_this_host(options));
  if (!made->word().empty()) setenv(kMeeting, made->word().c_str(), 1);
  return made;
}

int start(const RunOptions& options, const std::vector<Section>& sections) {
  std::optional<analyses::OutputFolder> folder;
  if (keeps_results(options)) {
    if (!options.patterns_only) or_fail(analyses::find_simnode(), ExitCode::kUnavailable, kNothingStarted);
    or_fail(mpirun_line(options, sections, ""), ExitCode::kUnavailable,
            kNothingStarted);  // before the folder is made
    folder = result_folder(options, sections);
  }
  const fs::path output = folder ? folder->path() : fs::path{};
  const auto line =
      or_fail(mpirun_line(options, sections, output.string()), ExitCode::kUnavailable, kNothingStarted);
  const bool quiet = options.quiet || options.brief;
  if (!quiet) to_stderr("nplus1: {}\n", join_quoted(line));
  if (!quiet) recommend_replay(options);
  if (options.patterns_only) {
    const Ended counted = run_job(line, {}, kPatience);
    show_counts(output, quiet);
    folder->remove_if_empty();
    return counted.exit_code;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto simulator = simulator_beside(options, sections, output.string());
  Beside beside;
  if (simulator) beside = {simulator->process(), [&] { simulator->finish(); }};
  const Ended ended = run_job(line, folder ? output / kSummary : fs::path{}, kPatience, beside);
  if (!folder) return ended.exit_code;
  constexpr double kShareForFindings = 0.1;
  const double patience = std::max(options.findings_s, kShareForFindings * seconds_since(begin));
  const std::string clock =  // first: what is found is told with that clock
      fs::exists(output / kSummary) && measures_warm_times(options) ? warm_clock(output) : "";
  const std::string fixes =
      fs::exists(output / kSummary) ? add_findings(output, patience, options.keep_fixes) : "";
  show_summary(output, ended, quiet);
  if (ended.simulator_done && !fs::exists(output / kSummary)) say_what_srun_needs(options, ended);
  if (!quiet) to_stderr("{}", clock);
  if (!quiet) to_stderr("{}", fixes);
  if (ended.simulator_done) folder->remove_if_empty();
  return ended.exit_code;
}

/// Looking for what to fix may take longer than after a single run: that it is compared is what was asked for.
constexpr double kPatienceOfRepeated = 10;

int start_repeatedly(const RunOptions& options, const std::vector<Section>& sections, int repetitions) {
  RunOptions one = options;
  one.brief = !options.verbose;
  one.keep_fixes = true;
  one.findings_s = std::max(options.findings_s, kPatienceOfRepeated);
  if (options.print) {
    const fs::path all = options.output.empty()
                             ? analyses::preview_next(application_name(sections), total_ranks(sections))
                             : fs::absolute(options.output);
    for (int i = 1; i <= repetitions; ++i) {
      one.output = (all / std::to_string(i)).string();
      print_line(one, sections);
    }
    return 0;
  }
  fs::path all;
  std::optional<analyses::OutputFolder> folder;
  if (keeps_results(options)) {
    or_fail(analyses::find_simnode(), ExitCode::kUnavailable, kNothingStarted);
    or_fail(mpirun_line(options, sections, ""), ExitCode::kUnavailable, kNothingStarted);
    folder = result_folder(options, sections);
    all = folder->path();
  }
  if (!options.quiet) recommend_replay(options);
  return repeat(one, repetitions, all, [&](const fs::path& results) {
    one.output = results.string();
    return start(one, sections);
  });
}

/// The words of the job: what CLI11 left over, then what followed `--`.
std::vector<std::string> job_words(const CLI::App& verb, const Registration& registration) {
  std::vector<std::string> words = verb.remaining();
  if (!words.empty() && words.front().rfind('-', 0) == 0) {
    throw Failure{ExitCode::kUsage, fmt::format("option {} does not exist", words.front()), kNothingStarted,
                  "nplus1 run --help lists the options; the program's own options come after it"};
  }
  if (!words.empty() && registration.has_dashes) words.emplace_back("--");  // it was the program's
  words.insert(words.end(), registration.after_dashes.begin(), registration.after_dashes.end());
  return words;
}

/// The job in nplus1's own words, or in those of a launcher that the line begins with.
std::vector<Section> sections_of(RunOptions& options, const std::vector<std::string>& words) {
  std::optional<std::int32_t> ranks;
  if (!options.ranks.empty()) ranks = or_fail(parse_ranks(options.ranks), ExitCode::kUsage, kNothingStarted);
  options.launcher = or_fail(launcher_of(words), ExitCode::kUsage, kNothingStarted);
  if (options.launcher) {
    if (!options.mpi_args.empty())
      throw Failure{ExitCode::kUsage,
                    "--mpi-args is for lines that nplus1 makes, and this one is a launcher's own",
                    kNothingStarted, "write the options into the line, behind " + words.front()};
    const auto own = static_cast<std::ptrdiff_t>(options.launcher->words.size());
    return or_fail(take_apart(*options.launcher, {words.begin() + own, words.end()}, ranks), ExitCode::kUsage,
                   kNothingStarted)
        .sections;
  }
  if (!ranks)
    throw Failure{ExitCode::kUsage, "the number of ranks is missing", kNothingStarted,
                  "nplus1 run -n 16 -- ./app"};
  return or_fail(parse_sections(*ranks, words), ExitCode::kUsage, kNothingStarted);
}

/// The library whose programs only this launcher starts; empty where it starts both's.
std::optional<MpiLibrary> library_of_launcher(const std::optional<Launcher>& launcher) {
  if (launcher && launcher->kind == LauncherKind::kHydra) return MpiLibrary::kMpich;
  if (launcher && launcher->kind == LauncherKind::kOpenMpi) return MpiLibrary::kOpenMpi;
  return std::nullopt;
}

/// srun's --multi-prog names a file of programs where others name a program.
bool names_programs_in_a_file(const std::vector<Section>& sections) {
  const auto& options = sections.front().options;
  return std::find(options.begin(), options.end(), "--multi-prog") != options.end();
}

MpiLibrary library_of(const RunOptions& options, const std::vector<Section>& sections) {
  std::optional<MpiLibrary> library;
  if (!names_programs_in_a_file(sections))
    library = check_programs(sections, runs_elsewhere(mpi_words(options)));
  if (options.mpi != "auto") library = options.mpi == "openmpi" ? MpiLibrary::kOpenMpi : MpiLibrary::kMpich;
  const auto started = library_of_launcher(options.launcher);
  if (library && started && *library != *started)
    throw Failure{
        ExitCode::kUnsuitable,
        fmt::format("{} is {}'s, and the program is linked with {}", options.launcher->words.front(),
                    name_of(*started), name_of(*library)),
        std::string{"each of its processes would be a job by itself; "} + kNothingStarted,
        *library == MpiLibrary::kOpenMpi ? "start it by mpirun.openmpi" : "start it by mpirun.mpich"};
  return library.value_or(started.value_or(MpiLibrary::kMpich));
}

}  // namespace

Result<std::vector<std::string>> mpirun_line(const RunOptions& options, const std::vector<Section>& sections,
                                             const std::string& output) {
  const bool open_mpi = options.library == MpiLibrary::kOpenMpi;
  const auto stubs = options.patterns_only ? analyses::find_statistics_stubs()
                     : open_mpi            ? analyses::find_open_mpi_stubs()
                                           : analyses::find_stubs();
  if (!stubs) return stubs.error();
  if (options.launcher && starts_ranks_alone(options)) {
    std::vector<std::string> handed_on;
    if (keeps_results(options) && !options.patterns_only) handed_on.emplace_back(kMeeting);
    return observed_line({*options.launcher, sections},
                         processes::preloaded_before_the_users(stubs.value().string()),
                         variables_of(options, sections, output), handed_on);
  }
  if (open_mpi)
    return open_mpi_line(processes::preloaded_before_the_users(stubs.value().string()),
                         variables_of(options, sections, output), mpi_words(options), sections);
  std::vector<std::string> line;
  if (options.launcher) {
    line = options.launcher->words;
  } else {
    const auto mpirun = analyses::find_mpirun();
    if (!mpirun) return mpirun.error();
    line.push_back(mpirun.value().string());
  }
  const auto set = [&line](const std::string& name, const std::string& value) {
    line.insert(line.end(), {"-genv", name, value});
  };
  set("LD_PRELOAD", processes::preloaded_before_the_users(stubs.value().string()));
  for (const auto& [name, value] : variables_of(options, sections, output)) set(name, value);
  const auto extra = mpi_words(options);
  line.insert(line.end(), extra.begin(), extra.end());
  append_sections(line, sections, options.patterns_only || (options.native && !records_natively(options)));
  return line;
}

int run(const RunOptions& given, const std::vector<std::string>& words) {
  RunOptions options = given;
  understand(options);
  apply_host_speed(options);
  check_run_options(options);
  check_patterns_only(options);
  static_cast<void>(repetitions_of(options));
  const auto sections = sections_of(options, words);
  options.output =
      or_fail(expand_output_name(options.output, total_ranks(sections)), ExitCode::kUsage, kNothingStarted);
  check_platform(options, total_ranks(sections));
  check_recorded_compute(options, total_ranks(sections));
  options.library = library_of(options, sections);
  if (options.library == MpiLibrary::kOpenMpi) refuse_for_open_mpi(options, sections);
  if (const auto repetitions = repetitions_of(options))
    return start_repeatedly(options, sections, *repetitions);
  return options.print ? print_line(options, sections) : start(options, sections);
}

void add_run(const Registration& registration) {
  CLI::App* verb =
      registration.app.add_subcommand("run", "Run an MPI program in virtual time on a simulated network");
  const auto options = std::make_shared<RunOptions>();
  declare_run_options(*verb, *options);
  set_manual(*verb, {"nplus1 run -n N [OPTIONS] -- PROGRAM [ARGUMENTS] [: -n M PROGRAM [ARGUMENTS]]...",
                     kRunExamples});
  verb->prefix_command();
  verb->callback([verb, options, registration] {
    registration.chosen = [verb, options, registration] {
      return run(*options, job_words(*verb, registration));
    };
  });
}

}  // namespace nplus1::cli
