// The MPI library's own algorithm settings, tried where a guideline is violated.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "analyses/guidelines/follow_up.hpp"
#include "guidelines/algorithms.hpp"
#include "report/files.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using guidelines::Advice;
using guidelines::AlgorithmSetting;
using guidelines::Cell;

constexpr const char* kAdviceFolder = "advice";
constexpr double kNeverMeasured = std::numeric_limits<double>::infinity();
constexpr int kMostMpiruns = 6;  // of each setting: the exact test reaches 0.001

/// Half round trips of plain MPI, as the campaign measured them; none if it didn't.
std::optional<guidelines::Hockney> measured_network(const guidelines::Settings& settings) {
  const auto latency = settings.find(kHockneyLatency), per_byte = settings.find(kHockneyPerByte);
  if (latency == settings.end() || per_byte == settings.end()) return std::nullopt;
  guidelines::Hockney network{};
  const auto read = [](const std::string& text, double& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{} &&
           std::isfinite(value);
  };
  if (!read(latency->second, network.latency) || !read(per_byte->second, network.per_byte))
    return std::nullopt;
  return network;
}

/// One function at all its violated sizes, measured by default and with each setting.
std::vector<Advice> advise_on(const std::string& original, const std::vector<Cell>& cells,
                              const MeasuredFolder& measured, const VariantsWatch& watch) {
  const int processes = measured.measuring.launch.ranks;
  const auto settings = guidelines::algorithm_settings(measured.library(), original);
  const auto network = measured_network(measured.data.settings);
  std::vector<Advice> advice;
  if (settings.empty()) return advice;
  std::vector<Variant> variants{{original + "-default", {}, {}}};
  for (const AlgorithmSetting& setting : settings)
    variants.push_back({fmt::format("{}-{}", original, setting.algorithm), setting.environment, {}});
  const auto times = measure_variants(measured, cells, variants, kAdviceFolder, watch);
  for (const Cell& cell : cells)
    advice.push_back({original, processes, cell.size, kNeverMeasured, kNeverMeasured, {}});
  for (std::size_t k = 0; k < settings.size(); ++k) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Effect effect = effect_of(cells[i], processes, times[0].samples, times[k + 1].samples);
      const double p = std::min(1.0, effect.p * static_cast<double>(settings.size()));
      advice[i].before = effect.before;
      advice[i].mock_up = std::min(advice[i].mock_up, effect.mock_up);
      std::optional<double> hockney;
      if (network)
        hockney = guidelines::estimate(*network, original, settings[k].algorithm, processes,
                                       static_cast<double>(cells[i].size));
      advice[i].tried.push_back({settings[k], effect.after, p, hockney, times[k + 1].failure});
    }
  }
  return advice;
}

bool removes_all(const std::vector<Advice>& advice) {
  return std::all_of(advice.begin(), advice.end(), [](const Advice& one) {
    return one.best() != nullptr && one.removes_violation(*one.best());
  });
}

std::filesystem::path write_json(const MeasuredFolder& measured, const std::vector<Advice>& advice) {
  auto file = measured.path / guidelines::kAdviceFile;
  need(report::write_file(file, advice_json(advice, measured.library())), Fault::kOutput,
       "the advice is only printed");
  return file;
}

}  // namespace

Advised advise_settings(const std::string& folder, double budget, const AdviceWatch& watch) {
  MeasuredFolder measured = open_measured(folder);
  std::map<std::string, std::vector<Cell>> by_original;
  for (Cell& cell : violated_patterns(measured)) by_original[cell.original].push_back(std::move(cell));
  Advised advised;
  if (by_original.empty()) {
    advised.undecided = undecided_in(measured);
    return advised;
  }
  Measuring& measuring = measured.measuring;
  measuring.mpiruns = std::min(measuring.mpiruns, kMostMpiruns);
  const auto functions = std::count_if(by_original.begin(), by_original.end(), [&](const auto& one) {
    return !guidelines::algorithm_settings(measured.library(), one.first).empty();
  });
  measuring.budget = budget / static_cast<double>(std::max<std::ptrdiff_t>(1, functions));
  std::vector<Advice> all;
  for (const auto& [original, cells] : by_original) {
    advised.functions.push_back({original, advise_on(original, cells, measured, watch)});
    const FunctionAdvice& one = advised.functions.back();
    if (watch.advised) watch.advised(one);
    advised.all_removed = advised.all_removed && !one.sizes.empty() && removes_all(one.sizes);
    all.insert(all.end(), one.sizes.begin(), one.sizes.end());
  }
  advised.file = write_json(measured, all);
  return advised;
}

}  // namespace nplus1::analyses
