// Counts and times over virtual time, in at most kBins bins of equal width. The end is not known beforehand:
// when time outgrows the bins, the width doubles and neighbours merge, which loses nothing but resolution.
// The result does not depend on the order of the calls. Memory: kBins for each of at most kRows rows. Not
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "patterns/patterns.hpp"
#include "support/ids.hpp"
#include "support/time_sum.hpp"

namespace nplus1::patterns {

class TimeBins {
 public:
  static constexpr std::size_t kBins = 256;
  static constexpr std::size_t kRows = 256;

  explicit TimeBins(std::size_t ranks);

  void add_message(Time at, std::int64_t size) {
    const std::size_t bin = bin_of(at);
    ++messages_[bin];
    bytes_[bin] += size;
  }
  void add_collective(Time at) { ++collectives_[bin_of(at)]; }
  /// From `begin` to `end`; nothing if it is empty.
  void add_compute(RankId rank, Time begin, Time end) {
    spread(busy_[rank.index() / ranks_per_row_], begin, end);
  }
  void add_mpi(Time begin, Time end) { spread(mpi_, begin, end); }
  void add_waiting(Time begin, Time end) { spread(waiting_, begin, end); }

  [[nodiscard]] OverTime result() const;

 private:
  using Row = std::array<std::int64_t, kBins>;

  [[nodiscard]] static std::int64_t ps(Time t) { return t.time_since_epoch().count(); }
  /// The bin of a time, after making room for it. Times before zero belong to the first.
  std::size_t bin_of(Time at) {
    const std::int64_t t = ps(at) < 0 ? 0 : ps(at);
    while (static_cast<std::size_t>(t >> shift_) >= kBins) merge();
    const auto bin = static_cast<std::size_t>(t >> shift_);
    used_ = bin < used_ ? used_ : bin + 1;
    return bin;
  }
  void spread(Row& row, Time begin, Time end) {
    if (end <= begin) return;
    const std::size_t last = bin_of(end - Duration{1});  // first: it may merge
    const std::size_t first = bin_of(begin);
    if (first == last)
      sum_up(row[first], (end - begin).count());
    else
      spread_far(row, first, last, ps(begin), ps(end));
  }
  void spread_far(Row& row, std::size_t first, std::size_t last, std::int64_t begin, std::int64_t end) const;
  void merge();

  std::size_t ranks_;
  std::size_t ranks_per_row_;
  int shift_ = 10;  // a bin is 2^shift_ picoseconds wide
  std::size_t used_ = 0;
  Row messages_{}, bytes_{}, collectives_{}, mpi_{}, waiting_{};
  std::vector<Row> busy_;
};

}  // namespace nplus1::patterns
