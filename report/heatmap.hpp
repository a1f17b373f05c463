// A matrix of counts as shades in a terminal.
#pragma once

#include <string>
#include <vector>

#include "report/rank_matrix.hpp"
#include "report/results.hpp"

namespace nplus1::report {

/// Rows and columns shown at most; more ranks share cells, whose values add up.
inline constexpr std::size_t kMostCells = 32;

/// One line a row, a column ruler above, no legend. Zero is blank, anything else at least the lightest shade;
/// the darkest is the greatest cell.
[[nodiscard]] std::vector<std::string> heatmap(const RankMatrix& matrix, TextStyle style);

/// The sums of the cells as heatmap() groups them: at most kMostCells rows of as many columns.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> binned(const RankMatrix& matrix);

/// How many ranks one row of the heatmap stands for.
[[nodiscard]] std::size_t ranks_per_cell(std::size_t ranks);

}  // namespace nplus1::report
