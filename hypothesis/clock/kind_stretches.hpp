// What is known of the stretches of one kind: some of each rank's as they were recorded, those that twins have measured, and some that
// began when their rank had long been awake. It says what was recorded, and lets the host be known by it; what the stretches take is told
// by a model of them (kind_model.hpp).
//
// One thread. Memory: the samples, and 64 stretches for each rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hypothesis/clock/host_noise.hpp"
#include "hypothesis/clock/left_by_twins.hpp"
#include "hypothesis/clock/low_times.hpp"
#include "hypothesis/clock/measured.hpp"
#include "hypothesis/clock/own_and_shared.hpp"
#include "hypothesis/clock/sharing.hpp"
#include "hypothesis/clock/taken_off.hpp"
#include "hypothesis/clock/told.hpp"
#include "support/ids.hpp"

namespace nplus1::hypothesis::clock {

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

/// A sample that lies so far below what was recorded is none: the stretch did something else the second time.
[[nodiscard]] inline bool is_sample(double measured, double recorded) {
  constexpr double kLeastShare = 1e-4;
  return measured > kLeastShare * recorded;
}

/// ... as if it had been recorded with so many picoseconds.
[[nodiscard]] Recorded recorded_as(const Stretch& stretch, double picoseconds);

class KindStretches {
 public:
  /// Takes in one stretch more.
  void take(const Stretch& stretch);
  [[nodiscard]] ToldOfKind told() const;
  /// Adds what other runs of the same program told.
  void join(const std::vector<const ToldOfKind*>& others);

  /// Lets what twins leave behind be known by its stretches; and takes that off, before these tell of the host.
  void tell(LeftByTwins& left) const;
  void take_off(const LeftByTwins& left);
  /// Lets the host's noise, and what sharing a core makes, be known by its samples.
  void tell(HostNoise& noise) const;
  void tell(Sharing& sharing) const;
  /// Takes off what a stranger made of ranks whose core he kept: `log_shared`, as `both` say.
  void take_sharing(const OwnAndShared& both, const Sharing& sharing, double log_shared);
  /// What was recorded is as it was.
  void put_back();
  /// On each rank.
  [[nodiscard]] bool happens_once() const;
  /// Stretches that happen once on each rank touch memory for the first time, which a twin's warm passes don't: their samples are none.
  void leave_once();

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// All of them as recorded, picoseconds.
  [[nodiscard]] double recorded_ps() const { return recorded_ps_; }
  [[nodiscard]] double mean_ps() const { return recorded_ps_ / static_cast<double>(count_); }
  [[nodiscard]] double log_mean() const { return std::log(std::max(mean_ps(), 1.0)); }
  [[nodiscard]] const std::vector<OfRank>& ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<Measured>& measured() const { return measured_; }
  /// What is kept of all ranks' stretches that no twin has measured.
  [[nodiscard]] std::vector<Recorded> recorded() const;
  [[nodiscard]] OwnAndShared own_and_shared() const;
  /// What the fastest runs took of what this one did, as recorded and by twins (Joined).
  [[nodiscard]] double pace() const { return pace_; }
  [[nodiscard]] double pace_of_twins() const { return pace_of_twins_; }

  /// The low quantile of all ranks' stretches but those inside of a call, picoseconds; none of too few.
  [[nodiscard]] std::optional<double> low_of_all() const;
  /// ... with those, logarithm.
  [[nodiscard]] double low_as_recorded() const;
  /// ... of those that began long after their rank last slept: none of too few.
  [[nodiscard]] std::optional<double> low_where_awake() const;
  /// How much shorter what nobody else has cooled is than all of it as recorded; logarithm, 0 or less.
  [[nodiscard]] double shorter_where_awake() const;

 private:
  void keep_awake(float log_recorded);

  std::vector<OfRank> ranks_;
  std::vector<Measured> measured_;
  std::vector<float> awake_;  // logarithms of what was recorded of some whose rank had long been awake
  std::uint64_t awake_count_ = 0;
  TakenOff taken_off_;  // of what was recorded
  std::uint64_t count_ = 0;
  double recorded_ps_ = 0;
  double pace_ = 1, pace_of_twins_ = 1;
  std::uint64_t random_ = 0;  // which stretches are kept
};

}  // namespace nplus1::hypothesis::clock
