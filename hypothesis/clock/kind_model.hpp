// What the stretches of one kind take when their data are in the caches: what is known of them (kind_stretches.hpp), and what the
// samples that are believed (belief.hpp) tell. One of three tells of the kind:
// - the distribution of tasks, where stretches are each as long as their data says (tasks.hpp); or, where the host adds little to
//   stretches of their length (host_noise.hpp) and these differ by more, what was recorded; so, too, of what stays cold;
// - levels, a few amounts of work, of which each stretch has one (levels.hpp);
// - where nothing is believed, the rank's low quantile as recorded (low_times.hpp) and what its step has more, as much shorter as
//   measured kinds of its length are (warmer.hpp), but not shorter than those that nobody has cooled (awake.hpp).
// A stretch that was measured itself takes what its sample says. None becomes longer than recorded.
//
// One thread. Memory: that of the stretches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hypothesis/clock/belief.hpp"
#include "hypothesis/clock/chance.hpp"
#include "hypothesis/clock/differences.hpp"
#include "hypothesis/clock/host_noise.hpp"
#include "hypothesis/clock/kind_stretches.hpp"
#include "hypothesis/clock/levels.hpp"
#include "hypothesis/clock/low_times.hpp"
#include "hypothesis/clock/measured.hpp"
#include "hypothesis/clock/sharing.hpp"
#include "hypothesis/clock/tasks.hpp"
#include "hypothesis/clock/warmer.hpp"
#include "support/ids.hpp"

namespace nplus1::hypothesis::clock {

/// What tells of a kind's stretches; kAtRandom to kByRankAndStep: which of several levels they have.
enum class Model : std::uint8_t {
  kNone,
  kQuantile,
  kConstant,
  kAtRandom,
  kByRank,
  kByStep,
  kByRankAndStep,
  kAlong
};
[[nodiscard]] const char* name(Model model);

/// Which of the two ends of what is known.
enum class Estimate : std::uint8_t { kBest, kLowest };

class KindModel {
 public:
  /// Before fit() they take in what there is.
  [[nodiscard]] KindStretches& stretches() { return stretches_; }
  [[nodiscard]] const KindStretches& stretches() const { return stretches_; }

  /// All is taken in: what the kind's samples say, or those of a replicate, that of the estimate first. `log_longer`: how much of what
  /// a rank does a few times only is the host's.
  /// `noise` and `sharing` count for the estimate, and stay.
  void fit(const Replicate& replicate, double log_longer, const HostNoise& noise = {},
           const Sharing& sharing = {});
  /// Lets others be as warm as this kind, if enough samples say how warm that is; all kinds are fitted.
  void tell(Warmer& warmer) const;
  /// Where nothing is believed, stretches are as warm as others of their length.
  void warm_up(const Warmer& warmer);

  /// What of each recorded stretch is the host's measuring, picoseconds.
  void set_cost_of_measuring(double picoseconds) { of_measuring_ = picoseconds; }
  /// How much of what a rank does a few times only may be the host's at most; logarithm.
  void set_most_longer(double log) { most_longer_ = log; }
  /// All its stretches as recorded, and as long as the median of the believed samples, picoseconds. None of too few samples.
  [[nodiscard]] std::optional<std::pair<double, double>> recorded_and_warm() const;

  /// The warm time of a stretch, picoseconds. `chance_of`: of the stretch.
  [[nodiscard]] double warm(const Stretch& stretch, std::uint64_t chance_of, Estimate estimate) const;

  [[nodiscard]] Model model() const;
  /// They come and go, as their data do, by more than the host adds.
  [[nodiscard]] bool differ_by_their_data() const;
  /// Half of the range of the middle half of the believed samples, as a share of the median.
  [[nodiscard]] double spread() const { return spread_; }

 private:
  /// What of stretches that stay cold may be the host's at most, logarithm.
  [[nodiscard]] double host_in_cold() const;
  void believe_all(const std::vector<Recorded>& recorded);
  void find_ends();
  void fit_levels(const std::vector<Recorded>& recorded);
  void fit_quantiles(const std::vector<Recorded>& recorded);
  void find_tasks();
  [[nodiscard]] double probability_of_tasks() const;
  [[nodiscard]] bool differ_more_than_the_host_makes() const;
  /// To nine stretches of ten at most, logarithm; 0 where that is not known.
  [[nodiscard]] double host_adds() const { return noise_ ? noise_->most : 0; }
  [[nodiscard]] bool tell_worse_than_recorded() const;
  [[nodiscard]] double shorter_than_recorded() const;
  enum class Told : std::uint8_t { kNothing, kAll };
  [[nodiscard]] double range_on_ranks(Told told) const;
  [[nodiscard]] double range_of(const std::vector<OfRank>& ranks, Told told, double log_shared) const;
  [[nodiscard]] double range_of_host() const;
  /// On own cores, or on those that are always shared; none: neither.
  [[nodiscard]] const HostNoise::Noise* known_noise() const;
  [[nodiscard]] std::vector<Measured> drawn(const std::vector<Measured>& samples) const {
    return clock::drawn(samples, replicate_, stretches_.count(), belief_.longer_shared);
  }
  [[nodiscard]] std::optional<double> typical_sample() const;
  [[nodiscard]] double warmer_at_least() const;
  [[nodiscard]] double lowest(const Stretch& stretch, double recorded) const;
  [[nodiscard]] double best(const Stretch& stretch, double recorded, std::uint64_t chance_of) const;
  [[nodiscard]] double of_tasks(const Stretch& stretch, double recorded, double chance) const;
  [[nodiscard]] double of_levels(const Stretch& stretch, double recorded, std::uint64_t chance_of) const;
  /// What its own twin says of it: 0, nothing that counts.
  [[nodiscard]] double by_own_twin(const Stretch& stretch, double recorded) const;

  KindStretches stretches_;
  Belief belief_;
  double of_measuring_ = 0, log_longer_ = 0, most_longer_ = 0;
  Replicate replicate_;
  Differences differences_;  // where nothing is believed
  LowTimes low_;
  Levels levels_;
  std::optional<HostNoise::Noise> noise_;               // of stretches as long as these
  std::optional<HostNoise::OfShared> noise_of_shared_;  // where that is not known
  double most_of_any_host_ = 0;                         // by which such stretches differ
  std::optional<Tasks> tasks_;                          // if there, levels don't count
  bool differ_ = false;                                 // by more than the host makes
  bool scaled_ = false;                                 // as recorded, but for the little that the host adds
  double probability_of_tasks_ = 0;
  // Of what is believed. Without: the former of what was recorded, the latter of all samples, each less what its rank and step have.
  double least_ = 0, most_ = 0;
  double spread_ = 0;
};

}  // namespace nplus1::hypothesis::clock
