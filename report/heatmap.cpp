#include "report/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nplus1::report {
namespace {

constexpr std::size_t kShades = 5;
constexpr std::array<const char*, kShades> kUnicode{"  ", "░░", "▒▒", "▓▓", "██"};
constexpr std::array<const char*, kShades> kAscii{" .", " -", " +", " *", " #"};

/// 0 for nothing; 1 to 4 by quarters of the greatest.
std::size_t shade(std::uint64_t value, std::uint64_t greatest) {
  if (value == 0) return 0;
  const double part = static_cast<double>(value) / static_cast<double>(greatest);
  return 1 + std::min<std::size_t>(kShades - 2, static_cast<std::size_t>(part * (kShades - 1)));
}

/// The first rank of every fourth column, above it.
std::string ruler(std::size_t cells, std::size_t per_cell) {
  std::string line(6, ' ');
  for (std::size_t column = 0; column < cells; column += 4) line += fmt::format("{:<8}", column * per_cell);
  line.resize(std::min(line.size(), line.find_last_not_of(' ') + 1));
  return line;
}

}  // namespace

std::size_t ranks_per_cell(std::size_t ranks) {
  return ranks == 0 ? 1 : (ranks + kMostCells - 1) / kMostCells;
}

std::vector<std::vector<std::uint64_t>> binned(const RankMatrix& matrix) {
  const std::size_t per_cell = ranks_per_cell(matrix.ranks());
  const std::size_t cells = (matrix.ranks() + per_cell - 1) / per_cell;
  std::vector<std::vector<std::uint64_t>> sums(cells, std::vector<std::uint64_t>(cells));
  for (std::size_t from = 0; from < matrix.ranks(); ++from) {
    const auto row = matrix.row(RankId{static_cast<std::int32_t>(from)});
    for (std::size_t to = 0; to < row.size(); ++to) sums[from / per_cell][to / per_cell] += row[to];
  }
  return sums;
}

std::vector<std::string> heatmap(const RankMatrix& matrix, TextStyle style) {
  const auto cells = binned(matrix);
  const std::size_t per_cell = ranks_per_cell(matrix.ranks());
  std::uint64_t greatest = 0;
  for (const auto& row : cells) greatest = std::max(greatest, *std::max_element(row.begin(), row.end()));
  std::vector<std::string> lines{ruler(cells.size(), per_cell)};
  for (std::size_t row = 0; row < cells.size(); ++row) {
    std::string line = fmt::format("{:>5} ", row * per_cell);
    for (const std::uint64_t value : cells[row]) {
      line += (style.unicode ? kUnicode : kAscii)[shade(value, greatest)];
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace nplus1::report
