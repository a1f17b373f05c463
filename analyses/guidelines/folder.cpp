#include "analyses/guidelines/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>

#include "analyses/guidelines/catalogue.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

using guidelines::Settings;

constexpr const char* kEnvironment = "env_";
constexpr int kMostRanks = 1 << 20, kMostCampaignMpiruns = 10000;  // as nplus1 guidelines run takes them
constexpr double kMostWindow = 3600;
/// The plan of the mpirun that runs, or of the one that was interrupted.
constexpr const char* kUnfinished = "measurements.plan";

std::string text_of(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string{} : found->second;
}

/// From 1 to `most`.
template <class Number>
Number number_of(const Settings& settings, const std::string& key, Number otherwise, Number most) {
  const std::string text = text_of(settings, key);
  if (text.empty()) return otherwise;
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && rest == end && number > 0 && number <= most) return number;
  throw Stopped{{fmt::format("the measurement's setting {}={} is no number from {} to {}", key, text,
                             std::is_integral_v<Number> ? "1" : "above 0", most),
                 "correct that line of the file, or measure anew", Fault::kInput},
                "nothing was measured"};
}

/// How many of its mpiruns a measurement has; nothing if all.
std::optional<int> mpiruns_so_far(const MeasuredFolder& measured) {
  int most = 0;
  for (const auto& [place, sample] : measured.data.native)
    if (!sample.mpiruns.empty())
      most = std::max(most, std::min(sample.mpiruns.back(), kMostCampaignMpiruns) + 1);
  std::error_code error;
  const bool interrupted = fs::exists(measured.path / kUnfinished, error);
  const int wanted = number_of(measured.data.settings, "mpiruns", most, kMostCampaignMpiruns);
  return interrupted || most < wanted ? std::optional{most} : std::nullopt;
}

/// The inverse of settings_of().
Measuring measuring_of(const Settings& settings) {
  Measuring m;
  m.launch.ranks = number_of(settings, "nprocs", 0, kMostRanks);
  m.launch.mpirun = text_of(settings, "mpirun_command");
  m.launch.mpi_args = text_of(settings, "mpi_args");
  m.launch.runner = text_of(settings, "runner");
  m.launch.preload = text_of(settings, "preload");
  if (const std::string waits = text_of(settings, "waits"); !waits.empty()) m.launch.waits = waits;
  for (const auto& [key, value] : settings)
    if (key.rfind(kEnvironment, 0) == 0)
      m.launch.environment.emplace_back(key.substr(std::string{kEnvironment}.size()), value);
  m.how.window = number_of(settings, "window_s", m.how.window, kMostWindow);
  m.how.sync = guidelines::sync_of(text_of(settings, "sync")).value_or(guidelines::Sync::kBarrier);
  m.mpiruns = number_of(settings, "mpiruns", m.mpiruns, kMostCampaignMpiruns);
  return m;
}

/// Files of other numbers of ranks may lie in the same folder; what is measured again has the ranks of the settings.
void keep_only_its_ranks(MeasuredFolder& measured) {
  const int ranks = measured.measuring.launch.ranks;
  auto& comparisons = measured.analysis.comparisons;
  const bool any = !comparisons.empty();
  std::erase_if(comparisons, [&](const guidelines::Comparison& c) { return c.processes != ranks; });
  if (any && comparisons.empty())
    throw Stopped{{fmt::format("{} has nprocs={}, and no measurements of {} ranks", measured.path.string(),
                               ranks, ranks),
                   "correct that line of the file, or measure anew", Fault::kInput},
                  "nothing was measured"};
}

}  // namespace

std::string MeasuredFolder::library() const {
  return text_of(data.settings, guidelines::kMpiLibrary);
}

Undecided undecided_in(const MeasuredFolder& measured) {
  if (const auto so_far = mpiruns_so_far(measured))
    throw Stopped{
        {fmt::format("the measurement in {} is not finished: it is in mpirun {} of {}",
                     measured.path.string(), *so_far, measured.measuring.mpiruns),
         "finish it: the same nplus1 guidelines run, with -o " + measured.path.string(), Fault::kInput},
        "no pattern guideline is found violated so far, which says nothing yet"};
  const auto undecided = std::count_if(
      measured.analysis.comparisons.begin(), measured.analysis.comparisons.end(),
      [](const guidelines::Comparison& c) { return c.verdict == guidelines::Verdict::kUndecided; });
  return {static_cast<std::size_t>(undecided), measured.analysis.fewest_runs, measured.analysis.runs_needed};
}

MeasuredFolder open_measured(const std::string& folder) {
  MeasuredFolder measured;
  measured.path = fs::absolute(folder);
  measured.catalogue = catalogue_of({}, measured.path);
  auto data = guidelines::read_data(measured.path, measured.catalogue, true, 0);
  if (!data) throw Stopped{{data.error().what, data.error().remedy, Fault::kInput}, "nothing was measured"};
  measured.data = std::move(data).value();
  measured.analysis = analyse(measured.catalogue, measured.data, {});
  measured.measuring = measuring_of(measured.data.settings);
  if (measured.analysis.simulated_only || measured.measuring.launch.ranks < 1)
    throw Stopped{{folder + " was not measured natively by nplus1 guidelines run",
                   "measure first: nplus1 guidelines run -n N -o DIR (simulated times are exact anyway)",
                   Fault::kUsage},
                  "there is nothing to measure again"};
  keep_only_its_ranks(measured);
  return measured;
}

}  // namespace nplus1::analyses
