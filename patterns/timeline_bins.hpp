// Shares of virtual time per rank and activity, in equal bins that widen as the run goes on. What a timeline
// becomes when it has more intervals than its budget allows. One thread; memory is fixed at construction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::patterns {

/// The activities of a timeline; docs/formats/timeline.md says what each is.
enum class Activity : std::uint8_t { kCompute, kSend, kReceive, kCollective, kUnmodelled, kStuck, kFile };
inline constexpr std::size_t kActivities = 7;
inline constexpr std::array<const char*, kActivities> kActivityNames{
    "compute", "send", "receive", "collective", "unmodelled", "stuck", "file"};

class TimelineBins {
 public:
  /// At most 1024 rows (ranks that follow each other share one), at most 1024 bins, `budget` bins in all
  /// where that leaves each row 64 of them. Time begins at `origin`.
  TimelineBins(std::size_t ranks, std::size_t budget, Time origin);

  /// `rank` spent `begin`..`end` on `activity`; doubles the width of the bins until `end` fits.
  void add(RankId rank, Time begin, Time end, Activity activity);

  [[nodiscard]] Duration width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return (ranks_ + group_ - 1) / group_; }
  [[nodiscard]] std::size_t first_rank(std::size_t row) const { return row * group_; }
  [[nodiscard]] std::size_t ranks_in(std::size_t row) const;
  /// Bins that time up to `end` reaches.
  [[nodiscard]] std::size_t used(Time end) const;
  /// Thousandths of the time of the row's ranks in that bin.
  [[nodiscard]] std::int64_t permille(std::size_t row, std::size_t bin, Activity activity) const;

 private:
  using Times =
      std::array<double, kActivities>;  // picoseconds: of many ranks they may be more than a Duration has
  void double_width();

  std::size_t ranks_;
  std::size_t group_;
  std::size_t per_row_;
  Time origin_;
  Duration width_;
  std::vector<Times> times_;  // row by row
};

}  // namespace nplus1::patterns
