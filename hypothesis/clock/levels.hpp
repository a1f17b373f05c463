// The warm times of one kind of stretch, from those of its stretches that twins have measured: few amounts of work
// (levels), and which of them a stretch has.
//
// The samples' clusters (clusters.hpp) are the levels: noise is mostly little, and makes stretches longer. Which level a
// stretch has that was not measured is a question of probability:
//
//   P(level) ~ P(level | rank) P(level | step) / P(level) * h(recorded / level)
//
// h is how much longer stretches were recorded than their twins took (disturbance.hpp). What rank and step say is
// learned by expectation and maximisation over the stretches as recorded and the samples, four times: neither says
// anything, the rank does, the step does, both do; whichever, learnt from one half of the samples, tells the other half
// best is taken (a host that is busy for a while makes recorded times differ by step; it does not the twins'). So work that differs by
// rank or by step is found through recorded times that are noisy each, and a difference that comes and goes stays one:
// the level of a stretch is drawn by its probability, because what all ranks wait for is the largest of many, which a
// mean of levels would lose.
//
// Levels that come and go, and lie less than 4 % apart, count as the lowest of them: a host whose cores, caches and memory
// others use for a while makes such ones; and a virtual machine's twins are a tenth or a quarter slower now and then, so that
// of these the highest need a third of the samples (or to be 40 % above the next). Rough samples count where fewer than three are exact; they scatter by a third although
// the work is the same, upwards from what it takes.
//
// Where the samples are all alike, or too few, they say nothing of other ranks and steps than their own: twins of long
// stretches come back less often. Then differences between ranks or steps as recorded (differences.hpp) count, unless the
// samples contradict them. Ranks that differ by
// less than a tenth as recorded may do so because of their cores: then the samples have to bear it out.
//
// Pure; one thread. Source: A. Dempster, N. Laird, D. Rubin, "Maximum likelihood from incomplete data via the EM
// algorithm" (1977); D. Rubin, "Multiple imputation for nonresponse in surveys" (1987).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hypothesis/clock/differences.hpp"
#include "hypothesis/clock/disturbance.hpp"
#include "hypothesis/clock/measured.hpp"

namespace nplus1::hypothesis::clock {

/// What tells a stretch's level, beside its recorded time.
enum class ToldBy : std::uint8_t { kChance, kRank, kStep, kRankAndStep };

class Levels {
 public:
  Levels() = default;
  /// Of at least one sample. `stretches`: some of the kind, fairly chosen. `witnesses`: of differences between ranks, such samples
  /// too as say nothing of how long stretches take. `told_by`: if that is known already. `host_adds`: Differences.
  Levels(std::vector<Measured> samples, const std::vector<Recorded>& stretches,
         const std::vector<Measured>& witnesses, std::optional<ToldBy> told_by = {}, double host_adds = 0);
  Levels(const std::vector<Measured>& samples, const std::vector<Recorded>& stretches)
      : Levels{samples, stretches, samples} {}

  /// The samples agree, or are too few to tell.
  [[nodiscard]] bool constant() const { return values_.size() <= 1; }
  [[nodiscard]] std::size_t count() const { return std::max<std::size_t>(warm_.size(), 1); }
  [[nodiscard]] ToldBy told_by() const { return told_by_; }
  /// More amounts of work than could be told apart, which come and go.
  [[nodiscard]] bool are_range_by_chance() const;
  /// Which one such a sample has; 0 if constant().
  [[nodiscard]] std::size_t level_of(double log_warm) const;
  /// How much longer than its level the sample is, logarithm.
  [[nodiscard]] double longer(const Measured& sample) const;
  /// Only as recorded: stretches may be longer than any sample.
  [[nodiscard]] bool as_recorded() const { return differences_.by_rank() || differences_.by_step(); }
  /// Picoseconds; `chance`, in [0, 1), decides between levels that may be. Asked of each stretch of a recording: takes no
  /// logarithm, and needs the recorded time only if not constant().
  [[nodiscard]] double warm(const Recorded& stretch, double chance) const;

  /// Of a stretch that was measured: that of its level, unless it is so far off that it is none of these, and was recorded so.
  [[nodiscard]] double log_warm_of(const Measured& sample) const;

  /// Steps from this one on are not told apart.
  static constexpr std::uint32_t kMostSteps = 4096;

 private:
  using Weights = std::vector<double>;  // one for each level
  struct Mixture {
    std::vector<Weights> by_rank, by_step;  // empty: says nothing
  };
  void find_differences(const std::vector<Measured>& samples, const std::vector<Recorded>& stretches,
                        const std::vector<Measured>& witnesses, double host_adds);
  [[nodiscard]] static bool contradict(const std::vector<Measured>& samples, const Differences& differences);
  [[nodiscard]] static bool bear_out(const std::vector<Measured>& witnesses, const Differences& differences);
  void find_levels(const std::vector<Measured>& samples);
  void drop_few(double fewest_share, const std::vector<Measured>& samples);
  /// Of levels that come and go.
  void believe_less(const std::vector<Measured>& samples);
  [[nodiscard]] ToldBy what_tells(const std::vector<Measured>& samples,
                                  const std::vector<Recorded>& stretches) const;
  [[nodiscard]] Mixture fit(ToldBy by, const std::vector<Measured>& samples,
                            const std::vector<Recorded>& stretches, int sharpening) const;
  [[nodiscard]] bool is_as_recorded(const Measured& sample, double level) const;
  /// What level `l` of the stretch has for it: proportional to its probability.
  [[nodiscard]] double weight(const Mixture& mixture, const Recorded& stretch, std::size_t l) const;
  void weigh(const Mixture& mixture, const Recorded& stretch, Weights& weights) const;

  bool rough_ = false;
  double typical_ = 0;
  double typical_excess_ = 0;   // picoseconds: of what is recorded, over the samples
  std::vector<double> values_;  // logarithms, ascending
  std::vector<double> warm_;    // picoseconds: of each level, or of all that is constant
  Weights share_;               // of the samples
  Disturbance longer_;
  ToldBy told_by_ = ToldBy::kChance;
  Mixture mixture_;
  Differences differences_;
};

}  // namespace nplus1::hypothesis::clock
