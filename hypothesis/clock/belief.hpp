// Which of a kind's samples are believed: those of twins that had their core for themselves; where there are none that count, all,
// without what sharing makes of such stretches (sharing.hpp); or, where little is known of that, and they are few, none: then such a
// kind is as one without samples, only not longer than they say. On cores that are always shared that is so for all kinds, and what was
// recorded knows no better.
//
// A twin repeats a stretch until all its data are in the nearest caches. A program that computes on something else in each stretch
// never has them there, on no host: then even stretches that began long after their rank last slept (awake.hpp) were recorded as longer
// than twins say. Of such a kind no sample is believed.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hypothesis/clock/chance.hpp"
#include "hypothesis/clock/kind_stretches.hpp"
#include "hypothesis/clock/measured.hpp"
#include "hypothesis/clock/sharing.hpp"

namespace nplus1::hypothesis::clock {

struct Belief {
  std::vector<Measured> samples;   // those that are believed
  std::vector<Measured> unshared;  // all of them, without what sharing their core has made of them
  Sharing::Longer longer_shared;
  double sharing_in_recorded = 0;  // in the shortest of what was recorded, at most; logarithm
  std::optional<double> cold;      // of a kind that stays cold: how much shorter than recorded, logarithm
};

/// Takes off, too, what a stranger made of the stretches of ranks whose core he kept.
[[nodiscard]] Belief believe(KindStretches& stretches, const Sharing& sharing);

/// Samples that might have been in place of these: drawn from them, with replacement. `kind`: a number of the kind's.
[[nodiscard]] std::vector<Measured> drawn(const std::vector<Measured>& samples, const Replicate& replicate,
                                          std::uint64_t kind, const Sharing::Longer& sharing);

}  // namespace nplus1::hypothesis::clock
