// Layers of traffic, alone or together (docs/formats/patterns.md). Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patterns/patterns.hpp"
#include "report/rank_matrix.hpp"
#include "support/result.hpp"

namespace nplus1::patterns {

inline constexpr std::string_view kPointToPoint = "point_to_point";

/// "p2p,bcast" or "all" as layer names, each once; "p2p" is short for point_to_point. `all` gives those that
/// `patterns` has. Fails on a name that no layer has; one that this run did not use is fine, and empty.
[[nodiscard]] Result<std::vector<std::string>> parse_layers(std::string_view text, const Patterns& patterns);

/// The sum of the layers of these names, named "a+b". `elements` is there if all that have messages have it.
[[nodiscard]] Layer combine(const Patterns& patterns, const std::vector<std::string>& names);

/// One number of each cell as a matrix: &Cell::messages or &Cell::bytes.
[[nodiscard]] report::RankMatrix matrix_of(const Layer& layer, std::size_t ranks, std::uint64_t Cell::*what);

}  // namespace nplus1::patterns
