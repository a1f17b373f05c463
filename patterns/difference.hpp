// Two runs' patterns compared. The *pattern* is who sends what to whom: number of ranks, all layers' matrices
// and sizes, and collective calls per rank. Times and call sites are shown as well, but decide nothing: times
// vary from run to run, and addresses with every build. Pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "patterns/patterns.hpp"

namespace nplus1::patterns {

enum class Unit : std::uint8_t { kCount, kBytes, kTime };  // kTime: picoseconds

/// One number that changed (or, in `totals`, that did not).
struct Change {
  std::string what;
  Unit unit = Unit::kCount;
  std::int64_t before = 0;
  std::int64_t after = 0;
  /// The greatest or least number if it is beyond.
  [[nodiscard]] std::int64_t difference() const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    std::int64_t more = 0;
    if (__builtin_sub_overflow(after, before, &more) || more < -kMost) return after < before ? -kMost : kMost;
    return more;
  }
  friend bool operator==(const Change&, const Change&) = default;
};

/// Within a list, the greatest absolute difference first.
struct Difference {
  std::vector<Change> totals;  // all of them, in a fixed order
  std::vector<Change> pairs;   // per layer, sender and receiver: messages; where these agree, bytes
  std::vector<Change> collectives;
  std::vector<Change> sizes;  // exact sizes of a layer
  std::vector<Change> sites_time;
  std::vector<Change> sites_calls;
  bool same_pattern = true;
};

[[nodiscard]] Difference compare(const Patterns& before, const Patterns& after);

/// For the terminal; bounded.
[[nodiscard]] std::string difference_text(const Difference& difference, const std::string& before,
                                          const std::string& after);

}  // namespace nplus1::patterns
