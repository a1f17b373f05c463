// A recorded run with the clock that twins of its ranks have measured (docs/clock.md): its virtual time with warm caches, and
// between which ends that lies. Throws Stopped. One thread; the replays are child processes but for the last.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyses/replay.hpp"
#include "events/definitions_collector.hpp"
#include "hypothesis/clock/stretches.hpp"

namespace nplus1::analyses {

/// The three ends of what is known of the run's time, and the interval that holds it in nine cases of ten.
struct WarmTimes {
  Duration measured{}, estimate{}, lowest{};
  Duration from{}, to{};
  Duration computing_measured{}, computing_warm{};   // of all ranks
  std::vector<hypothesis::clock::KindReport> kinds;  // of computing, where the host added most first
  events::DefinitionsCollector names;                // of the kinds' call paths
  std::size_t samples = 0;
  double slower_than_fastest = 0;  // of the host's cores: how much longer the same cycles took on average
  int ranks = 0;
  bool finished = true;
};

/// With a folder, results with that clock go there. `other_runs`: as for fitted_stretches().
[[nodiscard]] WarmTimes warm_times(const ReplaySettings& settings,
                                   const std::optional<ReplayFolder>& folder = {},
                                   const std::vector<std::string>& other_runs = {});

/// The document of the times of the recording at `source` (docs/formats/clock.md).
[[nodiscard]] std::string clock_json(const std::string& source, const WarmTimes& times);

/// For the end of a run with --compute warm: leaves in its folder the clock's document, and below it results and a recording
/// with that clock.
WarmTimes leave_warm_results(const std::string& folder);

/// For the end of a series of runs with --compute warm: the first of `runs` with the clock that all of them tell, its results,
/// recording and the clock's document in the new folder `output`.
WarmTimes leave_results_of_all(const std::vector<std::string>& runs, const std::string& output);

}  // namespace nplus1::analyses
