#include "analyses/guidelines/launch.hpp"

#include <fmt/format.h>

#include <map>
#include <thread>

#include "analyses/installation.hpp"
#include "support/processes/programs.hpp"
#include "support/processes/words.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

void append(Words& line, Words more) {
  for (std::string& word : more) line.push_back(std::move(word));
}

/// What `mpirun` belongs to decides.
fs::path our_runner_for(const std::string& mpirun) {
  constexpr const char* kBuild = "build it for this MPI library as docs/guidelines.md says: --runner FILE";
  static std::map<std::string, std::string> versions;  // asked once
  if (versions.count(mpirun) == 0)
    versions[mpirun] = processes::capture({mpirun, "--version"}, std::chrono::seconds{10}, true).text;
  const std::string& version = versions[mpirun];
  const auto says = [&](const char* name) { return version.find(name) != version.npos; };
  const bool open_mpi = says("Open MPI") || says("OpenRTE");
  if (!open_mpi && !says("HYDRA") && !says("MPICH"))
    throw Stopped{{mpirun + " is neither MPICH's nor Open MPI's", kBuild, Fault::kUnavailable},
                  "nothing was started"};
  auto found = find_guidelines_runner(open_mpi);
  if (!found) throw Stopped{{found.error().what, kBuild, Fault::kUnavailable}, "nothing was started"};
  return std::move(found).value();
}

std::string runner_of(const Launch& launch, const std::string& mpirun) {
  if (launch.runner.empty()) return our_runner_for(mpirun).string();
  std::error_code error;
  if (fs::is_regular_file(launch.runner, error)) return fs::absolute(launch.runner).string();
  throw Stopped{{launch.runner + " is no file",
                 "build it as docs/guidelines.md says, and name it with --runner", Fault::kInput},
                "nothing was started"};
}

std::string mpirun_of(const Launch& launch) {
  if (launch.mpirun.empty()) return need(find_mpirun(), Fault::kUnavailable, "nothing was started").string();
  const fs::path found = find_in_path(launch.mpirun);
  if (!found.empty()) return found.string();
  throw Stopped{{launch.mpirun + " is no executable file", "correct --mpirun", Fault::kUnavailable},
                "nothing was started"};
}

/// `env NAME=VALUE ...`, which every mpirun understands as a program: mpirun itself must not be preloaded.
Words environment_words(const Launch& launch) {
  auto variables = launch.environment;
  std::string preload = launch.preload;
  if (yields(launch)) {
    preload += (preload.empty() ? "" : ":") +
               need(find_stubs(), Fault::kUnavailable, "nothing was started").string();
    variables.emplace_back("NPLUS1_NATIVE", "1");
  }
  if (!preload.empty()) variables.emplace_back("LD_PRELOAD", processes::preloaded_before_the_users(preload));
  if (variables.empty()) return {};
  Words words{"/usr/bin/env"};
  for (const auto& [name, value] : variables) words.push_back(fmt::format("{}={}", name, value));
  return words;
}

/// Compute times are fixed at nothing: what remains is the network, the same each time.
Words simulated(const Launch& launch, const fs::path& result) {
  std::error_code error;
  const bool platform = fs::is_regular_file(launch.simulate, error);
  Words line{(executable_folder() / "nplus1").string(),
             "run",
             "-n",
             std::to_string(launch.ranks),
             "--quiet",
             "--record",
             "off",
             "--compute",
             "fixed:0",
             "-o",
             result.string(),
             platform ? "--platform" : "--network",
             launch.simulate};
  append(line, need(processes::split_words(launch.simulate_options), Fault::kUsage, "nothing was started"));
  if (!launch.mpi_args.empty()) append(line, {"--mpi-args", launch.mpi_args});
  append(line, {"--", runner_of(launch, mpirun_of({}))});
  return line;
}

Words native(const Launch& launch) {
  const std::string mpirun = mpirun_of(launch);
  Words line{mpirun};
  append(line, need(processes::split_words(launch.mpi_args), Fault::kUsage, "nothing was started"));
  append(line, {"-np", std::to_string(launch.ranks)});
  append(line, environment_words(launch));
  line.push_back(runner_of(launch, mpirun));
  return line;
}

}  // namespace

bool yields(const Launch& launch) {
  if (!launch.simulate.empty()) return false;
  if (launch.waits != "auto") return launch.waits == "yield";
  const bool own_library = launch.mpirun.empty() && launch.runner.empty();
  return own_library && launch.ranks > static_cast<int>(std::thread::hardware_concurrency());
}

Words launch_line(const Launch& launch, const fs::path& plan, const fs::path& result) {
  Words line = launch.simulate.empty() ? native(launch) : simulated(launch, result);
  line.push_back(plan.string());
  return line;
}

}  // namespace nplus1::analyses
