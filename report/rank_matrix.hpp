// A square matrix of counts, rank by rank: row = sender, column = receiver.
// Rows are dense arrays up to kDenseRanks ranks and hash tables beyond, so that 4096 ranks with 20 peers each
// cost 80,000 entries and not 16 million. Not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "support/ids.hpp"

namespace nplus1::report {

inline constexpr std::size_t kDenseRanks = 256;

class RankMatrix {
 public:
  RankMatrix() = default;
  explicit RankMatrix(std::size_t ranks);

  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  /// Ranks must be below ranks(); anything else throws std::out_of_range.
  void add(RankId from, RankId to, std::uint64_t amount);
  [[nodiscard]] std::uint64_t at(RankId from, RankId to) const;
  /// One dense row: what `from` sent to each rank.
  [[nodiscard]] std::vector<std::uint64_t> row(RankId from) const;
  [[nodiscard]] std::uint64_t total() const;

 private:
  [[nodiscard]] bool dense() const { return ranks_ <= kDenseRanks; }
  void check(RankId from, RankId to) const;

  std::size_t ranks_ = 0;
  std::vector<std::vector<std::uint64_t>> dense_;  // a row is allocated by its first entry
  std::vector<std::unordered_map<std::int32_t, std::uint64_t>> sparse_;
};

}  // namespace nplus1::report
