#include "hypothesis/clock/kind_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hypothesis/clock/groups.hpp"
#include "hypothesis/clock/own_and_shared.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kFewestOfTasks = 3;  // samples
constexpr double kMostOfTheHost = 0.2;     // of tasks that no twin measures, logarithm

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

}  // namespace

const char* name(Model model) {
  constexpr const char* kNames[] = {"none",    "quantile", "constant", "at random",
                                    "by rank", "by step",  "by both",  "along"};
  return kNames[static_cast<std::size_t>(model)];
}

void KindModel::fit(const Replicate& replicate, double log_longer, const HostNoise& noise,
                    const Sharing& sharing) {
  replicate_ = replicate;
  log_longer_ = log_longer;
  stretches_.leave_once();
  if (replicate_.is_estimate()) {
    noise_ = noise.at(stretches_.log_mean());
    noise_of_shared_ = noise_ ? std::nullopt : noise.of_shared_at(stretches_.log_mean());
    most_of_any_host_ = noise.most_of_any_host(stretches_.mean_ps());
    belief_ = believe(stretches_, sharing);
    find_ends();
  }
  if (belief_.samples.empty())
    fit_quantiles(stretches_.recorded());
  else
    fit_levels(stretches_.recorded());
  find_tasks();
}

double KindModel::host_in_cold() const {
  return std::max(kMostOfTheHost, belief_.sharing_in_recorded);
}

/// Stretches of milliseconds hardly ever have their core for themselves, and few samples tell no amounts of work apart. All do, without what
/// sharing made, as rough ones: amounts that the stretches themselves were recorded with.
void KindModel::believe_all(const std::vector<Recorded>& recorded) {
  constexpr std::size_t kFewest = 8, kFewEnough = 4, kFewestAlone = 2;
  if (!levels_.constant() || levels_.as_recorded()) return;
  if (stretches_.measured().size() < kFewest) return;
  const bool few = belief_.samples.size() <= kFewEnough;
  std::vector<Measured> all = belief_.unshared;
  for (Measured& m : all) m.rough = true;
  Levels levels{all, recorded, all, {}, host_adds()};
  if (levels.constant() || !are_apart_as_recorded(levels, all, few ? 0 : kFewestAlone)) return;
  levels_ = std::move(levels);
  belief_.samples = std::move(all);
  find_ends();
}

void KindModel::find_ends() {
  if (belief_.samples.empty()) return;
  const auto [least, most] =
      std::minmax_element(belief_.samples.begin(), belief_.samples.end(),
                          [](const Measured& a, const Measured& b) { return a.log_warm < b.log_warm; });
  least_ = std::exp(least->log_warm);
  most_ = std::exp(most->log_warm);
}

void KindModel::fit_levels(const std::vector<Recorded>& recorded) {
  low_ = LowTimes{stretches_.ranks()};
  const bool estimate = replicate_.is_estimate();
  levels_ = Levels{estimate ? belief_.samples : drawn(belief_.samples), recorded, stretches_.measured(),
                   estimate ? std::nullopt : std::optional{levels_.told_by()}, host_adds()};
  if (!estimate) return;
  believe_all(recorded);
  std::vector<double> warm;
  for (const Measured& m : belief_.samples) warm.push_back(std::exp(m.log_warm));
  spread_ = (quantile(warm, 0.75) - quantile(warm, 0.25)) / 2 / quantile(warm, 0.5);
}

void KindModel::fit_quantiles(const std::vector<Recorded>& recorded) {
  differences_ = Differences{with_those_of(stretches_.measured(), recorded),
                             Differences::Between::kRanksAndSteps, host_adds()};
  low_ = LowTimes{stretches_.ranks(), differences_, replicate_, stretches_.count(), log_longer_};
  double most = stretches_.measured().empty() ? INFINITY : -INFINITY;
  for (const Measured& m : stretches_.measured())
    most = std::max(most, m.log_warm - differences_.of(m.recorded));
  most_ = std::exp(most);
  least_ = INFINITY;
  for (const Recorded& r : recorded) least_ = std::min(least_, static_cast<double>(std::exp(r.log_time)));
}

/// Tasks that are each as long as their data says. Where few samples tell, that is no more than probable, and some replicates do
/// without. Where the host adds little, or nothing is known of what it adds, they are as long as recorded, but for that.
void KindModel::find_tasks() {
  constexpr std::size_t kEnough = 16;  // samples, which tell of the longest of many better
  const bool estimate = replicate_.is_estimate();
  const double some = estimate ? 0.5 : replicate_.chance(stretches_.count());
  if (belief_.cold) {
    tasks_ = Tasks{*belief_.cold - (estimate ? 0 : host_in_cold() * some)};
    return;
  }
  if (estimate) {
    differ_ = differ_more_than_the_host_makes();
    const HostNoise::Noise* noise = known_noise();
    scaled_ = differ_ && noise != nullptr && noise->most < HostNoise::kLittle &&
              stretches_.measured().size() < kEnough;
    probability_of_tasks_ = differ_ ? 1 : probability_of_tasks();
  }
  tasks_.reset();
  if (scaled_) {
    tasks_ = Tasks{-2 * some * known_noise()->usual};
  } else if (stretches_.measured().size() < kFewestOfTasks) {
    if (differ_) tasks_ = Tasks{shorter_than_recorded() - (estimate ? 0 : kMostOfTheHost * some)};
  } else if (probability_of_tasks_ > (estimate ? 0.5 : replicate_.chance(stretches_.count() + 2))) {
    tasks_ = Tasks{estimate ? belief_.unshared : drawn(belief_.unshared), stretches_.recorded()};
  }
}

/// By what samples say, unless amounts of work tell them better.
double KindModel::probability_of_tasks() const {
  // Logarithm of the odds that work is the same, if nothing says that it differs; the host makes short stretches several times as long,
  // and a few twins that it disturbed, too, look like work.
  constexpr double kSame = 3, kSameOfShort = 6, kShortPs = 100e6;
  const double same = stretches_.mean_ps() < kShortPs ? kSameOfShort : kSame;
  if (!belief_.samples.empty() && !tell_worse_than_recorded()) return 0;
  return 1 / (1 + std::exp(same - log_odds_as_recorded(belief_.unshared)));
}

/// By the few samples there are, or by those of others; logarithm.
double KindModel::shorter_than_recorded() const {
  if (stretches_.measured().empty()) return noise_ ? -noise_->usual : 0;
  std::vector<double> shorter;
  for (const Measured& m : belief_.unshared)
    shorter.push_back(m.log_warm - static_cast<double>(m.recorded.log_time));
  return quantile(std::move(shorter), 0.5);
}

/// What amounts of work, ranks and steps leave untold as recorded differs by more than this run's host adds to stretches of such a length;
/// or, where too few twins say how much that is, for so long and by so much, or in groups that lie so far apart, that it is no host's doing.
bool KindModel::differ_more_than_the_host_makes() const {
  if (known_noise() != nullptr) {
    const double range = range_on_ranks(Told::kAll);
    if (range > range_of_host() && !are_alike_beside(belief_.unshared, range)) return true;
    if (noise_) return false;
  }
  if (stretches_.measured().size() >= kFewestOfTasks) return false;
  return Groups{stretches_.ranks()}.are_several() ||
         (!std::isinf(most_of_any_host_) && range_on_ranks(Told::kAll) > most_of_any_host_);
}

/// Tasks; or amounts of work that come and go, which the host can't have made. What stays cold is as recorded, with what the host made.
bool KindModel::differ_by_their_data() const {
  if (tasks_) return !belief_.cold;
  return model() == Model::kAtRandom && noise_ && range_on_ranks(Told::kNothing) > range_of_host();
}

/// From the 10 % to the 90 % quantile of what such a host makes of stretches that are all the same; logarithm.
double KindModel::range_of_host() const {
  constexpr double kNotInSamples = 0.05, kTimes = 1.5;  // what is usual: 0.01 to 0.07, and up to 1 with 1.2
  const double by_sharing = noise_ ? 0 : noise_of_shared_->parts * belief_.longer_shared.log;
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
      (belief_.samples.size() < kFewestOfLevel * levels_.count() || levels_.are_range_by_chance() ||
       share_left_out(levels_, belief_.unshared) > kMostLeftOut))
    return true;
  return error_as_recorded(belief_.unshared) < kBetter * error_of(levels_, belief_.unshared);
}

/// From the 10 % quantile to the 90 % quantile of how much longer stretches were recorded than is told of them (or: at all; logarithm), against
/// their rank's own low quantile of that. What the host adds is known of cores that are one's own, and who has a part of one for a
/// while makes stretches longer by more: so the least that explains it counts, of those that ended on own cores, if these are many,
/// or of all without what sharing makes of them.
double KindModel::range_on_ranks(Told told) const {
  double least = range_of(stretches_.ranks(), told, 0);
  if (const std::vector<OfRank> own = on_own_cores(stretches_.ranks()); !own.empty())
    least = std::min(least, range_of(own, told, 0));
  for (const double part : {Sharing::kPartOfRecorded, 1.0})
    least = std::min(least, range_of(stretches_.ranks(), told, part * belief_.longer_shared.log));
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
        of_model = belief_.samples.empty() ? differences_.of_step(recorded.step)
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
  if (belief_.samples.size() < kFewestSamples) return {};
  return median(logarithms(belief_.samples));
}

std::optional<std::pair<double, double>> KindModel::recorded_and_warm() const {
  const std::optional<double> sample = typical_sample();
  if (!sample) return {};
  return std::pair{stretches_.recorded_ps(), static_cast<double>(stretches_.count()) * std::exp(*sample)};
}

void KindModel::tell(Warmer& warmer) const {
  constexpr std::size_t kFewestSamples = 3;
  const std::optional<double> low = low_.typical(stretches_.ranks());
  if (belief_.samples.size() < kFewestSamples || !low) return;
  std::vector<double> shorter;  // each against its own rank
  for (const Measured& m : belief_.samples)
    if (stretches_.ranks()[m.recorded.rank].is_repeated())
      shorter.push_back(m.log_warm - low_.log_of(m.recorded.rank));
  if (!shorter.empty()) warmer.learn(*low, *low + median(std::move(shorter)));
}

void KindModel::warm_up(const Warmer& warmer) {
  if (!belief_.samples.empty()) return;
  const std::optional<double> low = low_.typical(stretches_.ranks());
  if (!low) return;
  Warmer::Shorter shorter = warmer.at(*low, replicate_, stretches_.count() + 1);
  shorter.mean = std::min(shorter.mean, warmer_at_least());
  if (noise_) shorter.mean = std::max(shorter.mean, -noise_->most);
  if (const std::optional<double> awake = stretches_.low_where_awake())
    shorter.mean = std::max(shorter.mean, std::min(0.0, *awake - *low) - belief_.sharing_in_recorded);
  low_.shorten(stretches_.ranks(), shorter.mean);
  least_ *= std::exp(std::min(shorter.most, shorter.mean));
}

/// Twins that shared their core took rather too long: a kind with none but such ones is at least as much warmer than recorded as
/// the best of them say, each against its rank and step.
double KindModel::warmer_at_least() const {
  std::vector<double> shorter;
  for (const Measured& m : stretches_.measured())
    if (stretches_.ranks()[m.recorded.rank].is_repeated())
      shorter.push_back(m.log_warm - low_.log_of(m.recorded.rank) - differences_.of_step(m.recorded.step));
  return std::min(quantile(std::move(shorter), kLow), 0.0);
}

double KindModel::warm(const Stretch& stretch, std::uint64_t chance_of, Estimate estimate) const {
  constexpr double kShortPs = 1e6;
  if (stretch.rank.index() >= stretches_.ranks().size()) return stretch.recorded;
  const double recorded = stretches_.pace() * stretch.recorded;
  const double unshared =
      stretch.core == Core::kShared
          ? recorded *
                std::exp(-static_cast<double>(stretches_.ranks()[stretch.rank.index()].log_shared_recorded))
          : recorded;
  double warm =
      estimate == Estimate::kLowest ? lowest(stretch, unshared) : best(stretch, unshared, chance_of);
  // A twin's pass begins behind a system call: some 60 ns too long, which so short stretches don't hide. They touch little
  // memory, and now and then the rank itself was as fast.
  if (!tasks_ && !belief_.samples.empty() && warm < kShortPs)
    warm = std::min(warm, low_.of(stretch.rank.index()));
  return std::max(std::min({warm, recorded, stretch.recorded}) - of_measuring_, 0.0);
}

double KindModel::lowest(const Stretch& stretch, double recorded) const {
  constexpr double kOneInTen = 0.9;
  if (!tasks_)
    return belief_.samples.empty()
               ? least_ * std::exp(-stretches_.ranks()[stretch.rank.index()].in_shortest_of_few(most_longer_))
               : least_;
  if (belief_.cold) return recorded * std::exp(*belief_.cold - host_in_cold());
  if (scaled_) return recorded * std::exp(-known_noise()->most);
  return stretches_.measured().size() < kFewestOfTasks
             ? recorded * std::exp(shorter_than_recorded() - kMostOfTheHost)
             : of_tasks(stretch, recorded, kOneInTen);
}

double KindModel::best(const Stretch& stretch, double recorded, std::uint64_t chance_of) const {
  if (tasks_) return of_tasks(stretch, recorded, replicate_.chance(chance_of));
  if (!belief_.samples.empty()) return of_levels(stretch, recorded, chance_of);
  const double more_in_step = std::exp(differences_.of_step(stretch.step));
  const double more_on_rank = std::exp(differences_.of_rank(static_cast<std::uint32_t>(stretch.rank.value)));
  return more_in_step * std::min(low_.of(stretch.rank.index()), more_on_rank * most_);
}

double KindModel::by_own_twin(const Stretch& stretch, double recorded) const {
  const double measured = stretches_.pace_of_twins() * stretch.measured;
  return belief_.cold || stretch.rough || !is_sample(measured, recorded) ? 0 : measured;
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
  if (belief_.samples.empty()) return Model::kQuantile;
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
