// What the stretches of one kind take when their data are in the caches: which of its twins' samples are believed, and what they
// tell.
//
// Believed are samples of twins that had their core for themselves; where a kind has none, those that shared it, without what
// that makes (sharing.hpp). Then one of three tells of the kind:
// - the distribution of tasks, where stretches are each as long as their data says (tasks.hpp); or, where the host adds little to
//   stretches of their length (host_noise.hpp) and these differ by more, what was recorded;
// - levels, a few amounts of work, of which each stretch has one (levels.hpp);
// - where nothing is believed, the rank's low quantile as recorded (low_times.hpp) and what its step has more, as much shorter as
//   measured kinds of its length are (warmer.hpp), but not shorter than those that nobody has cooled (awake.hpp).
// A stretch that was measured itself takes what its sample says. None becomes longer than recorded.
//
// A twin repeats a stretch until all its data are in the nearest caches. A program that computes on something else in each stretch
// never has them there, on no host: then even stretches that began long after their rank last slept (awake.hpp) were recorded as longer
// than twins say, and they take what was recorded.
//
// One thread. Memory: the samples, and 64 stretches for each rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hypothesis/clock/chance.hpp"
#include "hypothesis/clock/differences.hpp"
#include "hypothesis/clock/host_noise.hpp"
#include "hypothesis/clock/left_by_twins.hpp"
#include "hypothesis/clock/levels.hpp"
#include "hypothesis/clock/low_times.hpp"
#include "hypothesis/clock/measured.hpp"
#include "hypothesis/clock/sharing.hpp"
#include "hypothesis/clock/taken_off.hpp"
#include "hypothesis/clock/tasks.hpp"
#include "hypothesis/clock/told.hpp"
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

/// A stretch as it was recorded, and what its own twin took: picoseconds, at the highest frequency that was met.
struct Stretch {
  RankId rank{};
  std::uint32_t step = 0;  // how many of its kind its rank had before
  double recorded = 0;
  double measured = 0;  // 0: no twin
  bool rough = false;   // Measured, and so on
  bool shared = false;
  double log_shared = 0;
  double log_shared_own =
      0;  // how much longer loads took than on a core for oneself where the stretch itself ended
  Core core = Core::kUnknown;   // there, too
  Core began = Core::kUnknown;  // Recorded
  double awake = 0;             // how long its rank had computed when it began: Awake
};

class KindModel {
 public:
  /// Takes in one stretch more, before fit().
  void take(const Stretch& stretch);
  [[nodiscard]] ToldOfKind told() const;
  /// Adds what other runs of the same program told. Before fit().
  void join(const std::vector<const ToldOfKind*>& others);

  /// All is taken in: what the kind's samples say, or those of a replicate, that of the estimate first. `log_longer`: how much of what
  /// a rank does a few times only is the host's.
  /// `noise` and `sharing` count for the estimate, and stay.
  void fit(const Replicate& replicate, double log_longer, const HostNoise& noise = {},
           const Sharing& sharing = {});
  /// Before an estimate that is not the first, and before it tells of twins: what was recorded is as it was.
  void put_back();
  /// Lets what twins leave behind be known by its stretches; and takes that off, before these tell of the host.
  void tell(LeftByTwins& left) const;
  void take_off(const LeftByTwins& left);
  /// Lets the host's noise, and what sharing a core makes, be known by its samples.
  void tell(HostNoise& noise) const;
  void tell(Sharing& sharing) const;
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
  /// The low quantile of all ranks' stretches but those inside of a call, picoseconds; none of too few.
  [[nodiscard]] std::optional<double> low_of_all() const;

  /// The warm time of a stretch, picoseconds. `chance_of`: of the stretch.
  [[nodiscard]] double warm(const Stretch& stretch, std::uint64_t chance_of, Estimate estimate) const;

  [[nodiscard]] Model model() const;
  /// They come and go, as their data do, by more than the host adds.
  [[nodiscard]] bool differ_by_their_data() const;
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::size_t samples() const { return measured_.size(); }
  /// Half of the range of the middle half of the believed samples, as a share of the median.
  [[nodiscard]] double spread() const { return spread_; }

 private:
  [[nodiscard]] std::vector<Recorded> recorded() const;
  [[nodiscard]] bool happens_once() const;  // on each rank
  void leave_once();
  void keep_awake(float log_recorded);
  void believe(const Sharing& sharing);
  [[nodiscard]] bool stay_cold(double by_sharing) const;
  [[nodiscard]] std::optional<double> low_where_awake() const;
  [[nodiscard]] double shorter_where_awake() const;
  [[nodiscard]] double low_as_recorded() const;  // of all ranks, logarithm
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
  [[nodiscard]] double mean_ps() const { return recorded_ps_ / static_cast<double>(count_); }
  [[nodiscard]] double log_mean() const { return std::log(std::max(mean_ps(), 1.0)); }
  [[nodiscard]] bool tell_worse_than_recorded() const;
  [[nodiscard]] double shorter_than_recorded() const;
  enum class Told : std::uint8_t { kNothing, kAll };
  [[nodiscard]] double range_on_ranks(Told told) const;
  [[nodiscard]] double range_of(const std::vector<OfRank>& ranks, Told told, double log_shared) const;
  [[nodiscard]] double range_of_host() const;
  /// On own cores, or on those that are always shared; none: neither.
  [[nodiscard]] const HostNoise::Noise* known_noise() const;
  [[nodiscard]] std::vector<Measured> drawn(const std::vector<Measured>& samples) const;
  [[nodiscard]] std::optional<double> typical_sample() const;
  [[nodiscard]] double warmer_at_least() const;
  [[nodiscard]] double lowest(const Stretch& stretch, double recorded) const;
  [[nodiscard]] double best(const Stretch& stretch, double recorded, std::uint64_t chance_of) const;
  [[nodiscard]] double of_tasks(const Stretch& stretch, double recorded, double chance) const;
  [[nodiscard]] double of_levels(const Stretch& stretch, double recorded, std::uint64_t chance_of) const;
  /// What its own twin says of it: 0, nothing that counts.
  [[nodiscard]] double by_own_twin(const Stretch& stretch, double recorded) const;

  std::vector<OfRank> ranks_;
  std::vector<Measured> measured_;
  std::vector<Measured> unshared_;  // ... without what sharing their core has made of them
  std::vector<Measured> believed_;  // those that count
  std::vector<float> awake_;        // logarithms of what was recorded of some whose rank had long been awake
  std::uint64_t awake_count_ = 0;
  TakenOff taken_off_;  // of what was recorded
  Sharing::Longer longer_shared_;
  double sharing_in_recorded_ = 0;  // in the shortest of them, at most; logarithm
  bool stays_cold_ = false;
  double log_awake_ = 0;  // how much shorter what stays cold is than all of it as recorded
  std::uint64_t count_ = 0;
  double recorded_ps_ = 0;  // sum
  double of_measuring_ = 0, log_longer_ = 0, most_longer_ = 0;
  double pace_ = 1, pace_of_twins_ = 1;  // Joined
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
  std::uint64_t random_ = 0;  // which stretches are kept
};

}  // namespace nplus1::hypothesis::clock
