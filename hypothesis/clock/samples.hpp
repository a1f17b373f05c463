// What a run under `--compute warm` measured beside its recording: what twins of the ranks took for a stretch (stubs/twin/), and
// how fast cores ran (stubs/clock/core_speed.hpp); times become those of a core at the highest frequency that the run met.
//
// One thread; after it is made, any.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "events/recording/header.hpp"
#include "hypothesis/clock/chance.hpp"
#include "hypothesis/clock/measured.hpp"
#include "support/ids.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis::clock {

/// How fast a core ran: what a fixed number of cycles took, and a fixed number of loads, which take longer where somebody else
/// has the core's other hardware thread. No time: not known.
struct CoreSpeed {
  Duration cycles{}, loads{};
};

/// What is known of the computing before the `ordinal`-th event of `rank`.
struct Sample {
  RankId rank{};
  std::uint64_t ordinal = 0;
  Duration warm{};                 // as a twin has measured it; 0: none has
  bool rough = false;              // rather too long: others had the twin's core now and then
  CoreSpeed twins_core{}, core{};  // the latter, of long stretches: the core that did it, at its end
  bool shared = false;             // somebody else had a part of the twin's core; Samples find out
  std::int64_t faults = 0;  // pages that a long stretch has touched for the first time, if they are many
  Duration fault{};         // what one took then; of Samples the median of readings about then
};

/// Of a recording under `--compute warm`; empty for others. Errors: the property is not what such a run writes.
[[nodiscard]] Result<std::vector<Sample>> samples_of(const events::recording::Properties& properties);

/// A stretch as a number: that before the `ordinal`-th event of `rank`.
[[nodiscard]] inline std::uint64_t stretch_number(RankId rank, std::uint64_t ordinal) {
  return static_cast<std::uint64_t>(rank.value) << 40U ^ ordinal;
}

class Samples {
 public:
  explicit Samples(const std::vector<Sample>& samples);

  /// Null: nothing is known of it.
  [[nodiscard]] const Sample* of(RankId rank, std::uint64_t ordinal) const;
  /// By twins.
  [[nodiscard]] std::size_t measured() const { return measured_; }
  /// `time` at the highest frequency that a core was met with, where it passed at another.
  [[nodiscard]] double at_fastest(double time, const CoreSpeed& core) const;
  /// `time` of the stretch with pages that are touched first as on a host of one's own.
  [[nodiscard]] static double without_faults(double time, const Sample& stretch);
  /// How much longer loads took than on a core for oneself, logarithm; 0: no longer, or that is not known.
  [[nodiscard]] double log_shared(const CoreSpeed& core) const;
  [[nodiscard]] Core of_core(const CoreSpeed& core) const;
  /// What the cores of nearly all the rank's readings were; not known where these are few, or of either.
  [[nodiscard]] Core of_rank(RankId rank) const;
  /// Of all times that a core was looked at, the share in which somebody else had a part of it.
  [[nodiscard]] double share_shared() const;
  /// How much longer the same cycles took on average, where that is known, than at the highest frequency that was met: 0 and more.
  [[nodiscard]] double slower_than_fastest() const;

 private:
  template <class Of>
  [[nodiscard]] double mean_of_readings(Of of) const;

  tsl::robin_map<std::uint64_t, Sample, Mixed> samples_;  // by stretch_number()
  struct Readings {
    std::size_t shared = 0, all = 0;
  };
  std::vector<Readings> ranks_;
  std::size_t measured_ = 0;
  double fastest_ = 0;  // CoreSpeed::cycles, in picoseconds
  // CoreSpeed, loads against cycles of a core for oneself: the least, and the most.
  double own_share_ = 0, most_of_own_ = 0;
};

}  // namespace nplus1::hypothesis::clock
