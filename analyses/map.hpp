// Where the ranks of a recorded program should run on a platform: a search by replays. The library behind `nplus1 map`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/replay.hpp"
#include "hypothesis/whatif/placement.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

struct MapOptions {
  ReplaySettings replay;          // source, platform, collectives, jobs
  std::vector<std::string> also;  // map files to start from as well
  std::string start = "round-robin";
  int replays = 100;
  std::uint64_t seed = 1;
};

/// One placement that was tried.
struct MapTrial {
  std::string name;
  hypothesis::Placement placement;  // on the places of the start
  Time end{};                       // of the replay
  double hop_bytes = 0;
};

struct MapSearch {
  std::string application;
  std::string platform;
  std::vector<std::string> hosts;  // of the places: those of the start, by rank
  std::vector<MapTrial>
      trials;  // the start first; the ones that were searched for by rules; the best found last
  std::size_t replays = 0;
  std::size_t steps = 0;  // swaps that lowered the time
  std::size_t best = 0;   // of the trials
  [[nodiscard]] std::string host_of(const MapTrial& trial, std::size_t rank) const {
    return hosts[trial.placement[rank]];
  }
};

/// Face.
[[nodiscard]] Result<MapSearch> search_map(const MapOptions& options, const Progress& progress = {});

}  // namespace nplus1::analyses
