#include "cli/guidelines/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

using guidelines::Settings;

constexpr const char* kEnvironment = "env_";
/// The plan of the mpirun that runs, or of the one that was interrupted.
constexpr const char* kUnfinished = "measurements.plan";

std::string text_of(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string{} : found->second;
}

int number_of(const Settings& settings, const std::string& key, int otherwise) {
  const std::string text = text_of(settings, key);
  if (text.empty()) return otherwise;
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && rest == end) return number;
  throw Failure{ExitCode::kNoInput, fmt::format("the measurement's setting {}={} is no number", key, text),
                "nothing was measured", "correct that line of the file, or measure anew"};
}

/// How many of its mpiruns a measurement has; nothing if all.
std::optional<int> mpiruns_so_far(const MeasuredFolder& measured) {
  int most = 0;
  for (const auto& [place, sample] : measured.data.native)
    if (!sample.mpiruns.empty()) most = std::max(most, sample.mpiruns.back() + 1);
  std::error_code error;
  const bool interrupted = fs::exists(measured.path / kUnfinished, error);
  const int wanted = number_of(measured.data.settings, "mpiruns", most);
  return interrupted || most < wanted ? std::optional{most} : std::nullopt;
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

void check_nothing_was_missed(const MeasuredFolder& measured) {
  if (const auto so_far = mpiruns_so_far(measured))
    throw Failure{ExitCode::kNoInput,
                  fmt::format("the measurement in {} is not finished: it is in mpirun {} of {}",
                              measured.path.string(), *so_far, measured.measuring.mpiruns),
                  "no violation is found so far, which says nothing yet",
                  "finish it: the same nplus1 guidelines run, with -o " + measured.path.string()};
  const auto undecided = std::count_if(
      measured.analysis.comparisons.begin(), measured.analysis.comparisons.end(),
      [](const guidelines::Comparison& c) { return c.verdict == guidelines::Verdict::kUndecided; });
  if (undecided > 0)
    fmt::print("{} comparisons are undecided, with {} mpiruns: a violation would show from {} on (--runs)\n",
               undecided, measured.analysis.fewest_runs, measured.analysis.runs_needed);
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
