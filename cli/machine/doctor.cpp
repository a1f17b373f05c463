// `nplus1 doctor`: what works on this machine, and what to do about the rest.
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analyses/installation.hpp"
#include "analyses/scratch_folder.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/options.hpp"
#include "semantics/processor_counters.hpp"
#include "support/processes/programs.hpp"
#include "support/stopped.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kQuick{20};
constexpr std::chrono::seconds kSmokeLimit{60};
constexpr unsigned long kSharedMemoryWanted = 64UL << 20;  // 64 ranks with room to spare

enum class Grade { kGood, kLimited, kBroken };

struct Finding {
  Grade grade;
  std::string text;
  std::string remedy;  // empty when good
};

std::string first_line_with(const std::string& text, const std::string& wanted) {
  const auto at = text.find(wanted);
  if (at == std::string::npos) return {};
  const auto start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

std::string last_word(const std::string& line) {
  const auto space = line.find_last_of(" \t");
  return space == std::string::npos ? line : line.substr(space + 1);
}

std::string contents(const fs::path& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

Finding check_mpirun() {
  const auto mpirun = analyses::find_mpirun();
  if (!mpirun) return {Grade::kBroken, mpirun.error().what, mpirun.error().remedy};
  const processes::Output version = processes::capture({mpirun.value().string(), "--version"}, kQuick, true);
  if (version.text.find("HYDRA") == std::string::npos) {
    return {Grade::kBroken, fmt::format("{} is not Hydra, MPICH's starter", mpirun.value().string()),
            "apt-get install mpich, or set NPLUS1_MPIRUN to MPICH's mpirun"};
  }
  return {Grade::kGood,
          fmt::format("mpirun: {}, Hydra {}", mpirun.value().string(),
                      last_word(first_line_with(version.text, "Version:"))),
          ""};
}

Finding check_part(const std::string& name, const Result<fs::path>& part) {
  if (!part) return {Grade::kBroken, part.error().what, part.error().remedy};
  return {Grade::kGood, fmt::format("{}: {}", name, part.value().string()), ""};
}

/// The MPI library that the bundled programs are linked with, as the loader finds it.
std::string libmpich_path() {
  const auto example = analyses::find_example("hello_c");
  if (!example) return {};
  const std::string line =
      first_line_with(processes::capture({"ldd", example.value().string()}, kQuick).text, "libmpich");
  const auto arrow = line.find("=> ");
  return arrow == std::string::npos ? "" : line.substr(arrow + 3, line.find(' ', arrow + 3) - arrow - 3);
}

Finding check_libmpich() {
  const std::string path = libmpich_path();
  if (path.empty()) {
    return {
        Grade::kBroken, "libmpich was not found for the bundled programs",
        "apt-get install libmpich12; or, where MPICH's ABI goes by another name (Intel MPI, MVAPICH, Cray), "
        "put a link libmpich.so.12 to that libmpi.so.12 into a folder of LD_LIBRARY_PATH"};
  }
  // The name stands in the import table of a UCX build, and nowhere in an OFI build.
  if (contents(path).find("ucp_worker_progress") == std::string::npos) {
    return {Grade::kLimited, fmt::format("libmpich: {}, without UCX: its waits spin", path),
            "give each rank a core, or use Debian's libmpich12"};
  }
  return {Grade::kGood, fmt::format("libmpich: {}, with UCX: waits yield the core", path), ""};
}

/// Programs that are linked with Open MPI run where nplus1 was built with it and its mpirun is there; MPICH's need
/// neither.
Finding check_open_mpi() {
  const auto stubs = analyses::find_open_mpi_stubs();
  if (!stubs)
    return {Grade::kLimited, "Open MPI: not for its programs; " + stubs.error().what, stubs.error().remedy};
  const auto mpirun = analyses::find_open_mpi_mpirun();
  if (!mpirun) return {Grade::kLimited, "Open MPI: " + mpirun.error().what, mpirun.error().remedy};
  const processes::Output version = processes::capture({mpirun.value().string(), "--version"}, kQuick, true);
  const std::string line = first_line_with(
      version.text, version.text.find("OpenRTE") == std::string::npos ? "Open MPI" : "OpenRTE");
  if (line.empty())
    return {Grade::kLimited, fmt::format("Open MPI: {} is not its mpirun", mpirun.value().string()),
            "apt-get install openmpi-bin, or set NPLUS1_OPENMPI_MPIRUN"};
  return {Grade::kGood,
          fmt::format("Open MPI: for its programs, too; {}, {}", mpirun.value().string(), last_word(line)),
          ""};
}

Finding check_shared_memory() {
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0) {
    return {Grade::kLimited, "/dev/shm is not there",
            "mount a tmpfs on /dev/shm, or run with --transport tcp"};
  }
  const unsigned long room = info.f_bavail * info.f_frsize;
  const std::string text = fmt::format("shared memory: {} MiB free in /dev/shm", room >> 20);
  if (room >= kSharedMemoryWanted) return {Grade::kGood, text, ""};
  return {Grade::kLimited, text,
          "enlarge it (docker run --shm-size=1g): MPICH itself needs it for many ranks"};
}

Finding check_cores() {
  const unsigned cores = std::thread::hardware_concurrency();
  return {Grade::kGood,
          fmt::format("cores: {}; more than {} ranks share them, and --clock auto takes CPU time", cores,
                      cores > 1 ? cores - 1 : 1),
          ""};
}

Finding check_clock() {
  const std::string info = contents("/proc/cpuinfo");
  const bool constant =
      info.find("constant_tsc") != std::string::npos && info.find("nonstop_tsc") != std::string::npos;
  if (constant) return {Grade::kGood, "time stamp counter: constant", ""};
  return {Grade::kLimited, "time stamp counter: not known to be constant; short intervals cost a system call",
          "nothing to do: times stay right, runs are a little slower"};
}

Finding check_counters() {
  const auto counter = semantics::open_processor_counter();
  if (counter) return {Grade::kGood, "processor counters: --clock instructions can read them", ""};
  return {Grade::kLimited, "processor counters: not for --clock instructions; " + counter.error().what,
          counter.error().remedy};
}

Finding check_smoke_run() try {
  const auto example = analyses::find_example("hello_c");
  if (!example) return {Grade::kBroken, example.error().what, example.error().remedy};
  const analyses::ScratchFolder scratch;
  const fs::path folder = scratch.path() / "result";
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const processes::Output run = processes::capture(
      {self, "run", "-n", "2", "-o", folder.string(), "--", example.value().string()}, kSmokeLimit, true);
  const bool complete = contents(folder / "summary.json").find("\"complete\": true") != std::string::npos;
  const bool greeted = run.text.find("rank 1 of 2") != std::string::npos;
  if (run.exit_code == 0 && greeted && complete) {
    return {Grade::kGood, "a run of two ranks: finished, with results", ""};
  }
  const std::string how = run.timed_out ? fmt::format("did not end within {} s", kSmokeLimit.count())
                          : !greeted    ? fmt::format("failed with exit code {}", run.exit_code)
                                        : "gave no results";
  return {Grade::kBroken, fmt::format("a run of two ranks {}; its last words:\n{}", how, run.text),
          fmt::format("{} run --verbose -n 2 -- {}", self, example.value().string())};
} catch (const Stopped& stopped) {
  return {Grade::kBroken, fmt::format("a run of two ranks: {}", stopped.what()), stopped.error().remedy};
}

int diagnose() {
  const std::vector<std::function<Finding()>> checks{
      check_mpirun,
      [] { return check_part("stubs", analyses::find_stubs()); },
      [] { return check_part("simulator", analyses::find_simnode()); },
      check_libmpich,
      check_open_mpi,
      check_shared_memory,
      check_cores,
      check_clock,
      check_counters,
      check_smoke_run,
  };
  bool works = true;
  for (const auto& check : checks) {
    const Finding finding = check();
    const char* mark = finding.grade == Grade::kGood      ? "ok  "
                       : finding.grade == Grade::kLimited ? "note"
                                                          : "FAIL";
    fmt::print("{}  {}\n", mark, finding.text);
    if (!finding.remedy.empty()) fmt::print("      next: {}\n", finding.remedy);
    std::fflush(stdout);
    works = works && finding.grade != Grade::kBroken;
  }
  fmt::print("{}\n", works ? "The main job works here: nplus1 run -n 4 -- ./app"
                           : "The main job does not work here yet.");
  return static_cast<int>(works ? ExitCode::kOk : ExitCode::kNotReady);
}

/// What is wrong with a platform, in one line, or what it is made of.
int diagnose_platform(const netmodel::PlatformFlags& flags, int ranks) {
  auto options = netmodel::parse_platform_flags(flags, ranks);
  if (!options)
    throw Failure{ExitCode::kUsage, options.error().what, kNothingStarted, options.error().remedy};
  const auto report = netmodel::validate_platform(options.value());
  if (!report) {
    fmt::print("FAIL  {}\n      next: {}\n", report.error().what, report.error().remedy);
    return static_cast<int>(ExitCode::kNotReady);
  }
  fmt::print("ok    {}: {} hosts, {} links, {} routes looked up\n", flags.platform, report.value().hosts,
             report.value().links, report.value().routes);
  if (const std::string& why = report.value().simgrid; !why.empty())
    fmt::print("note  SimGrid itself simulates the messages, which takes far longer: {}\n", why);
  return static_cast<int>(ExitCode::kOk);
}

struct PlatformQuestion {
  netmodel::PlatformFlags flags;
  int ranks = 0;
};

void declare_platform(CLI::App& verb, PlatformQuestion& question) {
  verb.add_option("--platform", question.flags.platform, "Check this SimGrid platform instead")
      ->type_name("FILE");
  verb.add_option("-n,--ranks", question.ranks, "Ranks that the platform is to hold")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--model", question.flags.model, "SimGrid's network model")->type_name("WHICH");
  verb.add_option("--map", question.flags.map, "Ranks on hosts, as in nplus1 run")->type_name("HOW");
  verb.add_option("--simgrid", question.flags.settings, "SimGrid's own configuration")
      ->type_name("KEY:VALUE")
      ->join(' ');
}

}  // namespace

void add_doctor(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "doctor", "Say what works on this machine, and what to do about the rest");
  set_manual(
      *verb,
      {"nplus1 doctor [--platform FILE [-n N]]",
       "  nplus1 doctor                              exit code 0: runs work here; 1: they don't\n"
       "  nplus1 doctor --platform P.xml -n 64       whether the platform is sound, and holds 64 ranks\n"});
  const auto question = std::make_shared<PlatformQuestion>();
  declare_platform(*verb, *question);
  verb->callback([registration, question] {
    registration.chosen = [question] {
      if (question->flags.platform.empty()) return diagnose();
      return diagnose_platform(question->flags, question->ranks);
    };
  });
}

}  // namespace nplus1::cli
