#include "stubs/access/cells.hpp"

#include <algorithm>

namespace nplus1::stubs::access {

Cells::Cells(std::uint64_t begin, std::uint64_t bytes) : address_{begin}, low_{begin}, high_{begin + bytes} {}

Cells::Cells(std::uint64_t address, std::uint64_t count, std::int64_t extent, const Segment* segments,
             std::uint32_t size)
    : address_{address}, count_{count}, extent_{extent}, segments_{segments}, size_{size} {
  if (count == 0 || size == 0) {
    size_ = 0;
    return;
  }
  low_ = piece(0, 0).begin;
  high_ = piece(count - 1, size - 1).end;
  if (size == 1 && (count == 1 || segments[0].length == extent)) size_ = 0;
}

std::optional<std::uint64_t> Cells::first_in(Range range) const {
  const std::uint64_t begin = std::max(range.begin, low_), end = std::min(range.end, high_);
  if (begin >= end) return std::nullopt;
  if (size_ == 0) return begin;
  // Elements may overlap in their spans, not in their cells: all that can reach the range are looked at.
  const auto span = static_cast<std::uint64_t>(segments_[size_ - 1].offset + segments_[size_ - 1].length -
                                               segments_[0].offset);
  const auto extent = static_cast<std::uint64_t>(extent_);
  std::uint64_t first = 0, last = count_ - 1;
  if (count_ > 1) {
    first = begin - low_ >= span ? (begin - low_ - span) / extent : 0;
    last = std::min(last, (end - 1 - low_) / extent);
  }
  std::optional<std::uint64_t> found;
  for (std::uint64_t k = first; k <= last; ++k) {
    std::uint32_t s = 0;
    for (std::uint32_t step = size_; step > 0;) {  // the first segment that ends behind `begin`
      const std::uint32_t half = step / 2;
      if (piece(k, s + half).end <= begin) {
        s += half + 1;
        step -= half + 1;
      } else {
        step = half;
      }
    }
    if (s == size_) continue;
    const Range at = piece(k, s);
    if (at.begin >= end) continue;
    const std::uint64_t byte = std::max(begin, at.begin);
    if (!found || byte < *found) found = byte;
  }
  return found;
}

bool Cells::overlaps(const Cells& other) const {
  if (low_ >= other.high_ || other.low_ >= high_) return false;
  if (size_ == 0) return other.first_in({low_, high_}).has_value();
  if (other.size_ == 0) return first_in({other.low_, other.high_}).has_value();
  return !each([&](const Range& r) { return !other.first_in(r); });
}

bool Cells::same_as(const Cells& other) const {
  return low_ == other.low_ && high_ == other.high_ && size_ == other.size_ &&
         (size_ == 0 || (address_ == other.address_ && count_ == other.count_ && extent_ == other.extent_ &&
                         segments_ == other.segments_));
}

}  // namespace nplus1::stubs::access
