// How often each size of message occurred: in Riesen's thirteen buckets and exactly. Bounded memory, whatever
// the sizes. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "patterns/flat_map.hpp"
#include "patterns/patterns.hpp"
#include "support/units.hpp"

namespace nplus1::patterns {

/// Different sizes that are counted exactly; the rest is in the buckets alone.
inline constexpr std::size_t kExactSizes = 1024;

/// The bucket that a message of `size` falls into (Riesen 2006, section 3.5): at most 16 * 4^k for k = 0..11,
/// and the rest.
[[nodiscard]] constexpr std::size_t size_bucket(std::int64_t size) {
  if (size <= 16) return 0;
  const auto above = static_cast<std::uint64_t>(size - 1) >> 4;  // 16 < size <= 64 gives 1 to 3
  return std::min<std::size_t>(kSizeBuckets - 1, static_cast<std::size_t>(std::bit_width(above) + 1) / 2);
}
[[nodiscard]] constexpr std::size_t size_bucket(Bytes size) {
  return size_bucket(count(size));
}

/// The largest size of a bucket; nothing for the last one.
[[nodiscard]] constexpr std::optional<std::int64_t> bucket_limit(std::size_t bucket) {
  if (bucket + 1 >= kSizeBuckets) return std::nullopt;
  return std::int64_t{16} << (2 * bucket);
}

class SizeCounts {
 public:
  void add(std::int64_t size) {
    ++buckets_[size_bucket(size)];
    least_ = std::min(least_, size);
    most_ = std::max(most_, size);
    sum_ += static_cast<std::uint64_t>(size);
    if (size == recent_size_) {  // messages of one size come in rows
      ++recent_count_;
    } else {
      settle();
      recent_size_ = size;
      recent_count_ = 1;
    }
  }

  [[nodiscard]] Sizes sizes() const;

 private:
  void settle();

  std::array<std::uint64_t, kSizeBuckets> buckets_{};
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_ = -1;
  std::uint64_t sum_ = 0;
  std::int64_t recent_size_ = -1;
  std::uint64_t recent_count_ = 0;  // not yet in exact_ or others_
  FlatMap<std::uint64_t> exact_;
  std::uint64_t others_ = 0;
};

}  // namespace nplus1::patterns
