#include "patterns/time_bins.hpp"

#include <algorithm>
#include <cmath>

#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

template <class Row>
void halve(Row& row) {
  for (std::size_t i = 0; i < row.size() / 2; ++i) {
    auto sum = row[2 * i];
    sum_up(sum, row[2 * i + 1]);
    row[i] = sum;
  }
  std::fill(row.begin() + row.size() / 2, row.end(), 0);
}

}  // namespace

TimeBins::TimeBins(std::size_t ranks)
    : ranks_{ranks},
      ranks_per_row_{std::max<std::size_t>(1, (ranks + kRows - 1) / kRows)},
      busy_((ranks + ranks_per_row_ - 1) / ranks_per_row_) {}

void TimeBins::spread_far(Row& row, std::size_t first, std::size_t last, std::int64_t begin,
                          std::int64_t end) const {
  const std::int64_t width = std::int64_t{1} << shift_;
  sum_up(row[first], (static_cast<std::int64_t>(first) + 1) * width - begin);
  for (std::size_t bin = first + 1; bin < last; ++bin) sum_up(row[bin], width);
  sum_up(row[last], end - static_cast<std::int64_t>(last) * width);
}

void TimeBins::merge() {
  for (Row* row : {&messages_, &bytes_, &collectives_, &mpi_, &waiting_}) halve(*row);
  for (Row& row : busy_) halve(row);
  ++shift_;
  used_ = (used_ + 1) / 2;
}

OverTime TimeBins::result() const {
  OverTime result;
  result.bin = Duration{std::int64_t{1} << shift_};
  result.ranks_per_row = static_cast<std::uint32_t>(ranks_per_row_);
  result.compute.resize(used_);
  for (std::size_t bin = 0; bin < used_; ++bin) {
    result.messages.push_back(static_cast<std::uint64_t>(messages_[bin]));
    result.bytes.push_back(static_cast<std::uint64_t>(bytes_[bin]));
    result.collective_calls.push_back(static_cast<std::uint64_t>(collectives_[bin]));
    result.mpi.emplace_back(mpi_[bin]);
    result.waiting.emplace_back(waiting_[bin]);
  }
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    const std::size_t ranks = std::min(ranks_per_row_, ranks_ - i * ranks_per_row_);
    const double whole = static_cast<double>(result.bin.count()) * static_cast<double>(ranks);
    std::vector<double>& row = result.busy.emplace_back();
    for (std::size_t bin = 0; bin < used_; ++bin) {
      row.push_back(std::round(1e4 * static_cast<double>(busy_[i][bin]) / whole) / 1e4);
      sum_up(result.compute[bin], Duration{busy_[i][bin]});
    }
  }
  return result;
}

}  // namespace nplus1::patterns
