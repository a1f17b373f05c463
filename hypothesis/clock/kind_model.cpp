#include "hypothesis/clock/kind_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hypothesis/clock/groups.hpp"
#include "hypothesis/clock/own_and_shared.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// A sample that lies so far below what was recorded is none: the stretch did something else the second time.
constexpr double kLeastShare = 1e-4;
constexpr std::size_t kFewestOfTasks = 3;  // samples
constexpr double kMostOfTheHost = 0.2;     // of tasks that no twin measures, logarithm
constexpr double kLongAwakePs = 500e6;     // what the nearest caches hold has been fetched several times over

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

/// The share of the samples that are of none of the levels.
double share_left_out(const Levels& levels, const std::vector<Measured>& samples) {
  constexpr double kNear = 0.1, kMoreWhereRough = 0.2;
  const auto out = std::count_if(samples.begin(), samples.end(), [&](const Measured& m) {
    const double longer = levels.longer(m);
    return longer < -kNear || longer > (m.rough ? kMoreWhereRough : kNear);
  });
  return static_cast<double>(out) / static_cast<double>(samples.size());
}

/// Whether what is of a higher level was recorded as longer than what is of the next lower one, in nine pairs of ten; and some of
/// each had their core for themselves: whoever shares it for a while makes twin and stretch longer.
bool are_apart_as_recorded(const Levels& levels, const std::vector<Measured>& samples,
                           std::size_t fewest_alone) {
  constexpr std::size_t kFewest = 3;  // of each
  constexpr double kApart = 0.9;
  std::vector<std::vector<float>> recorded(levels.count());
  std::vector<std::size_t> alone(levels.count());
  for (const Measured& m : samples) {
    const std::size_t level = levels.level_of(m.log_warm);
    recorded[level].push_back(m.recorded.log_time);
    alone[level] += m.shared ? 0U : 1U;
  }
  for (std::size_t l = 0; l < recorded.size(); ++l) {
    if (recorded[l].size() < kFewest || alone[l] < fewest_alone) return false;
    if (l == 0) continue;
    std::size_t longer = 0;
    for (const float upper : recorded[l])
      longer += static_cast<std::size_t>(std::count_if(recorded[l - 1].begin(), recorded[l - 1].end(),
                                                       [&](float lower) { return upper > lower; }));
    if (static_cast<double>(longer) <
        kApart * static_cast<double>(recorded[l].size() * recorded[l - 1].size()))
      return false;
  }
  return true;
}

/// Whether so many samples are so much more alike than what was recorded that it was not work that made that differ.
bool are_alike_beside(const std::vector<Measured>& samples, double range) {
  constexpr std::size_t kFewest = 6;
  constexpr double kShare = 0.25;
  if (samples.size() < kFewest) return false;
  const auto [least, most] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const Measured& a, const Measured& b) { return a.log_warm < b.log_warm; });
  return most->log_warm - least->log_warm < kShare * range;
}

Recorded recorded_as(const Stretch& stretch, double picoseconds) {
  return {static_cast<std::uint32_t>(stretch.rank.value), stretch.step,
          static_cast<float>(std::log(std::max(picoseconds, 1.0))), stretch.core, stretch.began};
}

}  // namespace

const char* name(Model model) {
  constexpr const char* kNames[] = {"none",    "quantile", "constant", "at random",
                                    "by rank", "by step",  "by both",  "along"};
  return kNames[static_cast<std::size_t>(model)];
}

void KindModel::take(const Stretch& stretch) {
  ++count_;
  recorded_ps_ += stretch.recorded;
  if (ranks_.size() <= stretch.rank.index()) ranks_.resize(stretch.rank.index() + 1);
  OfRank& here = ranks_[stretch.rank.index()];
  ++here.all;
  here.log_shared = static_cast<float>(stretch.log_shared_own);
  const Recorded recorded = recorded_as(stretch, stretch.recorded);
  if (stretch.awake > kLongAwakePs) keep_awake(recorded.log_time);
  if (stretch.measured > kLeastShare * stretch.recorded) {
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

std::vector<Recorded> KindModel::recorded() const {
  std::vector<Recorded> all;
  for (const OfRank& rank : ranks_) all.insert(all.end(), rank.some.begin(), rank.some.end());
  return all;
}

/// Some of them, each as likely as the others.
void KindModel::keep_awake(float log_recorded) {
  constexpr std::size_t kMostKept = 256;
  ++awake_count_;
  if (awake_.size() < kMostKept) return awake_.push_back(log_recorded);
  random_ = mixed(random_);
  if (const std::uint64_t place = random_ % awake_count_; place < kMostKept) awake_[place] = log_recorded;
}

ToldOfKind KindModel::told() const {
  return {measured_, recorded(), count_, recorded_ps_};
}

void KindModel::join(const std::vector<const ToldOfKind*>& others) {
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

bool KindModel::happens_once() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const OfRank& rank) { return rank.all <= 1; });
}

void KindModel::tell(HostNoise& noise) const {
  if (happens_once()) return;
  for (const Measured& m : measured_) {
    const auto recorded = static_cast<double>(m.recorded.log_time);
    if (m.shared)
      noise.learn_shared(recorded, recorded - m.log_warm, Sharing::part(m.log_shared));
    else
      noise.learn(recorded, recorded - m.log_warm, taken_off_.log_left_by_twins());
  }
}

void KindModel::tell(Sharing& sharing) const {
  if (!happens_once()) sharing.learn(own_and_shared(measured_, ranks_, mean_ps()));
}

void KindModel::fit(const Replicate& replicate, double log_longer, const HostNoise& noise,
                    const Sharing& sharing) {
  replicate_ = replicate;
  log_longer_ = log_longer;
  leave_once();
  if (replicate_.is_estimate()) {
    noise_ = noise.at(log_mean());
    noise_of_shared_ = noise_ ? std::nullopt : noise.of_shared_at(log_mean());
    most_of_any_host_ = noise.most_of_any_host(mean_ps());
    believe(sharing);
  }
  if (believed_.empty())
    fit_quantiles(recorded());
  else
    fit_levels(recorded());
  find_tasks();
}

/// Stretches that happen once on each rank touch memory for the first time, which a twin's warm passes don't.
void KindModel::leave_once() {
  if (measured_.empty() || !happens_once()) return;
  for (const Measured& m : measured_) {
    OfRank& rank = ranks_[m.recorded.rank];
    rank.some.push_back(m.recorded);
    ++rank.count;
  }
  measured_.clear();
}

/// Those whose twins had their core for themselves; where there are none that count, all, without what sharing makes of such stretches; or,
/// where little is known of that, and they are few, none: then such a kind is as one without samples, only not longer than they say. On
/// cores that are always shared that is so for all kinds, and what was recorded knows no better.
void KindModel::believe(const Sharing& sharing) {
  sharing_in_recorded_ = sharing.in_shortest_recorded(Sharing::kOfOthers);
  const OwnAndShared both = own_and_shared(measured_, ranks_, mean_ps());
  longer_shared_ = sharing.longer(both);
  TakenOff::take_sharing(both, longer_shared_.log, measured_, ranks_);
  for (OfRank& rank : ranks_)
    if (!rank.some.empty())
      rank.part_shared = static_cast<float>(sharing.part_of(static_cast<double>(rank.some.front().log_time)));
  unshared_ = measured_;
  for (Measured& m : unshared_)
    if (m.shared) m.log_warm -= longer_shared_.log * Sharing::part(m.log_shared);
  constexpr double kKnown = 0.09;  // two kinds with some samples of either, or one with many
  constexpr std::size_t kEnough = 4;
  believed_.clear();
  if (!both.own.empty())
    believed_ = on_own_cores(measured_);
  else if (longer_shared_.common_error < kKnown || measured_.size() >= kEnough || sharing.always())
    believed_ = unshared_;
  const double perhaps =
      longer_shared_.log + std::hypot(longer_shared_.common_error, longer_shared_.own_error);
  stays_cold_ = stay_cold(std::max(sharing.in_shortest_recorded(perhaps), both.own.empty() ? perhaps : 0));
  if (stays_cold_) {
    believed_.clear();
    log_awake_ = shorter_where_awake();
  }
  find_ends();
}

void KindModel::put_back() {
  taken_off_.put_back(measured_, ranks_);
}

void KindModel::tell(LeftByTwins& left) const {
  if (happens_once()) return;
  if (const auto longer = LeftByTwins::of(measured_, ranks_)) left.learn(log_mean(), *longer);
}

void KindModel::take_off(const LeftByTwins& left) {
  if (measured_.empty() || happens_once()) return;
  taken_off_.take_left_by_twins(left, log_mean(), measured_, ranks_);
}

/// Whether what nobody else has cooled is recorded as longer than twins say: hardly any of it is as short as half of these. Nor of all: where
/// these are shorter, it is a host that is slow now and then. `by_sharing`: what others on the core may have made of it, logarithm.
bool KindModel::stay_cold(double by_sharing) const {
  constexpr double kLonger = 0.26;  // a factor of 1.3: more than twins are wrong by
  const std::optional<double> awake = low_where_awake();
  return awake && !believed_.empty() &&
         std::min(*awake, low_as_recorded()) > median(logarithms(believed_)) + kLonger + by_sharing;
}

/// The low quantile of those that began long after their rank last slept, logarithm: none of too few.
std::optional<double> KindModel::low_where_awake() const {
  constexpr std::size_t kFewest = 32;
  constexpr double kUsual = 0.02;  // of all: rarer ones have something that made them so
  if (awake_.size() < kFewest || static_cast<double>(awake_count_) < kUsual * static_cast<double>(count_))
    return {};
  return quantile({awake_.begin(), awake_.end()}, kLow);
}

/// Without what others' cooling makes of those that begin when their rank has slept: by as much as the low quantile of the others
/// differs from that of all; logarithm, 0 or less.
double KindModel::shorter_where_awake() const {
  return std::min(0.0, quantile({awake_.begin(), awake_.end()}, kLow) - low_as_recorded());
}

double KindModel::low_as_recorded() const {
  std::vector<double> all;
  for (const Recorded& r : recorded()) all.push_back(static_cast<double>(r.log_time));
  return quantile(std::move(all), kLow);
}

double KindModel::host_in_cold() const {
  return std::max(kMostOfTheHost, sharing_in_recorded_);
}

/// Stretches of milliseconds hardly ever have their core for themselves, and few samples tell no amounts of work apart. All do, without what
/// sharing made, as rough ones: amounts that the stretches themselves were recorded with.
void KindModel::believe_all(const std::vector<Recorded>& recorded) {
  constexpr std::size_t kFewest = 8, kFewEnough = 4, kFewestAlone = 2;
  if (!levels_.constant() || levels_.as_recorded()) return;
  if (measured_.size() < kFewest) return;
  const bool few = believed_.size() <= kFewEnough;
  std::vector<Measured> all = unshared_;
  for (Measured& m : all) m.rough = true;
  Levels levels{all, recorded, all, {}, host_adds()};
  if (levels.constant() || !are_apart_as_recorded(levels, all, few ? 0 : kFewestAlone)) return;
  levels_ = std::move(levels);
  believed_ = std::move(all);
  find_ends();
}

void KindModel::find_ends() {
  if (believed_.empty()) return;
  const auto [least, most] =
      std::minmax_element(believed_.begin(), believed_.end(),
                          [](const Measured& a, const Measured& b) { return a.log_warm < b.log_warm; });
  least_ = std::exp(least->log_warm);
  most_ = std::exp(most->log_warm);
}

void KindModel::fit_levels(const std::vector<Recorded>& recorded) {
  low_ = LowTimes{ranks_};
  const bool estimate = replicate_.is_estimate();
  levels_ = Levels{estimate ? believed_ : drawn(believed_), recorded, measured_,
                   estimate ? std::nullopt : std::optional{levels_.told_by()}, host_adds()};
  if (!estimate) return;
  believe_all(recorded);
  std::vector<double> warm;
  for (const Measured& m : believed_) warm.push_back(std::exp(m.log_warm));
  spread_ = (quantile(warm, 0.75) - quantile(warm, 0.25)) / 2 / quantile(warm, 0.5);
}

void KindModel::fit_quantiles(const std::vector<Recorded>& recorded) {
  differences_ =
      Differences{with_those_of(measured_, recorded), Differences::Between::kRanksAndSteps, host_adds()};
  low_ = LowTimes{ranks_, differences_, replicate_, count_, log_longer_};
  double most = measured_.empty() ? INFINITY : -INFINITY;
  for (const Measured& m : measured_) most = std::max(most, m.log_warm - differences_.of(m.recorded));
  most_ = std::exp(most);
  least_ = INFINITY;
  for (const Recorded& r : recorded) least_ = std::min(least_, static_cast<double>(std::exp(r.log_time)));
}

/// A replicate's samples: drawn from these, with replacement.
std::vector<Measured> KindModel::drawn(const std::vector<Measured>& samples) const {
  std::vector<Measured> some;
  for (std::size_t i = 0; i < samples.size(); ++i)
    some.push_back(samples[replicate_.random(i + count_) % samples.size()]);
  std::uint64_t of_all_kinds = replicate_.random(0);
  blur(some, replicate_.random(~count_), longer_shared_, normal(of_all_kinds));
  return some;
}

/// Tasks that are each as long as their data says. Where few samples tell, that is no more than probable, and some replicates do
/// without. Where the host adds little, or nothing is known of what it adds, they are as long as recorded, but for that.
void KindModel::find_tasks() {
  constexpr std::size_t kEnough = 16;  // samples, which tell of the longest of many better
  const bool estimate = replicate_.is_estimate();
  const double some = estimate ? 0.5 : replicate_.chance(count_);
  if (stays_cold_) {
    tasks_ = Tasks{log_awake_ - (estimate ? 0 : host_in_cold() * some)};
    return;
  }
  if (estimate) {
    differ_ = differ_more_than_the_host_makes();
    const HostNoise::Noise* noise = known_noise();
    scaled_ = differ_ && noise != nullptr && noise->most < HostNoise::kLittle && measured_.size() < kEnough;
    probability_of_tasks_ = differ_ ? 1 : probability_of_tasks();
  }
  tasks_.reset();
  if (scaled_) {
    tasks_ = Tasks{-2 * some * known_noise()->usual};
  } else if (measured_.size() < kFewestOfTasks) {
    if (differ_) tasks_ = Tasks{shorter_than_recorded() - (estimate ? 0 : kMostOfTheHost * some)};
  } else if (probability_of_tasks_ > (estimate ? 0.5 : replicate_.chance(count_ + 2))) {
    tasks_ = Tasks{estimate ? unshared_ : drawn(unshared_), recorded()};
  }
}

/// By what samples say, unless amounts of work tell them better.
double KindModel::probability_of_tasks() const {
  // Logarithm of the odds that work is the same, if nothing says that it differs; the host makes short stretches several times as long,
  // and a few twins that it disturbed, too, look like work.
  constexpr double kSame = 3, kSameOfShort = 6, kShortPs = 100e6;
  const double same = mean_ps() < kShortPs ? kSameOfShort : kSame;
  if (!believed_.empty() && !tell_worse_than_recorded()) return 0;
  return 1 / (1 + std::exp(same - log_odds_as_recorded(unshared_)));
}

/// By the few samples there are, or by those of others; logarithm.
double KindModel::shorter_than_recorded() const {
  if (measured_.empty()) return noise_ ? -noise_->usual : 0;
  std::vector<double> shorter;
  for (const Measured& m : unshared_)
    shorter.push_back(m.log_warm - static_cast<double>(m.recorded.log_time));
  return quantile(std::move(shorter), 0.5);
}

/// What amounts of work, ranks and steps leave untold as recorded differs by more than this run's host adds to stretches of such a length;
/// or, where too few twins say how much that is, for so long and by so much, or in groups that lie so far apart, that it is no host's doing.
bool KindModel::differ_more_than_the_host_makes() const {
  if (known_noise() != nullptr) {
    const double range = range_on_ranks(Told::kAll);
    if (range > range_of_host() && !are_alike_beside(unshared_, range)) return true;
    if (noise_) return false;
  }
  if (measured_.size() >= kFewestOfTasks) return false;
  return Groups{ranks_}.are_several() ||
         (!std::isinf(most_of_any_host_) && range_on_ranks(Told::kAll) > most_of_any_host_);
}

/// Tasks; or amounts of work that come and go, which the host can't have made. What stays cold is as recorded, with what the host made.
bool KindModel::differ_by_their_data() const {
  if (tasks_) return !stays_cold_;
  return model() == Model::kAtRandom && noise_ && range_on_ranks(Told::kNothing) > range_of_host();
}

/// From the 10 % to the 90 % quantile of what such a host makes of stretches that are all the same; logarithm.
double KindModel::range_of_host() const {
  constexpr double kNotInSamples = 0.05, kTimes = 1.5;  // what is usual: 0.01 to 0.07, and up to 1 with 1.2
  const double by_sharing = noise_ ? 0 : noise_of_shared_->parts * longer_shared_.log;
  return kNotInSamples + kTimes * known_noise()->most + by_sharing;
}

const HostNoise::Noise* KindModel::known_noise() const {
  return noise_ ? &*noise_ : noise_of_shared_ ? &noise_of_shared_->noise : nullptr;
}

/// Of levels: those that come and go are believed of five samples each, if they are few and leave out hardly any sample.
bool KindModel::tell_worse_than_recorded() const {
  constexpr double kBetter = 0.7;  // times the levels' error
  constexpr std::size_t kFewestOfLevel = 5;
  constexpr double kMostLeftOut = 0.1;  // of the samples
  if (levels_.told_by() == ToldBy::kChance && !levels_.as_recorded() &&
      (believed_.size() < kFewestOfLevel * levels_.count() || levels_.are_range_by_chance() ||
       share_left_out(levels_, unshared_) > kMostLeftOut))
    return true;
  return error_as_recorded(unshared_) < kBetter * error_of(levels_, unshared_);
}

/// From the 10 % quantile to the 90 % quantile of how much longer stretches were recorded than is told of them (or: at all; logarithm), against
/// their rank's own low quantile of that. What the host adds is known of cores that are one's own, and who has a part of one for a
/// while makes stretches longer by more: so the least that explains it counts, of those that ended on own cores, if these are many,
/// or of all without what sharing makes of them.
double KindModel::range_on_ranks(Told told) const {
  double least = range_of(ranks_, told, 0);
  if (const std::vector<OfRank> own = on_own_cores(ranks_); !own.empty())
    least = std::min(least, range_of(own, told, 0));
  for (const double part : {Sharing::kPartOfRecorded, 1.0})
    least = std::min(least, range_of(ranks_, told, part * longer_shared_.log));
  return least;
}

/// ... each on a shared core taken as so much shorter.
double KindModel::range_of(const std::vector<OfRank>& ranks, Told told, double log_shared) const {
  constexpr double kEither = 0.5;
  std::vector<double> all;
  for (const OfRank& rank : ranks) {
    if (!rank.is_repeated()) continue;
    std::vector<double> longer;
    for (const Recorded& recorded : rank.of_this_run()) {
      double of_model = 0;
      if (told == Told::kAll)
        of_model = believed_.empty() ? differences_.of_step(recorded.step)
                                     : std::log(levels_.warm(recorded, kEither));
      longer.push_back(static_cast<double>(recorded.log_time) - of_model -
                       (recorded.core == Core::kShared ? log_shared : 0));
    }
    const double low = quantile(longer, kLow);
    for (const double each : longer) all.push_back(each - low);
  }
  return quantile(all, 0.9) - quantile(all, kLow);
}

std::optional<double> KindModel::typical_sample() const {
  constexpr std::size_t kFewestSamples = 3;
  if (believed_.size() < kFewestSamples) return {};
  return median(logarithms(believed_));
}

std::optional<std::pair<double, double>> KindModel::recorded_and_warm() const {
  const std::optional<double> sample = typical_sample();
  if (!sample) return {};
  return std::pair{recorded_ps_, static_cast<double>(count_) * std::exp(*sample)};
}

void KindModel::tell(Warmer& warmer) const {
  constexpr std::size_t kFewestSamples = 3;
  const std::optional<double> low = low_.typical(ranks_);
  if (believed_.size() < kFewestSamples || !low) return;
  std::vector<double> shorter;  // each against its own rank
  for (const Measured& m : believed_)
    if (ranks_[m.recorded.rank].is_repeated()) shorter.push_back(m.log_warm - low_.log_of(m.recorded.rank));
  if (!shorter.empty()) warmer.learn(*low, *low + median(std::move(shorter)));
}

void KindModel::warm_up(const Warmer& warmer) {
  if (!believed_.empty()) return;
  const std::optional<double> low = low_.typical(ranks_);
  if (!low) return;
  Warmer::Shorter shorter = warmer.at(*low, replicate_, count_ + 1);
  shorter.mean = std::min(shorter.mean, warmer_at_least());
  if (noise_) shorter.mean = std::max(shorter.mean, -noise_->most);
  if (const std::optional<double> awake = low_where_awake())
    shorter.mean = std::max(shorter.mean, std::min(0.0, *awake - *low) - sharing_in_recorded_);
  low_.shorten(ranks_, shorter.mean);
  least_ *= std::exp(std::min(shorter.most, shorter.mean));
}

/// Twins that shared their core took rather too long: a kind with none but such ones is at least as much warmer than recorded as
/// the best of them say, each against its rank and step.
double KindModel::warmer_at_least() const {
  std::vector<double> shorter;
  for (const Measured& m : measured_)
    if (ranks_[m.recorded.rank].is_repeated())
      shorter.push_back(m.log_warm - low_.log_of(m.recorded.rank) - differences_.of_step(m.recorded.step));
  return std::min(quantile(std::move(shorter), kLow), 0.0);
}

std::optional<double> KindModel::low_of_all() const {
  constexpr std::size_t kFewest = 32;
  std::vector<double> times;
  for (const Recorded& r : recorded())
    if (r.log_time > 0) times.push_back(static_cast<double>(r.log_time));  // the others are inside of a call
  if (times.size() < kFewest) return {};
  return std::exp(quantile(std::move(times), kLow));
}

double KindModel::warm(const Stretch& stretch, std::uint64_t chance_of, Estimate estimate) const {
  constexpr double kShortPs = 1e6;
  if (stretch.rank.index() >= ranks_.size()) return stretch.recorded;
  const double recorded = pace_ * stretch.recorded;
  const double unshared =
      stretch.core == Core::kShared
          ? recorded * std::exp(-static_cast<double>(ranks_[stretch.rank.index()].log_shared_recorded))
          : recorded;
  double warm =
      estimate == Estimate::kLowest ? lowest(stretch, unshared) : best(stretch, unshared, chance_of);
  // A twin's pass begins behind a system call: some 60 ns too long, which so short stretches don't hide. They touch little
  // memory, and now and then the rank itself was as fast.
  if (!tasks_ && !believed_.empty() && warm < kShortPs) warm = std::min(warm, low_.of(stretch.rank.index()));
  return std::max(std::min({warm, recorded, stretch.recorded}) - of_measuring_, 0.0);
}

double KindModel::lowest(const Stretch& stretch, double recorded) const {
  constexpr double kOneInTen = 0.9;
  if (!tasks_)
    return believed_.empty()
               ? least_ * std::exp(-ranks_[stretch.rank.index()].in_shortest_of_few(most_longer_))
               : least_;
  if (stays_cold_) return recorded * std::exp(log_awake_ - host_in_cold());
  if (scaled_) return recorded * std::exp(-known_noise()->most);
  return measured_.size() < kFewestOfTasks ? recorded * std::exp(shorter_than_recorded() - kMostOfTheHost)
                                           : of_tasks(stretch, recorded, kOneInTen);
}

double KindModel::best(const Stretch& stretch, double recorded, std::uint64_t chance_of) const {
  if (tasks_) return of_tasks(stretch, recorded, replicate_.chance(chance_of));
  if (!believed_.empty()) return of_levels(stretch, recorded, chance_of);
  const double more_in_step = std::exp(differences_.of_step(stretch.step));
  const double more_on_rank = std::exp(differences_.of_rank(static_cast<std::uint32_t>(stretch.rank.value)));
  return more_in_step * std::min(low_.of(stretch.rank.index()), more_on_rank * most_);
}

double KindModel::by_own_twin(const Stretch& stretch, double recorded) const {
  const double measured = pace_of_twins_ * stretch.measured;
  return stays_cold_ || stretch.rough || measured <= kLeastShare * recorded ? 0 : measured;
}

double KindModel::of_tasks(const Stretch& stretch, double recorded, double chance) const {
  const double measured = by_own_twin(stretch, recorded);
  return measured != 0 ? measured : std::exp(tasks_->log_warm(std::log(std::max(recorded, 1.0)), chance));
}

double KindModel::of_levels(const Stretch& stretch, double recorded, std::uint64_t chance_of) const {
  const double measured = by_own_twin(stretch, recorded);
  // Of a constant kind the recorded time, and its logarithm, are not asked for.
  const bool asks_for_time = measured != 0 || !levels_.constant();
  const Recorded as_recorded = asks_for_time
                                   ? recorded_as(stretch, recorded)
                                   : Recorded{static_cast<std::uint32_t>(stretch.rank.value), stretch.step};
  if (measured != 0) return std::exp(levels_.log_warm_of({as_recorded, std::log(measured), false}));
  const double warm = levels_.warm(as_recorded, replicate_.chance(chance_of));
  return levels_.as_recorded() ? warm : std::min(warm, most_);
}

Model KindModel::model() const {
  if (tasks_) return Model::kAlong;
  if (believed_.empty()) return Model::kQuantile;
  if (levels_.constant() && !levels_.as_recorded()) return Model::kConstant;
  switch (levels_.told_by()) {
    case ToldBy::kRank:
      return Model::kByRank;
    case ToldBy::kStep:
      return Model::kByStep;
    case ToldBy::kRankAndStep:
      return Model::kByRankAndStep;
    default:
      return Model::kAtRandom;
  }
}

}  // namespace nplus1::hypothesis::clock
