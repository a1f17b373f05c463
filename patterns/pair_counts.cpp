#include "patterns/pair_counts.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace nplus1::patterns {

void PairCounts::reject(RankId from, RankId to) const {
  throw std::out_of_range{"message from rank " + std::to_string(from.value) + " to rank " +
                          std::to_string(to.value) + " in a world of " + std::to_string(ranks_)};
}

MatrixRow PairCounts::row(std::size_t from) const {
  MatrixRow row;
  row.source = static_cast<std::int32_t>(from);
  const auto add = [&row](std::uint64_t to, const Count& count) {
    if (count.messages > 0) row.cells.push_back({static_cast<std::int32_t>(to), count.messages, count.bytes});
  };
  if (!dense_.empty())
    for (std::size_t to = 0; to < ranks_; ++to) add(to, dense_[from * ranks_ + to]);
  if (!sparse_.empty()) sparse_[from].for_each(add);
  std::sort(row.cells.begin(), row.cells.end(),
            [](const Cell& a, const Cell& b) { return a.destination < b.destination; });
  return row;
}

std::vector<MatrixRow> PairCounts::rows() const {
  std::vector<MatrixRow> rows;
  if (dense_.empty() && sparse_.empty()) return rows;
  for (std::size_t from = 0; from < ranks_; ++from) {
    rows.push_back(row(from));
    if (rows.back().cells.empty()) rows.pop_back();
  }
  return rows;
}

}  // namespace nplus1::patterns
