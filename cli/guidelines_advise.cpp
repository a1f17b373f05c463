// `nplus1 guidelines advise`: tries the MPI library's own algorithm settings where a guideline is violated,
// and reports those that were measured to help.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/failure.hpp"
#include "cli/guidelines.hpp"
#include "cli/guidelines_options.hpp"
#include "cli/guidelines_variants.hpp"
#include "cli/program.hpp"
#include "guidelines/algorithms.hpp"

namespace nplus1::cli {
namespace {

using guidelines::AlgorithmSetting;
using guidelines::Cell;

constexpr const char* kExamples =
    "  nplus1 guidelines run -n 8 -o measured\n"
    "  nplus1 guidelines advise measured      each setting is measured, none is only believed\n";
constexpr const char* kFolder = "advice";
constexpr int kMostMpiruns = 6;  // of each setting: the exact test reaches 0.001

struct AdviseWords {
  std::string folder;
  std::string budget = "5min";
  bool quiet = false;
};

struct Tried {
  AlgorithmSetting setting;
  guidelines::Samples samples;
};

std::string environment_text(const AlgorithmSetting& setting) {
  std::string text;
  for (const auto& [name, value] : setting.environment) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string library_of(const MeasuredFolder& measured) {
  const auto found = measured.data.settings.find(guidelines::kMpiLibrary);
  return found == measured.data.settings.end() ? std::string{} : found->second;
}

std::string estimate_text(const std::optional<guidelines::Hockney>& network, const Cell& cell,
                          const std::string& algorithm, int processes) {
  if (!network) return {};
  const auto seconds =
      guidelines::estimate(*network, cell.original, algorithm, processes, static_cast<double>(cell.size));
  return seconds ? fmt::format(" (Hockney: {:.2f} us)", 1e6 * *seconds) : std::string{};
}

/// The best setting for one function at one size, or that none helps. True if one removes the violation.
bool print_best(const Cell& cell, int processes, const guidelines::Samples& before,
                const std::vector<Tried>& tried, const std::optional<guidelines::Hockney>& network) {
  const Tried* best = nullptr;
  Effect best_effect;
  for (const Tried& one : tried) {
    const Effect effect = effect_of(cell, processes, before, one.samples);
    if (!effect.faster() || (best != nullptr && effect.after >= best_effect.after)) continue;
    best = &one;
    best_effect = effect;
  }
  if (best == nullptr) {
    fmt::print("  {:>8} B  no setting helps\n", cell.size);
    return false;
  }
  const bool removed = best_effect.removes_violation();
  fmt::print("  {:>8} B  {:<36} {:>8.2f} us -> {:>8.2f} us, {:.2f} x faster{}; the mock-up: {:.2f} us: {}\n",
             cell.size, best->setting.algorithm, 1e6 * best_effect.before, 1e6 * best_effect.after,
             best_effect.before / best_effect.after,
             estimate_text(network, cell, best->setting.algorithm, processes), 1e6 * best_effect.mock_up,
             removed ? "violation gone" : "still violated");
  return removed;
}

/// Half round trips of plain MPI, as `nplus1 guidelines run` measured them; none if it didn't.
std::optional<guidelines::Hockney> network_of(const guidelines::Settings& settings) {
  const auto latency = settings.find(kHockneyLatency), per_byte = settings.find(kHockneyPerByte);
  if (latency == settings.end() || per_byte == settings.end()) return std::nullopt;
  return guidelines::Hockney{std::stod(latency->second), std::stod(per_byte->second)};
}

/// Whether every size of the function found a setting that removes its violation.
bool advise_on(const std::string& original, const std::vector<Cell>& cells, const MeasuredFolder& measured) {
  const auto settings = guidelines::algorithm_settings(library_of(measured), original);
  fmt::print("\nMPI_{}: {} settings of the library's\n", original, settings.size());
  if (settings.empty()) return false;
  const auto before = measure_variant(measured, cells, {original + "-default", {}, {}}, kFolder);
  std::vector<Tried> tried;
  for (const AlgorithmSetting& setting : settings) {
    const Variant variant{fmt::format("{}-{}", original, setting.algorithm), setting.environment, {}};
    tried.push_back({setting, measure_variant(measured, cells, variant, kFolder)});
  }
  bool all_removed = true;
  for (const Cell& cell : cells)
    all_removed = print_best(cell, measured.measuring.launch.ranks, before, tried,
                             network_of(measured.data.settings)) &&
                  all_removed;
  for (const Tried& one : tried)
    fmt::print("    {:<36}{}\n", one.setting.algorithm, environment_text(one.setting));
  return all_removed;
}

int advise(const AdviseWords& words) {
  MeasuredFolder measured = open_measured(words.folder);
  std::map<std::string, std::vector<Cell>> by_original;
  for (Cell& cell : violated_patterns(measured)) by_original[cell.original].push_back(std::move(cell));
  if (by_original.empty()) {
    fmt::print("no pattern guideline was found violated: there is nothing to advise\n");
    return static_cast<int>(ExitCode::kOk);
  }
  Measuring& measuring = measured.measuring;
  measuring.quiet = words.quiet;
  measuring.mpiruns = std::min(measuring.mpiruns, kMostMpiruns);
  std::size_t variants = 0;
  for (const auto& [original, cells] : by_original)
    variants += 1 + guidelines::algorithm_settings(library_of(measured), original).size();
  measuring.budget = parse_duration(words.budget) / static_cast<double>(variants);
  bool all_removed = true;
  for (const auto& [original, cells] : by_original)
    all_removed = advise_on(original, cells, measured) && all_removed;
  if (!all_removed)
    fmt::print(
        "\nWhere no setting helps, a library to preload may: nplus1 guidelines tune {} -o libtuned.so\n",
        words.folder);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_advise(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part =
      guidelines.add_subcommand("advise", "Try the MPI library's settings where a guideline is violated");
  set_manual(*part, {"nplus1 guidelines advise DIR [options]", kExamples});
  const auto words = std::make_shared<AdviseWords>();
  part->add_option("folder", words->folder, "What nplus1 guidelines run measured")
      ->required()
      ->type_name("DIR");
  part->add_option("--budget", words->budget, "How long all settings may take [5min]")->type_name("TIME");
  part->add_flag("-q,--quiet", words->quiet, "No progress");
  part->callback([registration, words] { registration.chosen = [words] { return advise(*words); }; });
}

}  // namespace nplus1::cli
