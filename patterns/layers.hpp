// Layers of traffic, alone or together (docs/formats/patterns.md). Pure functions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "patterns/patterns.hpp"
#include "report/rank_matrix.hpp"
#include "support/result.hpp"

namespace nplus1::patterns {

inline constexpr std::string_view kPointToPoint = "point_to_point";
/// Of one-sided communication, by events::OneSidedOperation.
inline constexpr std::array<std::string_view, 6> kOneSidedLayers{
    "one_sided_put",          "one_sided_get",
    "one_sided_accumulate",   "one_sided_get_accumulate",
    "one_sided_fetch_and_op", "one_sided_compare_and_swap"};
inline constexpr std::string_view kOneSidedPrefix = "one_sided_";
/// Patterns::wire, as a layer that is shown by itself: it has the others' messages in it.
inline constexpr std::string_view kWire = "wire";

/// Sets the layer's sums from its matrix.
void add_up(Layer& layer);
/// Each rank's messages sent and received, and with how many others, of the point-to-point layer.
void add_traffic(const Layer& point_to_point, std::vector<RankTotals>& totals);
/// Adds matrix, sums and sizes in bytes.
void add(Layer& into, const Layer& from);

/// "p2p,bcast", "all" or "wire" as layer names, each once; "p2p" is short for point_to_point. `all` gives
/// those that `patterns` has, without wire, which goes with no other. Fails on a name that no layer has; one
/// that this run did not use is fine, and empty.
[[nodiscard]] Result<std::vector<std::string>> parse_layers(std::string_view text, const Patterns& patterns);

/// The sum of the layers of these names, named "a+b". `elements` is there if all that have messages have it.
[[nodiscard]] Layer combine(const Patterns& patterns, const std::vector<std::string>& names);

/// One number of each cell as a matrix: &Cell::messages or &Cell::bytes.
[[nodiscard]] report::RankMatrix matrix_of(const Layer& layer, std::size_t ranks, std::uint64_t Cell::*what);

}  // namespace nplus1::patterns
