#include "analyses/guidelines/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include "guidelines/nrep_page.hpp"
#include "report/files.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

using guidelines::Catalogue;
using guidelines::Cell;

constexpr double kOverBudget = 1.1;
constexpr const char* kMeasurements = "measurements.csv";
constexpr const char* kSimulated = "simulated.csv";  // beside measured ones, to be compared with them

Catalogue chosen(const CampaignOptions& options) {
  Catalogue catalogue = catalogue_of(options.catalogue);
  auto sizes = options.sizes;
  std::sort(sizes.begin(), sizes.end());
  if (!sizes.empty()) {
    for (guidelines::Guideline& g : catalogue.guidelines) g.sizes = sizes;
  }
  return catalogue;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Stopped{{folder.string() + " can't be made: " + error.message(), "name another folder with -o",
                   Fault::kOutput},
                  "nothing was measured"};
}

/// Beside the measurements, which are kept whatever becomes of it.
void write_beside(const fs::path& file, const std::string& text) {
  if (const auto written = report::write_file(file, text); !written)
    throw Stopped{{written.error().what, written.error().remedy + "; the same command goes on where it was",
                   Fault::kOutput},
                  "what was measured is there, this file is not"};
}

void plot_repetitions(const fs::path& folder, const guidelines::Criteria& criteria) {
  std::ifstream in{folder / kLooks, std::ios::binary};
  const auto looks = guidelines::read_looks({std::istreambuf_iterator<char>{in}, {}});
  if (!looks.empty()) write_beside(folder / "nrep.html", guidelines::nrep_page(looks, criteria));
}

CampaignPlan plan_of(const Measuring& measuring, const std::vector<Cell>& cells,
                     const guidelines::Allotment& allotment) {
  CampaignPlan plan{0, cells.size(), measuring, allotment};
  for (const Cell& cell : cells) plan.tests += cell.tests.size();
  return plan;
}

}  // namespace

bool CampaignPlan::exceeds_budget() const {
  return !measuring.repetitions && allotment.least > kOverBudget * measuring.budget;
}

bool MeasuredCampaign::took_longer() const {
  return !plan.measuring.repetitions && spent > kOverBudget * plan.measuring.budget;
}

MeasuredCampaign measure_campaign(CampaignOptions options, const CampaignWatch& watch) {
  if (options.simulated()) {  // every repetition and every mpirun is the same
    options.measuring.mpiruns = 1;
    options.measuring.repetitions = 2;
  }
  auto cells = guidelines::cells_of(chosen(options), !options.simulated() && options.again);
  make_folder(options.folder);
  const fs::path folder = fs::absolute(options.folder);
  keep_own_guidelines(options.catalogue, folder);
  const std::string head = guidelines::csv_head(settings_of(options.measuring));
  const std::string settings_only = head.substr(0, head.rfind('\n', head.size() - 2) + 1);
  const auto allotment = decide_repetitions(options.measuring, cells, folder, settings_only, watch);
  if (!options.simulated()) plot_repetitions(folder, options.measuring.how.criteria);
  MeasuredCampaign campaign;
  campaign.plan = plan_of(options.measuring, cells, allotment);
  if (watch.planned) watch.planned(campaign.plan);
  campaign.file = folder / (options.simulated() ? kSimulated : kMeasurements);
  Measuring rest = options.measuring;
  rest.budget = std::max(0.0, rest.budget - allotment.spent);
  const auto begin = std::chrono::steady_clock::now();
  campaign.notes = measure(rest, cells, campaign.file, head, watch).notes;
  campaign.spent =
      allotment.spent + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return campaign;
}

std::vector<guidelines::Drift> drifts_of(const fs::path& folder) {
  guidelines::DriftFinder finder;
  const auto read = guidelines::read_raw(
      {folder / kMeasurements}, [&](const guidelines::Measurement& m, const auto&) { finder.add(m); });
  if (!read)
    throw Stopped{{read.error().what, read.error().remedy, Fault::kInput},
                  "it is not known whether tests changed while they were repeated"};
  auto drifts = finder.found();
  if (!drifts.empty()) write_beside(folder / "drift.csv", guidelines::drift_csv(drifts));
  return drifts;
}

}  // namespace nplus1::analyses
