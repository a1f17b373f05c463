// Messages and bytes for each pair of sender and receiver. Rows are arrays up to kDenseRanks ranks and hash
// tables beyond, so that 65,536 ranks with 20 peers each cost 1.3 million entries. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "patterns/flat_map.hpp"
#include "patterns/patterns.hpp"
#include "support/ids.hpp"

namespace nplus1::patterns {

class PairCounts {
 public:
  explicit PairCounts(std::size_t ranks) : ranks_{ranks} {}

  /// Ranks outside 0..ranks-1 throw std::out_of_range.
  void add(RankId from, RankId to, std::int64_t size) {
    if (from.index() >= ranks_ || to.index() >= ranks_) reject(from, to);
    Count& count = ranks_ <= kDenseRanks ? dense(from, to) : sparse(from, to);
    ++count.messages;
    count.bytes += static_cast<std::uint64_t>(size);
  }

  /// Senders ascend, and so do the receivers of each.
  [[nodiscard]] std::vector<MatrixRow> rows() const;

 private:
  static constexpr std::size_t kDenseRanks = 256;
  struct Count {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };

  [[noreturn]] void reject(RankId from, RankId to) const;
  Count& dense(RankId from, RankId to) {
    if (dense_.empty()) dense_.resize(ranks_ * ranks_);
    return dense_[from.index() * ranks_ + to.index()];
  }
  Count& sparse(RankId from, RankId to) {
    if (sparse_.empty()) sparse_.resize(ranks_);
    return sparse_[from.index()][to.index()];
  }
  [[nodiscard]] MatrixRow row(std::size_t from) const;

  std::size_t ranks_;
  std::vector<Count> dense_;
  std::vector<FlatMap<Count>> sparse_;
};

}  // namespace nplus1::patterns
