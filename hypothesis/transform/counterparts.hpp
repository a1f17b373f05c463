// Which intervals of ranks that make unequal calls belong together: the first rank of a wavefront receives from nobody, the last
// one sends to nobody, and yet each computes the same between. Intervals that begin behind the same call path, or end at the
// same one, are of one place; of ranks that are there equally often the k-th belongs to the k-th. What happens once, before the
// first call or behind the last one, counts where only with it as many are equally often.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hypothesis/transform/selectors.hpp"

namespace nplus1::hypothesis::transform {

/// An interval in which something is computed.
struct ComputedInterval {
  std::uint32_t kind;  // a number from 0
  float compute;       // ps
};

/// What the least kinds of a rank make up together, of all that it computes, is computed in passing and belongs to nothing.
inline constexpr double kInPassing = 0.1;

class Counterparts {
 public:
  /// `ranks`: their intervals, in their order; `kinds`: their numbers.
  Counterparts(const std::vector<std::vector<ComputedInterval>>& ranks,
               const std::map<IntervalKind, std::uint32_t>& kinds);

  /// Two ranks at least, which are at one place equally often.
  struct Group {
    std::vector<std::size_t> ranks;  // ascending
    std::vector<double> sums;        // ps; of their first intervals there, their second ...
  };
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// The group that the rank's intervals of this kind belong to, by its place in groups().
  [[nodiscard]] std::optional<std::size_t> group(RankId rank, const IntervalKind& kind) const;

 private:
  std::map<IntervalKind, std::uint32_t> kinds_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::optional<std::size_t>>> group_of_;  // by rank and kind
};

}  // namespace nplus1::hypothesis::transform
