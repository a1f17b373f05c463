#include "hypothesis/clock/stretches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace nplus1::hypothesis::clock {

Stretch Stretches::stretch_of(const Place& place, RankId rank, std::uint64_t ordinal, double recorded) const {
  Stretch stretch{rank, place.step, recorded};
  if (const Sample* const sample = samples_.of(rank, ordinal)) {
    const double without_faults = place.step == 0 ? Samples::without_faults(recorded, *sample) : recorded;
    stretch.recorded = samples_.at_fastest(without_faults, sample->core);
    stretch.measured = samples_.at_fastest(static_cast<double>(sample->warm.count()), sample->twins_core);
    stretch.rough = sample->rough;
    stretch.shared = sample->shared;
    stretch.log_shared = samples_.log_shared(sample->twins_core);
    stretch.log_shared_own = samples_.log_shared(sample->core);
    stretch.core = samples_.of_core(sample->core);
  }
  if (stretch.core == Core::kUnknown) stretch.core = samples_.of_rank(rank);
  return stretch;
}

void Stretches::look_at(RankId rank, const events::Event& event) {
  const Place place = looking_follower_.before(rank, event);
  lengths_[place.kind].take(rank, static_cast<double>(event.compute_ps));
}

Kind Stretches::kind_of(const Place& place, double recorded) const {
  Kind kind = place.kind;
  const auto found = longer_ones_.find(kind);
  kind.longer = found != longer_ones_.end() && recorded >= found->second;
  return kind;
}

Stretches::OfKind& Stretches::kind(const Kind& kind) {
  const auto [known, is_new] = known_kinds_.try_emplace(kind, nullptr);
  if (is_new) known.value() = &kinds_[kind];
  return *known.value();
}

void Stretches::take(RankId rank, std::uint64_t ordinal, const events::Event& event,
                     const events::Detail* detail) {
  if (!lengths_.empty()) longer_ones_ = longer_ones(std::exchange(lengths_, {}));
  const Place place = follower_.before(rank, event);
  const auto recorded = static_cast<double>(event.compute_ps);
  OfKind& of = kind(kind_of(place, recorded));
  of.after = place.after;
  of.recorded_ps += recorded;
  Stretch stretch = stretch_of(place, rank, ordinal, recorded);
  stretch.began = core_before(rank, ordinal, stretch.core);
  stretch.awake = awake_.before(rank, event, detail);
  of.model.stretches().take(stretch);
}

/// What the rank's core was when it was looked at last: by the stretch's twin, which was before it, or where another one ended.
Core Stretches::core_before(RankId rank, std::uint64_t ordinal, Core at_end) {
  if (last_cores_.size() <= rank.index()) last_cores_.resize(rank.index() + 1);
  Core before = last_cores_[rank.index()];
  if (const Sample* const sample = samples_.of(rank, ordinal))
    if (const Core of_twin = samples_.of_core(sample->twins_core); of_twin != Core::kUnknown)
      before = of_twin;
  if (at_end != Core::kUnknown) last_cores_[rank.index()] = at_end;
  return before;
}

ToldByRun Stretches::told() const {
  ToldByRun all;
  for (const auto& [kind, of] : kinds_) all.emplace(kind, of.model.stretches().told());
  return all;
}

void Stretches::join(const std::vector<ToldByRun>& others) {
  for (auto& [kind, of] : kinds_) {
    std::vector<const ToldOfKind*> of_others;
    for (const ToldByRun& run : others)
      if (const auto found = run.find(kind); found != run.end()) of_others.push_back(&found->second);
    if (!of_others.empty()) of.model.stretches().join(of_others);
  }
}

/// A program that sends twice in a row computes nothing in between: what its shortest kind of stretch behind a function takes
/// is taken for the cost of measuring behind that; behind functions without so short a kind, what the shortest of all takes.
/// (On 64 ranks of two cores 90 ns behind MPI_Send, which wakes another rank, and 40 behind an MPI_Recv that finds its message.)
void Stretches::find_cost_of_measuring() {
  constexpr double kLongestOfNothingPs = 140e3;
  constexpr double kMostPs = 100e3;  // beyond what a calibration finds, where all is hot
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::map<std::uint16_t, double> least_behind;
  double least = kNone;
  for (const auto& [kind, of] : kinds_) {
    const std::optional<double> low = of.model.stretches().low_of_all();
    if (!low || *low > kLongestOfNothingPs) continue;  // too few, or something is computed there
    double& of_call = least_behind.try_emplace(of.after, kNone).first->second;
    of_call = std::min(of_call, *low);
    least = std::min(least, *low);
  }
  for (auto& [kind, of] : kinds_) {
    const auto behind = least_behind.find(of.after);
    const double cost = behind == least_behind.end() ? least : behind->second;
    of.model.set_cost_of_measuring(std::isinf(cost) ? 0 : std::min(cost, kMostPs));
  }
}

/// Of an estimate that is made again, from what was recorded.
void Stretches::take_off_what_twins_leave() {
  LeftByTwins left;
  for (auto& [kind, of] : kinds_) {
    of.model.stretches().put_back();
    of.model.stretches().tell(left);
  }
  for (auto& [kind, of] : kinds_) of.model.stretches().take_off(left);
}

void Stretches::replicate(std::uint32_t number) {
  find_cost_of_measuring();
  const Replicate replicate{number};
  if (replicate.is_estimate()) take_off_what_twins_leave();
  HostNoise noise{samples_.share_shared()};
  Sharing sharing{samples_.share_shared()};
  for (const auto& [kind, of] : kinds_) {
    of.model.stretches().tell(noise);
    of.model.stretches().tell(sharing);
  }
  Warmer warmer;
  const double log_longer = replicate.is_estimate() ? 0 : replicate.chance(0) * most_longer_;
  for (auto& [kind, of] : kinds_) {
    of.model.fit(replicate, log_longer, noise, sharing);
    of.model.tell(warmer);
  }
  for (auto& [kind, of] : kinds_) of.model.warm_up(warmer);
  if (replicate.is_estimate()) find_how_much_longer();
}

/// As much longer as kinds that samples tell of were recorded; and, of a host that others use, as sharing a core makes what is no chain.
void Stretches::find_how_much_longer() {
  constexpr double kMost = 1.8, kOfSharing = 1.5, kSharedAsOften = 0.1;
  double recorded = 0, warm = 0;
  for (const auto& [kind, of] : kinds_)
    if (const auto sums = of.model.recorded_and_warm()) {
      recorded += sums->first;
      warm += sums->second;
    }
  const double as_measured = warm > 0 ? std::clamp(std::log(recorded / warm), 0.0, std::log(kMost)) : 0;
  const double by_sharing = std::log(kOfSharing) * std::min(1.0, samples_.share_shared() / kSharedAsOften);
  most_longer_ = std::max(as_measured, by_sharing);
  for (auto& [kind, of] : kinds_) of.model.set_most_longer(most_longer_);
}

double Stretches::warm(const Place& place, RankId rank, std::uint64_t ordinal, double recorded,
                       Estimate estimate) const {
  const auto found = known_kinds_.find(kind_of(place, recorded));
  if (found == known_kinds_.end()) return recorded;
  const OfKind& of = *found->second;
  const double warm =
      of.model.warm(stretch_of(place, rank, ordinal, recorded), stretch_number(rank, ordinal), estimate);
  if (estimate == Estimate::kBest) of.warm_ps += warm;
  return warm;
}

std::vector<KindReport> Stretches::report() const {
  std::vector<KindReport> all;
  for (const auto& [kind, of] : kinds_)
    all.push_back({kind, of.model.stretches().count(), of.model.stretches().measured().size(),
                   of.model.model(), of.model.differ_by_their_data(), of.recorded_ps, of.warm_ps,
                   of.model.spread()});
  std::sort(all.begin(), all.end(), [](const KindReport& a, const KindReport& b) {
    return a.recorded_ps - a.warm_ps > b.recorded_ps - b.warm_ps;
  });
  return all;
}

}  // namespace nplus1::hypothesis::clock
