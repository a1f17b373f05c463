#include "patterns/timeline_bins.hpp"

#include <algorithm>
#include <functional>

namespace nplus1::patterns {
namespace {

constexpr std::size_t kMostTimelineRows = 1024;  // more cannot be told apart on a screen
constexpr std::size_t kFewestBins = 64;
constexpr std::size_t kMostBins = 1024;
constexpr Duration kNarrowest{1'000'000};  // 1 us: doubled as often as the run's length asks for

}  // namespace

TimelineBins::TimelineBins(std::size_t ranks, std::size_t budget, Time origin)
    : ranks_{ranks},
      group_{std::max<std::size_t>(1, (ranks + kMostTimelineRows - 1) / kMostTimelineRows)},
      per_row_{std::clamp(budget / std::max<std::size_t>(1, rows()), kFewestBins, kMostBins) &
               ~std::size_t{1}},
      origin_{origin},
      width_{kNarrowest},
      times_(rows() * per_row_) {}

std::size_t TimelineBins::ranks_in(std::size_t row) const {
  return std::min(group_, ranks_ - first_rank(row));
}

std::size_t TimelineBins::used(Time end) const {
  const Duration length = std::max(end - origin_, Duration{1});
  return std::min(per_row_, static_cast<std::size_t>((length + width_ - Duration{1}) / width_));
}

std::int64_t TimelineBins::permille(std::size_t row, std::size_t bin, Activity activity) const {
  const auto whole = static_cast<double>(width_.count()) * static_cast<double>(ranks_in(row));
  const double part = times_[row * per_row_ + bin][static_cast<std::size_t>(activity)];
  return static_cast<std::int64_t>(1000.0 * part / whole + 0.5);
}

void TimelineBins::add(RankId rank, Time begin, Time end, Activity activity) {
  if (end <= begin) return;
  while (end - origin_ > width_ * static_cast<std::int64_t>(per_row_)) double_width();
  Times* const row = &times_[rank.index() / group_ * per_row_];
  while (begin < end) {
    const std::int64_t bin = (begin - origin_) / width_;
    const Time until = std::min(end, origin_ + width_ * (bin + 1));
    row[bin][static_cast<std::size_t>(activity)] += static_cast<double>((until - begin).count());
    begin = until;
  }
}

void TimelineBins::double_width() {
  width_ *= 2;
  for (std::size_t row = 0; row < times_.size(); row += per_row_) {
    for (std::size_t bin = 0; bin < per_row_ / 2; ++bin) {
      const Times &left = times_[row + 2 * bin], &right = times_[row + 2 * bin + 1];
      Times sum{};
      std::transform(left.begin(), left.end(), right.begin(), sum.begin(), std::plus<>{});
      times_[row + bin] = sum;
    }
    std::fill_n(&times_[row + per_row_ / 2], per_row_ / 2, Times{});
  }
}

}  // namespace nplus1::patterns
