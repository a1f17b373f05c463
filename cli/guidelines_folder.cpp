#include "cli/guidelines_folder.hpp"

#include <algorithm>

#include "cli/failure.hpp"
#include "cli/guidelines.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

using guidelines::Settings;

constexpr const char* kEnvironment = "env_";

std::string text_of(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string{} : found->second;
}

int number_of(const Settings& settings, const std::string& key, int otherwise) {
  const std::string text = text_of(settings, key);
  return text.empty() ? otherwise : std::stoi(text);
}

guidelines::Sync sync_of(const std::string& name) {
  for (const auto sync : {guidelines::Sync::kWindow, guidelines::Sync::kRoundTime})
    if (name == name_of(sync)) return sync;
  return guidelines::Sync::kBarrier;
}

/// The inverse of settings_of().
Measuring measuring_of(const Settings& settings) {
  Measuring m;
  m.launch.ranks = number_of(settings, "nprocs", 0);
  m.launch.mpirun = text_of(settings, "mpirun_command");
  m.launch.mpi_args = text_of(settings, "mpi_args");
  m.launch.runner = text_of(settings, "runner");
  m.launch.preload = text_of(settings, "preload");
  if (const std::string waits = text_of(settings, "waits"); !waits.empty()) m.launch.waits = waits;
  for (const auto& [key, value] : settings)
    if (key.rfind(kEnvironment, 0) == 0)
      m.launch.environment.emplace_back(key.substr(std::string{kEnvironment}.size()), value);
  m.how.sync = sync_of(text_of(settings, "sync"));
  m.mpiruns = number_of(settings, "mpiruns", m.mpiruns);
  return m;
}

}  // namespace

std::string MeasuredFolder::library() const {
  return text_of(data.settings, guidelines::kMpiLibrary);
}

MeasuredFolder open_measured(const std::string& folder) {
  MeasuredFolder measured;
  measured.path = fs::absolute(folder);
  measured.catalogue = catalogue_of({}, measured.path);
  auto data = guidelines::read_data(measured.path, measured.catalogue, true, 0);
  if (!data)
    throw Failure{ExitCode::kNoInput, data.error().what, "nothing was measured", data.error().remedy};
  measured.data = std::move(data).value();
  measured.analysis = analyse(measured.catalogue, measured.data, {});
  measured.measuring = measuring_of(measured.data.settings);
  if (measured.analysis.simulated_only || measured.measuring.launch.ranks < 1)
    throw Failure{ExitCode::kUsage, folder + " was not measured natively by nplus1 guidelines run",
                  "there is nothing to measure again",
                  "measure first: nplus1 guidelines run -n N -o DIR (simulated times are exact anyway)"};
  return measured;
}

}  // namespace nplus1::cli
