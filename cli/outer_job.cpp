#include "cli/outer_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace nplus1::cli {
namespace {

/// Where things are, which holds for every job; all other settings are the outer job's.
constexpr std::string_view kPlaces[] = {
    "NPLUS1_ANALYSERS",      "NPLUS1_CATALOGUE",     "NPLUS1_CONFIG",         "NPLUS1_GUIDELINES_RUNNER",
    "NPLUS1_MEASURE",        "NPLUS1_MPIRUN",        "NPLUS1_REENACT",        "NPLUS1_SIMNODE",
    "NPLUS1_OPENMPI_MPIRUN", "NPLUS1_OPENMPI_STUBS", "NPLUS1_SIMGRID_MODULE", "NPLUS1_SIMNODE_LOG",
    "NPLUS1_STUBS",          "NPLUS1_TUNED"};

bool is_setting_of_job(std::string_view name) {
  constexpr std::string_view kOurs = "NPLUS1_";
  return name.substr(0, kOurs.size()) == kOurs &&
         std::find(std::begin(kPlaces), std::end(kPlaces), name) == std::end(kPlaces);
}

void forget_settings_of_job() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    const std::string_view name = text.substr(0, text.find('='));
    if (is_setting_of_job(name)) names.emplace_back(name);
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace

std::string without_stubs(std::string_view preloaded) {
  constexpr std::string_view kStubs = "libnplus1-stubs.so", kOpenMpiStubs = "libnplus1-openmpi.so";
  std::string others;
  while (!preloaded.empty()) {
    const std::size_t end = std::min(preloaded.find_first_of(": "), preloaded.size());
    const std::string_view one = preloaded.substr(0, end);
    const std::string_view file = one.substr(one.rfind('/') + 1);  // npos + 1 is 0
    const bool stubs = file == kStubs || file == kOpenMpiStubs;
    if (!one.empty() && !stubs) others.append(others.empty() ? "" : ":").append(one);
    preloaded.remove_prefix(std::min(end + 1, preloaded.size()));
  }
  return others;
}

void leave_outer_job(char** argv) {
  // What marks the processes of a job, under Hydra and under Open MPI's mpirun.
  if (std::getenv("NPLUS1_SHRUNK") == nullptr && std::getenv("NPLUS1_JOB") == nullptr) return;
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string others = without_stubs(preloaded == nullptr ? "" : preloaded);
  if (others.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", others.c_str(), 1);
  forget_settings_of_job();
  execv("/proc/self/exe", argv);
}

}  // namespace nplus1::cli
