// How short a rank's stretches of a kind are as recorded: its low quantile, which disturbances hardly reach. It is what
// stretches take that no twin has measured, and there what a rank does only once is compared with what others do, because of
// many such stretches a host hits a few, and all ranks wait for these.
//
// Pure; docs/clock_model.md has the equations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hypothesis/clock/chance.hpp"
#include "hypothesis/clock/differences.hpp"

namespace nplus1::hypothesis::clock {

/// What is kept of a rank's stretches of a kind.
struct OfRank {
  std::uint64_t all = 0, count = 0;  // the latter without those that twins measured
  std::vector<Recorded> some;  // of the latter, each as likely as the others; behind them those of other runs
  float log_shared_recorded =
      0;                  // how much longer sharing made them, if it did nearly all the time; logarithm
  float part_shared = 1;  // for how much of the last one its core was shared, if it was at its end
  float log_shared = 0;   // how much longer loads took where the last one ended than on a core for oneself

  /// In one run: some were hardly disturbed, and memory is touched for the first time in one of them only.
  [[nodiscard]] bool is_repeated() const { return count >= 4; }
  /// Without other runs'. What the same stretch took in another differs by what the host did, and not by its data.
  [[nodiscard]] std::vector<Recorded> of_this_run() const {
    return {some.begin(),
            some.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count, kMostKept))};
  }
  /// What of `log_longer`, which the host may have made of each stretch, is in the shortest: the less the more there are.
  [[nodiscard]] double in_shortest_of_few(double log_longer) const {
    return is_repeated() || some.empty() ? 0 : log_longer / static_cast<double>(some.size());
  }
  static constexpr std::size_t kMostKept = 64;
};

class LowTimes {
 public:
  LowTimes() = default;
  /// Of stretches that others tell of.
  explicit LowTimes(const std::vector<OfRank>& ranks);
  /// Of those of which nothing else does: without what their steps have more, and what happens once as the host lets it. A
  /// replicate takes another quantile: how much of the shortest is the host's is what nobody knows; nor is it, of a rank's few, how
  /// much longer the host made them: as much as measured kinds, of which `log_longer` is a part of the logarithm, or not at all.
  /// `chance_of`: of the kind.
  LowTimes(const std::vector<OfRank>& ranks, const Differences& differences, const Replicate& replicate,
           std::uint64_t chance_of, double log_longer);

  /// Logarithm of picoseconds; infinite for a rank that has none.
  [[nodiscard]] double log_of(std::size_t rank) const { return low_[rank].log; }
  /// Picoseconds; takes no logarithm.
  [[nodiscard]] double of(std::size_t rank) const { return low_[rank].time; }
  /// The median of ranks that repeat it, logarithm.
  [[nodiscard]] std::optional<double> typical(const std::vector<OfRank>& ranks) const;
  /// Of ranks that repeat it, by that logarithm (0 or less).
  void shorten(const std::vector<OfRank>& ranks, double by);

 private:
  struct Low {
    float log = INFINITY;
    double time = INFINITY;
  };
  void forgive_once(const std::vector<OfRank>& ranks, double typical, double chance);
  [[nodiscard]] bool are_alike(const std::vector<OfRank>& ranks, double typical) const;
  void take_times();

  std::vector<Low> low_;
};

}  // namespace nplus1::hypothesis::clock
