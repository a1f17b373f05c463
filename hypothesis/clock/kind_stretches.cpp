#include "hypothesis/clock/kind_stretches.hpp"

#include <algorithm>
#include <utility>

#include "hypothesis/clock/chance.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {

Recorded recorded_as(const Stretch& stretch, double picoseconds) {
  return {static_cast<std::uint32_t>(stretch.rank.value), stretch.step,
          static_cast<float>(std::log(std::max(picoseconds, 1.0))), stretch.core, stretch.began};
}

void KindStretches::take(const Stretch& stretch) {
  constexpr double kLongAwakePs = 500e6;  // what the nearest caches hold has been fetched several times over
  ++count_;
  recorded_ps_ += stretch.recorded;
  if (ranks_.size() <= stretch.rank.index()) ranks_.resize(stretch.rank.index() + 1);
  OfRank& here = ranks_[stretch.rank.index()];
  ++here.all;
  here.log_shared = static_cast<float>(stretch.log_shared_own);
  const Recorded recorded = recorded_as(stretch, stretch.recorded);
  if (stretch.awake > kLongAwakePs) keep_awake(recorded.log_time);
  if (is_sample(stretch.measured, stretch.recorded)) {
    measured_.push_back({recorded, std::log(std::min(stretch.measured, stretch.recorded)), stretch.rough,
                         stretch.shared, stretch.log_shared});
    return;
  }
  ++here.count;
  if (here.some.size() < OfRank::kMostKept) {
    here.some.push_back(recorded);
  } else {
    random_ = mixed(random_);
    if (const std::uint64_t place = random_ % here.count; place < OfRank::kMostKept)
      here.some[place] = recorded;
  }
}

std::vector<Recorded> KindStretches::recorded() const {
  std::vector<Recorded> all;
  for (const OfRank& rank : ranks_) all.insert(all.end(), rank.some.begin(), rank.some.end());
  return all;
}

/// Some of them, each as likely as the others.
void KindStretches::keep_awake(float log_recorded) {
  constexpr std::size_t kMostKept = 256;
  ++awake_count_;
  if (awake_.size() < kMostKept) return awake_.push_back(log_recorded);
  random_ = mixed(random_);
  if (const std::uint64_t place = random_ % awake_count_; place < kMostKept) awake_[place] = log_recorded;
}

ToldOfKind KindStretches::told() const {
  return {measured_, recorded(), count_, recorded_ps_};
}

void KindStretches::join(const std::vector<const ToldOfKind*>& others) {
  const ToldOfKind own = told();
  std::vector<const ToldOfKind*> runs{&own};
  runs.insert(runs.end(), others.begin(), others.end());
  const Joined all = clock::join(runs);
  pace_ = all.pace;
  pace_of_twins_ = all.pace_of_twins;
  // A rank of another run may do what it does not do here.
  const auto here = [this](const Recorded& r) { return r.rank < ranks_.size(); };
  measured_.clear();
  for (const Measured& m : all.measured)
    if (here(m.recorded)) measured_.push_back(m);
  for (OfRank& rank : ranks_) rank.some.clear();
  for (const Recorded& r : all.recorded)
    if (here(r)) ranks_[r.rank].some.push_back(r);
}

bool KindStretches::happens_once() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const OfRank& rank) { return rank.all <= 1; });
}

void KindStretches::leave_once() {
  if (measured_.empty() || !happens_once()) return;
  for (const Measured& m : measured_) {
    OfRank& rank = ranks_[m.recorded.rank];
    rank.some.push_back(m.recorded);
    ++rank.count;
  }
  measured_.clear();
}

void KindStretches::put_back() {
  taken_off_.put_back(measured_, ranks_);
}

void KindStretches::tell(LeftByTwins& left) const {
  if (happens_once()) return;
  if (const auto longer = LeftByTwins::of(measured_, ranks_)) left.learn(log_mean(), *longer);
}

void KindStretches::tell(HostNoise& noise) const {
  if (happens_once()) return;
  for (const Measured& m : measured_) {
    const auto recorded = static_cast<double>(m.recorded.log_time);
    if (m.shared)
      noise.learn_shared(recorded, recorded - m.log_warm, Sharing::part(m.log_shared));
    else
      noise.learn(recorded, recorded - m.log_warm, taken_off_.log_left_by_twins());
  }
}

void KindStretches::tell(Sharing& sharing) const {
  if (!happens_once()) sharing.learn(own_and_shared());
}

void KindStretches::take_off(const LeftByTwins& left) {
  if (measured_.empty() || happens_once()) return;
  taken_off_.take_left_by_twins(left, log_mean(), measured_, ranks_);
}

/// The low quantile of those that began long after their rank last slept, logarithm: none of too few.
std::optional<double> KindStretches::low_where_awake() const {
  constexpr std::size_t kFewest = 32;
  constexpr double kUsual = 0.02;  // of all: rarer ones have something that made them so
  if (awake_.size() < kFewest || static_cast<double>(awake_count_) < kUsual * static_cast<double>(count_))
    return {};
  return quantile({awake_.begin(), awake_.end()}, kLow);
}

/// Without what others' cooling makes of those that begin when their rank has slept: by as much as the low quantile of the others
/// differs from that of all; logarithm, 0 or less.
double KindStretches::shorter_where_awake() const {
  return std::min(0.0, quantile({awake_.begin(), awake_.end()}, kLow) - low_as_recorded());
}

double KindStretches::low_as_recorded() const {
  std::vector<double> all;
  for (const Recorded& r : recorded()) all.push_back(static_cast<double>(r.log_time));
  return quantile(std::move(all), kLow);
}

std::optional<double> KindStretches::low_of_all() const {
  constexpr std::size_t kFewest = 32;
  std::vector<double> times;
  for (const Recorded& r : recorded())
    if (r.log_time > 0) times.push_back(static_cast<double>(r.log_time));  // the others are inside of a call
  if (times.size() < kFewest) return {};
  return std::exp(quantile(std::move(times), kLow));
}

OwnAndShared KindStretches::own_and_shared() const {
  return clock::own_and_shared(measured_, ranks_, mean_ps());
}

void KindStretches::take_sharing(const OwnAndShared& both, const Sharing& sharing, double log_shared) {
  TakenOff::take_sharing(both, log_shared, measured_, ranks_);
  for (OfRank& rank : ranks_)
    if (!rank.some.empty())
      rank.part_shared = static_cast<float>(sharing.part_of(static_cast<double>(rank.some.front().log_time)));
}

}  // namespace nplus1::hypothesis::clock
