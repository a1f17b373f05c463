// Where ranks should run instead, so that their bytes travel fewer hops. A heuristic: the problem (quadratic
// assignment) is NP-hard. From two starts, the numbering as it is and a greedy placement (the rank that
// exchanges most with those placed goes to the place nearest to them), pairs of ranks are swapped as long as
// that saves something or the budget of steps is used up; the better end wins. Deterministic. Pure functions.
#pragma once

#include <optional>

#include "patterns/patterns.hpp"
#include "patterns/topology.hpp"

namespace nplus1::patterns {

/// More ranks are refused: the table of distances would get too large.
inline constexpr std::size_t kMostRenumbered = 4096;

/// Sum over all messages of bytes times hops, rank r running at place_of_rank[r].
[[nodiscard]] std::uint64_t hop_bytes(const Layer& layer, const Topology& topology,
                                      const std::vector<std::int32_t>& place_of_rank);

/// Nothing if no better numbering was found. `hop_bytes_after` is recomputed from the layer, not carried
/// along.
[[nodiscard]] std::optional<Renumbering> renumber(const Layer& layer, std::size_t ranks,
                                                  const Topology& topology);

}  // namespace nplus1::patterns
