#include "hypothesis/clock/told.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// How long a kind's stretches took in a run, as logarithms of picoseconds; infinite where that is not known.
struct Pace {
  double twins = INFINITY;     // the lower quartile of what twins measured
  double recorded = INFINITY;  // the low quantile of what was recorded
};

Pace pace_of(const ToldOfKind& told) {
  constexpr std::size_t kFewest = 5;  // twins, of which a quartile says something
  constexpr double kLowOfTwins = 0.25;
  Pace pace;
  std::vector<double> twins, recorded;
  for (const Measured& m : told.measured) twins.push_back(m.log_warm);
  for (const Recorded& r : told.recorded) recorded.push_back(r.log_time);
  if (twins.size() >= kFewest) pace.twins = quantile(std::move(twins), kLowOfTwins);
  if (!recorded.empty()) pace.recorded = quantile(std::move(recorded), kLow);
  return pace;
}

/// The slowest of the fastest quarter: that of one run alone may be too short.
double of_the_fast(const std::vector<Pace>& paces, double Pace::*which) {
  std::vector<double> known;
  for (const Pace& pace : paces)
    if (std::isfinite(pace.*which)) known.push_back(pace.*which);
  std::sort(known.begin(), known.end());
  return known.empty() ? INFINITY : known[known.size() / 4];
}

}  // namespace

double share_in_common(const ToldByRun& run, const ToldByRun& other) {
  constexpr double kAlikeWithin = 0.1;
  double all = 0, common = 0;
  for (const auto& [kind, told] : run) {
    all += told.recorded_ps;
    const auto found = other.find(kind);
    if (found == other.end()) continue;
    const auto own = static_cast<double>(told.count), theirs = static_cast<double>(found->second.count);
    if (std::abs(own - theirs) <= kAlikeWithin * own) common += told.recorded_ps;
  }
  return all > 0 ? common / all : 0;
}

Joined join(const std::vector<const ToldOfKind*>& runs) {
  std::vector<Pace> paces;
  for (const ToldOfKind* run : runs) paces.push_back(pace_of(*run));
  const Pace fast{of_the_fast(paces, &Pace::twins), of_the_fast(paces, &Pace::recorded)};
  Joined joined;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double shift = std::isfinite(paces[i].recorded) ? fast.recorded - paces[i].recorded : 0.0;
    const double shift_of_twins = std::isfinite(paces[i].twins) ? fast.twins - paces[i].twins : shift;
    if (i == 0) {
      joined.pace = std::exp(shift);
      joined.pace_of_twins = std::exp(shift_of_twins);
    }
    for (Measured m : runs[i]->measured) {
      m.recorded.log_time += static_cast<float>(shift);
      m.log_warm += shift_of_twins;
      joined.measured.push_back(m);
    }
    for (Recorded r : runs[i]->recorded) {
      r.log_time += static_cast<float>(shift);
      joined.recorded.push_back(r);
    }
  }
  return joined;
}

}  // namespace nplus1::hypothesis::clock
