// `nplus1 guidelines advise`: tries the MPI library's own algorithm settings where a guideline is violated,
// and reports those that were measured to help.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/guidelines/variants.hpp"
#include "cli/program.hpp"
#include "guidelines/advice.hpp"
#include "guidelines/algorithms.hpp"
#include "report/files.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

using guidelines::Advice;
using guidelines::AlgorithmSetting;
using guidelines::Cell;

constexpr const char* kGuidelinesAdviseExamples =
    "  nplus1 guidelines run -n 8 -o measured\n"
    "  nplus1 guidelines advise measured      each setting is measured, none is only believed\n";
constexpr const char* kFolder = "advice";
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kMostMpiruns = 6;  // of each setting: the exact test reaches 0.001

struct AdviseWords {
  std::string folder;
  std::string budget = "5min";
  bool quiet = false;
};

/// Half round trips of plain MPI, as `nplus1 guidelines run` measured them; none if it didn't.
std::optional<guidelines::Hockney> network_of(const guidelines::Settings& settings) {
  const auto latency = settings.find(kHockneyLatency), per_byte = settings.find(kHockneyPerByte);
  if (latency == settings.end() || per_byte == settings.end()) return std::nullopt;
  return guidelines::Hockney{std::stod(latency->second), std::stod(per_byte->second)};
}

/// One function at all its violated sizes, measured by default and with each setting.
std::vector<Advice> advise_on(const std::string& original, const std::vector<Cell>& cells,
                              const MeasuredFolder& measured) {
  const int processes = measured.measuring.launch.ranks;
  const auto settings = guidelines::algorithm_settings(measured.library(), original);
  const auto network = network_of(measured.data.settings);
  std::vector<Advice> advice;
  if (settings.empty()) return advice;
  std::vector<Variant> variants{{original + "-default", {}, {}}};
  for (const AlgorithmSetting& setting : settings)
    variants.push_back({fmt::format("{}-{}", original, setting.algorithm), setting.environment, {}});
  const auto samples = measure_variants(measured, cells, variants, kFolder);
  for (const Cell& cell : cells) advice.push_back({original, processes, cell.size, kNever, kNever, {}});
  for (std::size_t k = 0; k < settings.size(); ++k) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Effect effect = effect_of(cells[i], processes, samples[0], samples[k + 1]);
      const double p = std::min(1.0, effect.p * static_cast<double>(settings.size()));
      advice[i].before = effect.before;
      advice[i].mock_up = std::min(advice[i].mock_up, effect.mock_up);
      std::optional<double> hockney;
      if (network)
        hockney = guidelines::estimate(*network, original, settings[k].algorithm, processes,
                                       static_cast<double>(cells[i].size));
      advice[i].tried.push_back({settings[k], effect.after, p, hockney});
    }
  }
  return advice;
}

bool removes_all(const std::vector<Advice>& advice) {
  return std::all_of(advice.begin(), advice.end(), [](const Advice& one) {
    return one.best() != nullptr && one.removes_violation(*one.best());
  });
}

void write_json(const MeasuredFolder& measured, const std::vector<Advice>& advice) {
  const auto file = measured.path / guidelines::kAdviceFile;
  const auto written = report::write_file(file, advice_json(advice, measured.library()));
  if (!written)
    throw Failure{ExitCode::kCantCreate, written.error().what, "the advice is only printed",
                  written.error().remedy};
  fmt::print(stderr, "wrote {}\n", file.string());
}

int advise(const AdviseWords& words) {
  MeasuredFolder measured = open_measured(words.folder);
  std::map<std::string, std::vector<Cell>> by_original;
  for (Cell& cell : violated_patterns(measured)) by_original[cell.original].push_back(std::move(cell));
  if (by_original.empty()) {
    check_nothing_was_missed(measured);
    fmt::print("no pattern guideline was found violated: there is nothing to advise\n");
    return static_cast<int>(ExitCode::kOk);
  }
  Measuring& measuring = measured.measuring;
  measuring.quiet = words.quiet;
  measuring.mpiruns = std::min(measuring.mpiruns, kMostMpiruns);
  const auto has_settings = [&](const auto& one) {
    return !guidelines::algorithm_settings(measured.library(), one.first).empty();
  };
  const auto functions = std::count_if(by_original.begin(), by_original.end(), has_settings);
  measuring.budget =
      parse_duration(words.budget) / static_cast<double>(std::max<std::ptrdiff_t>(1, functions));
  std::vector<Advice> all;
  bool all_removed = true;
  for (const auto& [original, cells] : by_original) {
    const auto advice = advise_on(original, cells, measured);
    if (advice.empty())
      fmt::print("\n{}: no settings are known; the program itself can call what is faster\n", original);
    else
      fmt::print("\nMPI_{}: {} settings of the library's\n{}", original, advice.front().tried.size(),
                 advice_text(advice));
    all_removed = all_removed && !advice.empty() && removes_all(advice);
    all.insert(all.end(), advice.begin(), advice.end());
  }
  write_json(measured, all);
  if (!all_removed)
    fmt::print(
        "\nWhere no setting helps, a library to preload may: nplus1 guidelines tune {} -o libtuned.so\n",
        quote(words.folder));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_advise(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part =
      guidelines.add_subcommand("advise", "Try the MPI library's settings where a guideline is violated");
  set_manual(*part, {"nplus1 guidelines advise DIR [options]", kGuidelinesAdviseExamples});
  const auto words = std::make_shared<AdviseWords>();
  part->add_option("folder", words->folder, "What nplus1 guidelines run measured")
      ->required()
      ->type_name("DIR");
  part->add_option("--budget", words->budget, "How long all settings may take [5min]")->type_name("TIME");
  part->add_flag("-q,--quiet", words->quiet, "No progress");
  part->callback([registration, words] { registration.chosen = [words] { return advise(*words); }; });
}

}  // namespace nplus1::cli
