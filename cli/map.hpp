// `nplus1 map`: the search, apart from the command line and the files that it writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/replay.hpp"
#include "hypothesis/placement.hpp"

namespace nplus1::cli {

inline constexpr const char* kNothingMapped = "no mapping was looked for, nothing is written";

struct MapWords {
  ReplayWords replay;
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

/// Throws Failure.
[[nodiscard]] MapSearch search_map(const MapWords& words);

}  // namespace nplus1::cli
