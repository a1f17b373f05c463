// Where ranks should run: placements on the hosts of a job, by what a network's routes say, before any replay. Two
// measures: bytes times links crossed (a quadratic assignment problem, NP-hard), and how evenly the bytes fill the links.
// Both are improved by swaps of two ranks from a start that is given or greedy (the rank that exchanges most with those
// placed goes to the nearest place). Deterministic. Pure functions.
//
// Sources: T. Hoefler, M. Snir, *Generic topology mapping strategies for large-scale parallel architectures*, ICS 2011
// (greedy, and congestion as a measure); B. Kernighan, S. Lin, 1970 (improvement by exchanges).
#pragma once

#include <cstdint>
#include <vector>

#include "netmodel/link_usage.hpp"

namespace nplus1::hypothesis {

/// By rank: its place, 0..n-1; each place once.
using Placement = std::vector<std::uint32_t>;

struct PlacementProblem {
  struct Peer {
    std::uint32_t rank;
    double bytes;  // that are sent to it
  };
  std::size_t n = 0;
  std::vector<std::vector<Peer>> sent;  // by rank
  std::vector<std::vector<netmodel::LinkUsage::Number>>
      ways;                              // from place * n + to place: links; same host: none
  std::vector<double> seconds_per_byte;  // of each link

  [[nodiscard]] const std::vector<netmodel::LinkUsage::Number>& way(std::uint32_t from,
                                                                    std::uint32_t to) const {
    return ways[from * n + to];
  }
};

[[nodiscard]] Placement as_it_is(std::size_t n);

/// Sum over all messages of bytes times links crossed.
[[nodiscard]] double hop_bytes(const PlacementProblem& problem, const Placement& placement);
/// Sum over links of the square of the time for which the bytes alone would fill them.
[[nodiscard]] double unevenness(const PlacementProblem& problem, const Placement& placement);

[[nodiscard]] Placement greedy(const PlacementProblem& problem);

enum class Measure : std::uint8_t { kHopBytes, kUnevenness };
/// Swaps pairs of ranks as long as that lowers the measure, and no longer than `most` swaps are looked at.
[[nodiscard]] Placement improved(const PlacementProblem& problem, Placement placement, Measure measure,
                                 std::uint64_t most = 4'000'000);

}  // namespace nplus1::hypothesis
