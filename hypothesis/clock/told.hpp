// What a run tells of the stretches of a kind, and what several runs of the same program tell together: a host is slow in one run
// and not in the next, and in each with some of what is computed; so in each run a kind's times are made as short as they were in
// the fastest quarter of the runs.
//
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hypothesis/clock/differences.hpp"
#include "hypothesis/clock/levels.hpp"
#include "hypothesis/clock/place.hpp"

namespace nplus1::hypothesis::clock {

struct ToldOfKind {
  std::vector<Measured> measured;  // by twins
  std::vector<Recorded> recorded;  // without these; some of them
  std::uint64_t count = 0;         // of all its stretches
  double recorded_ps = 0;          // their sum
};
using ToldByRun = std::map<Kind, ToldOfKind>;

/// The share of the computing of `run` that is in kinds of stretches of which the other has as many, within a tenth.
[[nodiscard]] double share_in_common(const ToldByRun& run, const ToldByRun& other);

struct Joined {
  std::vector<Measured> measured;
  std::vector<Recorded> recorded;
  double pace = 1;  // times of the fastest runs in the first one's, as recorded
  double pace_of_twins = 1;
};
/// Of one run at least.
[[nodiscard]] Joined join(const std::vector<const ToldOfKind*>& runs);

}  // namespace nplus1::hypothesis::clock
