// How often each size occurred, as plain data. Fields have the names of their keys (docs/formats/patterns.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace nplus1::patterns {

/// Riesen's thirteen buckets.
inline constexpr std::size_t kSizeBuckets = 13;

struct Sizes {
  std::array<std::uint64_t, kSizeBuckets> buckets{};
  std::vector<std::pair<std::int64_t, std::uint64_t>> exact;  // size, count; sizes ascend
  std::uint64_t others = 0;
  std::optional<std::int64_t> least;
  std::optional<std::int64_t> most;
  std::uint64_t sum = 0;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

}  // namespace nplus1::patterns
