#include "analyses/guidelines/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "guidelines/follow_up.hpp"
#include "guidelines/statistics.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

const guidelines::Sample* sample_of(const guidelines::Samples& samples, int processes,
                                    const std::string& test, std::uint64_t size) {
  const auto found = samples.find({processes, test, size});
  return found == samples.end() || found->second.medians.empty() ? nullptr : &found->second;
}

struct VariantCampaign {
  Measuring measuring;
  fs::path file;
  std::string failure{};
};

/// How long a trial may give no sign of life where all tests together took `seconds` without what is tried.
std::chrono::seconds patience_of_trials(double seconds) {
  constexpr double kTimes = 10;
  constexpr std::chrono::seconds kLeast{5};
  return std::max(kLeast, std::chrono::seconds{static_cast<long>(kTimes * seconds)});
}

Measuring changed(Measuring measuring, const Variant& variant) {
  for (const auto& variable : variant.environment) measuring.launch.environment.push_back(variable);
  if (!variant.preload.empty()) {  // in front: it replaces what others wrap
    const std::string others = measuring.launch.preload;
    measuring.launch.preload = variant.preload + (others.empty() ? "" : ":") + others;
  }
  return measuring;
}

guidelines::Samples samples_of(const fs::path& file, const guidelines::Catalogue& catalogue, int ranks) {
  return need(guidelines::read_data(file, catalogue, true, ranks), Fault::kInput, "nothing was compared")
      .native;
}

}  // namespace

std::vector<VariantTimes> measure_variants(const MeasuredFolder& measured,
                                           const std::vector<guidelines::Cell>& cells,
                                           const std::vector<Variant>& variants, const std::string& folder,
                                           const VariantsWatch& watch) {
  std::error_code error;
  fs::create_directories(measured.path / folder, error);
  std::vector<VariantCampaign> campaigns;
  for (const Variant& variant : variants) {
    campaigns.push_back(
        {changed(measured.measuring, variant), measured.path / folder / (variant.name + ".csv")});
    campaigns.back().measuring.on_trial = campaigns.size() > 1;
  }
  const int mpiruns = measured.measuring.mpiruns;
  const double share = measured.measuring.budget / static_cast<double>(variants.size()) / mpiruns;
  const MeasuringWatch later{{}, watch.prints, {}};  // the lines of a variant's mpiruns are alike
  std::set<std::string> said;
  const auto say = [&](const fs::path& file, const std::string& note) {
    if (said.insert(file.string() + note).second && watch.note) watch.note(file.stem().string(), note);
  };
  const bool anew = !fs::exists(campaigns.front().file, error);
  const auto begin = std::chrono::steady_clock::now();
  for (int done = 1; done <= mpiruns; ++done) {
    for (auto& [measuring, file, failure] : campaigns) {
      if (!failure.empty()) continue;
      Measuring part = measuring;  // goes on for one more mpirun
      part.mpiruns = done;
      part.budget = share * done;
      guidelines::Settings settings = settings_of(measuring);
      settings.erase(kBudget);  // with more of it, they go on
      const std::string head = guidelines::csv_head(settings);
      const Outcome outcome = measure(part, cells, file, head, done > 1 ? later : watch);
      for (const std::string& note : outcome.notes) say(file, note);
      failure = outcome.failure;
      if (!failure.empty()) say(file, failure + ": not tried further");
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (anew && done == 1 && !measuring.on_trial)
        for (VariantCampaign& other : campaigns)
          other.measuring.patience = std::min(other.measuring.patience, patience_of_trials(took.count()));
    }
  }
  std::vector<VariantTimes> times;
  for (const auto& [measuring, file, failure] : campaigns)
    times.push_back({samples_of(file, measured.catalogue, measuring.launch.ranks), failure});
  return times;
}

Effect effect_of(const guidelines::Cell& cell, int processes, const guidelines::Samples& before,
                 const guidelines::Samples& after) {
  const auto* old_times = sample_of(before, processes, cell.original, cell.size);
  const auto* new_times = sample_of(after, processes, cell.original, cell.size);
  Effect effect{kNever, kNever, kNever, 1};
  if (old_times != nullptr) effect.before = guidelines::median(old_times->medians);
  if (new_times != nullptr) effect.after = guidelines::median(new_times->medians);
  if (old_times != nullptr && new_times != nullptr)
    effect.p = guidelines::rank_sum(old_times->medians, new_times->medians).p;
  for (const guidelines::TimedTest& test : cell.tests) {
    if (test.name == cell.original) continue;
    for (const auto* samples : {&before, &after})
      if (const auto* times = sample_of(*samples, processes, test.name, cell.size))
        effect.mock_up = std::min(effect.mock_up, guidelines::median(times->medians));
  }
  return effect;
}

std::vector<guidelines::Cell> violated_patterns(const MeasuredFolder& measured) {
  guidelines::Analysis patterns = measured.analysis;
  std::erase_if(patterns.comparisons, [](const guidelines::Comparison& c) {
    return c.rule != guidelines::Rule::kPattern || c.confirmed == false;
  });
  return confirmation_cells(patterns, measured.data, measured.measuring.how.criteria.least);
}

}  // namespace nplus1::analyses
