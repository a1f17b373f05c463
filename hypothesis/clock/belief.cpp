#include "hypothesis/clock/belief.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hypothesis/clock/own_and_shared.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// Of twelve fractions: nearly normal, variance 1.
double normal(std::uint64_t& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += fraction(random = mixed(random));
  return sum;
}

/// A few samples are more alike than the kind's stretches are: each replicate moves them together, by the error of the
/// mean of as many, where a single one is off by 5 % if it is rough, else by 1 %; and by what is not known of sharing, however many there
/// are, and `all_kinds`, standard deviations of what others tell of it.
void blur(std::vector<Measured>& samples, std::uint64_t random, const Sharing::Longer& sharing,
          double all_kinds) {
  constexpr double kRough = 0.05, kExact = 0.01;
  const double each = samples.front().rough ? kRough : kExact;
  double off = normal(random) * each / std::sqrt(static_cast<double>(samples.size()));
  if (std::any_of(samples.begin(), samples.end(), [](const Measured& m) { return m.shared; }))
    off += normal(random) * sharing.own_error + all_kinds * sharing.common_error;
  for (Measured& m : samples) m.log_warm += off;
}

/// Whether what nobody else has cooled is recorded as longer than twins say: hardly any of it is as short as half of these. Nor of all: where
/// these are shorter, it is a host that is slow now and then. `by_sharing`: what others on the core may have made of it, logarithm.
bool stay_cold(const KindStretches& stretches, const std::vector<Measured>& samples, double by_sharing) {
  constexpr double kLonger = 0.26;  // a factor of 1.3: more than twins are wrong by
  const std::optional<double> awake = stretches.low_where_awake();
  return awake && !samples.empty() &&
         std::min(*awake, stretches.low_as_recorded()) > median(logarithms(samples)) + kLonger + by_sharing;
}

}  // namespace

Belief believe(KindStretches& stretches, const Sharing& sharing) {
  constexpr double kKnown = 0.09;  // two kinds with some samples of either, or one with many
  constexpr std::size_t kEnough = 4;
  Belief belief;
  belief.sharing_in_recorded = sharing.in_shortest_recorded(Sharing::kOfOthers);
  const OwnAndShared both = stretches.own_and_shared();
  const Sharing::Longer longer = belief.longer_shared = sharing.longer(both);
  stretches.take_sharing(both, sharing, longer.log);
  belief.unshared = stretches.measured();
  for (Measured& m : belief.unshared)
    if (m.shared) m.log_warm -= longer.log * Sharing::part(m.log_shared);
  if (!both.own.empty())
    belief.samples = on_own_cores(stretches.measured());
  else if (longer.common_error < kKnown || belief.unshared.size() >= kEnough || sharing.always())
    belief.samples = belief.unshared;
  const double perhaps = longer.log + std::hypot(longer.common_error, longer.own_error);
  const double by_sharing = std::max(sharing.in_shortest_recorded(perhaps), both.own.empty() ? perhaps : 0);
  if (stay_cold(stretches, belief.samples, by_sharing)) {
    belief.samples.clear();
    belief.cold = stretches.shorter_where_awake();
  }
  return belief;
}

std::vector<Measured> drawn(const std::vector<Measured>& samples, const Replicate& replicate,
                            std::uint64_t kind, const Sharing::Longer& sharing) {
  std::vector<Measured> some;
  for (std::size_t i = 0; i < samples.size(); ++i)
    some.push_back(samples[replicate.random(i + kind) % samples.size()]);
  std::uint64_t of_all_kinds = replicate.random(0);
  blur(some, replicate.random(~kind), sharing, normal(of_all_kinds));
  return some;
}

}  // namespace nplus1::hypothesis::clock
