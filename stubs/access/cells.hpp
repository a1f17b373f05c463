// The cells of a message's buffer: which bytes its datatype names, as intervals. Read in signal handlers: nothing here
// allocates, and what is pointed to lies in memory of our own, which is never closed to the program.
#pragma once

#include <cstdint>
#include <optional>

namespace nplus1::stubs::access {

/// Bytes that one element of a type names, relative to its address; sorted, disjoint, not empty.
struct Segment {
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

struct Range {
  std::uint64_t begin = 0, end = 0;
};

/// `count` elements of a type, one each `extent` bytes.
class Cells {
 public:
  Cells() = default;
  /// One piece of memory.
  Cells(std::uint64_t begin, std::uint64_t bytes);
  /// `extent` is positive unless `count` is 1. `segments` outlive this.
  Cells(std::uint64_t address, std::uint64_t count, std::int64_t extent, const Segment* segments,
        std::uint32_t size);

  [[nodiscard]] bool empty() const { return low_ == high_; }
  /// The lowest byte, and the one behind the highest.
  [[nodiscard]] std::uint64_t low() const { return low_; }
  [[nodiscard]] std::uint64_t high() const { return high_; }
  [[nodiscard]] bool in_one_piece() const { return size_ == 0; }
  /// The first byte of `range` that belongs to a cell.
  [[nodiscard]] std::optional<std::uint64_t> first_in(Range range) const;
  [[nodiscard]] bool overlaps(const Cells& other) const;
  [[nodiscard]] bool same_as(const Cells& other) const;
  /// Calls visit(Range) for each piece, in the order of the elements, until it returns false; false then.
  template <class Visit>
  bool each(Visit&& visit) const {
    if (size_ == 0) return empty() || visit(Range{low_, high_});
    for (std::uint64_t k = 0; k < count_; ++k)
      for (std::uint32_t s = 0; s < size_; ++s)
        if (!visit(piece(k, s))) return false;
    return true;
  }

 private:
  [[nodiscard]] Range piece(std::uint64_t element, std::uint32_t segment) const {
    const std::uint64_t begin = address_ + element * static_cast<std::uint64_t>(extent_) +
                                static_cast<std::uint64_t>(segments_[segment].offset);
    return {begin, begin + static_cast<std::uint64_t>(segments_[segment].length)};
  }

  std::uint64_t address_ = 0;
  std::uint64_t count_ = 0;
  std::int64_t extent_ = 0;
  const Segment* segments_ = nullptr;
  std::uint32_t size_ = 0;  // 0: one piece, [low_, high_)
  std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace nplus1::stubs::access
