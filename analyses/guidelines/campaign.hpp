// A campaign: the catalogue's functions and their mock-ups measured over R mpiruns, natively or on a simulated network,
// into a folder. What was begun there is gone on with. One thread; throws Stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analyses/guidelines/catalogue.hpp"
#include "analyses/guidelines/measure.hpp"
#include "guidelines/drift.hpp"

namespace nplus1::analyses {

struct CampaignOptions {
  Measuring measuring;  // of a simulated one, each test is measured twice in one mpirun: all are the same
  CatalogueChoice catalogue;
  std::vector<std::uint64_t> sizes;  // bytes, instead of the catalogue's
  bool again = true;                 // originals also measured twice (A/A), to know the machine's own noise
  std::string folder;

  [[nodiscard]] bool simulated() const { return !measuring.launch.simulate.empty(); }
};

/// What is going to be measured, known once repetitions are predicted.
struct CampaignPlan {
  std::size_t tests = 0, cells = 0;
  Measuring measuring;  // as it is done
  guidelines::Allotment allotment;
  /// The least repetitions take longer than there is time.
  [[nodiscard]] bool exceeds_budget() const;
};

struct CampaignWatch : MeasuringWatch {
  std::function<void(const CampaignPlan&)> planned;
};

struct MeasuredCampaign {
  std::filesystem::path file;  // the measurements
  CampaignPlan plan;
  double spent = 0;                // seconds, with predicting
  std::vector<std::string> notes;  // what could not be measured, for people
  /// The least repetitions took longer than there was time.
  [[nodiscard]] bool took_longer() const;
};

/// Leaves measurements.csv or, simulated, simulated.csv, to be compared with measured ones; of measured ones also nrep.csv
/// and nrep.html.
[[nodiscard]] MeasuredCampaign measure_campaign(CampaignOptions options, const CampaignWatch& watch = {});

/// Which tests of a measured campaign changed their level while they were repeated; they are in drift.csv, too.
[[nodiscard]] std::vector<guidelines::Drift> drifts_of(const std::filesystem::path& folder);

}  // namespace nplus1::analyses
