#include "hypothesis/clock/levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hypothesis/clock/clusters.hpp"
#include "hypothesis/clock/correlation.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kFewestSamples = 5;  // to tell levels apart
constexpr std::size_t kFewestExact = 3;    // to do without the rough ones
/// Nearer to each other than this, levels that come and go cannot be told from what the host does for a while.
constexpr double kLevelsApart = 0.04, kRoughApart = 0.2;
constexpr double kFewestShare = 0.05;     // of the samples, for a level of its own above all others
constexpr double kFarApart = 0.35;        // ... unless it is that far above
constexpr double kFewestByChance = 0.35;  // the same of one that neither rank nor step tells
constexpr double kExactScales[] = {0.002, 0.004, 0.008, 0.015, 0.025, 0.04};
constexpr Noise kExactNoise{0.004, kExactScales};
constexpr double kRoughScales[] = {0.02, 0.04, 0.08, 0.15};
constexpr Noise kRoughNoise{0.02, kRoughScales};

constexpr int kRounds = 12, kSharpening = 4;
/// Weight, in stretches, of what all ranks have together against what one has.
constexpr double kPrior = 0.5;

void normalise(std::vector<double>& weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
}

/// A twin leaves cold caches behind: its own stretch was recorded as longer, by as much at least as all such are longer than is told.
std::vector<Measured> without_what_twins_leave(std::vector<Measured> measured,
                                               const std::vector<Recorded>& stretches,
                                               const Differences& told) {
  std::vector<double> longer, longer_of_measured;
  for (const Recorded& r : stretches) longer.push_back(static_cast<double>(r.log_time) - told.of(r));
  for (const Measured& m : measured)
    longer_of_measured.push_back(static_cast<double>(m.recorded.log_time) - told.of(m.recorded));
  const double left =
      std::max(quantile(std::move(longer_of_measured), kLow) - median(std::move(longer)), 0.0);
  for (Measured& m : measured) m.recorded.log_time -= static_cast<float>(left);
  return measured;
}

}  // namespace

Levels::Levels(std::vector<Measured> samples, const std::vector<Recorded>& stretches,
               const std::vector<Measured>& witnesses, std::optional<ToldBy> told_by, double host_adds) {
  const auto exact = [](const Measured& m) { return !m.rough; };
  rough_ = static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), exact)) < kFewestExact;
  if (!rough_) samples.erase(std::partition(samples.begin(), samples.end(), exact), samples.end());
  find_levels(samples);
  if (!constant()) {
    longer_ = Disturbance{samples};
    told_by_ = told_by ? *told_by : what_tells(samples, stretches);
    if (told_by_ == ToldBy::kChance) believe_less(samples);
  }
  if (constant())
    find_differences(samples, stretches, witnesses, host_adds);
  else
    mixture_ = fit(told_by_, samples, stretches, kSharpening);
  if (constant())
    warm_ = {std::exp(typical_)};
  else
    for (const double value : values_) warm_.push_back(std::exp(value));
}

void Levels::find_differences(const std::vector<Measured>& samples, const std::vector<Recorded>& stretches,
                              const std::vector<Measured>& witnesses, double host_adds) {
  constexpr auto kBoth = Differences::Between::kRanksAndSteps;
  Differences found{stretches, kBoth,
                    host_adds};  // without the samples' own stretches, which would agree with them
  bool borne_out = false;
  if (!found.by_rank()) {
    Differences finer{stretches, Differences::Between::kRanksToBeBorneOut, host_adds};
    borne_out = finer.by_rank() && bear_out(witnesses, finer);
    if (borne_out) found = std::move(finer);
  }
  if (!found.by_rank() && !found.by_step()) return;
  if (!borne_out) {
    if (contradict(samples, found) || contradict(witnesses, found)) return;
    // Of few ranks, a step that lacks its sample is not told.
    Differences all{with_those_of(without_what_twins_leave(witnesses, stretches, found), stretches), kBoth,
                    host_adds};
    if (all.by_rank() == found.by_rank() && all.by_step() == found.by_step()) found = std::move(all);
  }
  std::vector<double> without;
  for (const Measured& m : samples) without.push_back(m.log_warm - found.of(m.recorded));
  std::sort(without.begin(), without.end());
  typical_ = sorted_at(without, 0.25);
  differences_ = found;
  told_by_ = !found.by_step() ? ToldBy::kRank : !found.by_rank() ? ToldBy::kStep : ToldBy::kRankAndStep;
}

/// Whether the samples are more alike without these differences than with them: those that the differences set apart, where
/// there are any.
bool Levels::contradict(const std::vector<Measured>& samples, const Differences& differences) {
  constexpr double kContradicts =
      0.04;  // more scatter than without: twice the error of a rank of twenty stretches
  constexpr double kSetApart = 0.1;
  std::vector<double> plain, without, of;
  for (const Measured& m : samples) {
    of.push_back(differences.of(m.recorded));
    plain.push_back(m.log_warm);
    without.push_back(m.log_warm - of.back());
  }
  const auto sorted = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values;
  };
  const std::vector<double> sorted_plain = sorted(plain), sorted_without = sorted(without);
  const double middle_of = sorted_at(sorted(of), 0.5);
  const double middle_plain = sorted_at(sorted_plain, 0.5), middle_without = sorted_at(sorted_without, 0.5);
  double apart_plain = 0, apart_without = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (std::abs(of[i] - middle_of) < kSetApart) continue;
    apart_plain += std::abs(plain[i] - middle_plain);
    apart_without += std::abs(without[i] - middle_without);
  }
  const auto scatter = [](const std::vector<double>& values) {
    return sorted_at(values, 0.75) - sorted_at(values, 0.25);
  };
  return apart_without > apart_plain || scatter(sorted_without) > scatter(sorted_plain) + kContradicts;
}

/// Whether samples of ranks that were recorded as slower are longer, by about as much: by the correlation with their places, to
/// which one disturbed twin says nothing, and by the medians of the slower and of the faster half.
bool Levels::bear_out(const std::vector<Measured>& witnesses, const Differences& differences) {
  constexpr std::size_t kFewest = 8;
  constexpr double kNotByChance = 2.3;       // Student's t
  constexpr double kLeast = 0.5, kMost = 2;  // of the differences
  if (witnesses.size() < kFewest) return false;
  std::vector<double> recorded, warm;
  for (const Measured& m : witnesses) {
    recorded.push_back(differences.of_rank(m.recorded.rank));
    warm.push_back(m.log_warm);
  }
  if (students_t(recorded, warm) < kNotByChance) return false;
  std::vector<double> sorted = recorded;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted_at(sorted, 0.5);
  std::vector<double> slow[2], fast[2];
  for (std::size_t i = 0; i < witnesses.size(); ++i) {
    auto& half = recorded[i] > middle ? slow : fast;
    half[0].push_back(recorded[i]);
    half[1].push_back(warm[i]);
  }
  if (slow[0].empty()) return false;
  const double share = (median(slow[1]) - median(fast[1])) / (median(slow[0]) - median(fast[0]));
  return share >= kLeast && share <= kMost;
}

ToldBy Levels::what_tells(const std::vector<Measured>& samples,
                          const std::vector<Recorded>& stretches) const {
  constexpr double kBetter = 1;  // logarithm of the odds
  std::vector<Measured> half[2];
  for (std::size_t i = 0; i < samples.size(); ++i) half[i % 2].push_back(samples[i]);
  ToldBy best = ToldBy::kChance;
  double best_score = -INFINITY;
  for (const ToldBy by : {ToldBy::kChance, ToldBy::kRank, ToldBy::kStep, ToldBy::kRankAndStep}) {
    double score = 0;
    for (const int learnt : {0, 1}) {
      const Mixture mixture = fit(by, half[learnt], stretches, 0);
      Weights weights;
      for (const Measured& m : half[1 - learnt]) {
        weigh(mixture, m.recorded, weights);
        score += std::log(std::max(weights[level_of(m.log_warm)], 1e-3));
      }
    }
    if (score <= best_score + kBetter) continue;
    best_score = score;
    best = by;
  }
  return best;
}

void Levels::find_levels(const std::vector<Measured>& samples) {
  std::vector<double> sorted;
  for (const Measured& m : samples) sorted.push_back(m.log_warm);
  std::sort(sorted.begin(), sorted.end());
  typical_ = sorted_at(sorted, 0.25);
  std::vector<double> excess;
  for (const Measured& m : samples)
    excess.push_back(std::exp(static_cast<double>(m.recorded.log_time)) - std::exp(m.log_warm));
  std::sort(excess.begin(), excess.end());
  typical_excess_ = sorted_at(excess, 0.5);
  if (sorted.size() < kFewestSamples) return;
  values_.clear();
  share_.clear();
  for (const Cluster& c : clusters_of(sorted, rough_ ? kRoughNoise : kExactNoise)) {
    values_.push_back(c.value);
    share_.push_back(c.share);
  }
  drop_few(kFewestShare, samples);
  normalise(share_);
  typical_ = values_.front();
}

/// A few samples that lie above all others are what the host did to their twins: unless they lie far above, and the stretches
/// themselves took so much longer than others.
void Levels::drop_few(double fewest_share, const std::vector<Measured>& samples) {
  constexpr double kNotByChance = 2;  // Student's t
  const auto are_as_recorded = [&] {
    std::vector<double> is_of_it, recorded;
    for (const Measured& m : samples) {
      is_of_it.push_back(level_of(m.log_warm) + 1 == values_.size() ? 1 : 0);
      recorded.push_back(m.recorded.log_time);
    }
    return students_t(is_of_it, recorded) > kNotByChance;
  };
  const auto of_the_rest = [&] { return std::accumulate(share_.begin(), share_.end(), 0.0); };
  while (values_.size() > 1 && share_.back() < fewest_share * of_the_rest() &&
         (values_.back() - values_[values_.size() - 2] < kFarApart || !are_as_recorded())) {
    values_.pop_back();
    share_.pop_back();
  }
}

/// The lowest of those that are near to it stands for them: what a host adds, it adds to that.
void Levels::believe_less(const std::vector<Measured>& samples) {
  std::size_t last = 0;
  for (std::size_t l = 1; l < values_.size(); ++l) {
    if (values_[l] - values_[last] < (rough_ ? kRoughApart : kLevelsApart)) {
      share_[last] += share_[l];
      continue;
    }
    ++last;
    values_[last] = values_[l];
    share_[last] = share_[l];
  }
  values_.resize(last + 1);
  share_.resize(last + 1);
  if (last < kMostValues) drop_few(kFewestByChance, samples);
  normalise(share_);
}

/// What is longer than a level has been disturbed; what is shorter is none of it.
std::size_t Levels::level_of(double log_warm) const {
  constexpr double kTooShort = 4;  // times as unlikely as too long by as much
  const auto off = [&](std::size_t l) {
    const double longer = log_warm - values_[l];
    return longer < 0 ? -kTooShort * longer : longer;
  };
  std::size_t best = 0;
  for (std::size_t l = 1; l < values_.size(); ++l)
    if (off(l) < off(best)) best = l;
  return best;
}

bool Levels::are_range_by_chance() const {
  return values_.size() > kMostValues && told_by_ == ToldBy::kChance;
}

double Levels::longer(const Measured& sample) const {
  const double level =
      constant() ? typical_ + differences_.of(sample.recorded) : values_[level_of(sample.log_warm)];
  return sample.log_warm - level;
}

double Levels::log_warm_of(const Measured& sample) const {
  const bool range = values_.size() > kMostValues;
  if (as_recorded() || range) return sample.log_warm;
  const double level = constant() ? typical_ : values_[level_of(sample.log_warm)];
  return std::abs(sample.log_warm - level) < kFarApart || !is_as_recorded(sample, level) ? level
                                                                                         : sample.log_warm;
}

/// A single twin is far off now and then, all of its passes. Then the stretch itself was recorded as others are: so much
/// longer than its level as samples mostly are.
bool Levels::is_as_recorded(const Measured& sample, double level) const {
  const double without_host = std::exp(static_cast<double>(sample.recorded.log_time)) - typical_excess_;
  return std::abs(without_host - std::exp(sample.log_warm)) <= std::abs(without_host - std::exp(level));
}

double Levels::weight(const Mixture& mixture, const Recorded& stretch, std::size_t l) const {
  double weight = stretch.rank < mixture.by_rank.size() ? mixture.by_rank[stretch.rank][l] : share_[l];
  if (stretch.step < mixture.by_step.size()) weight *= mixture.by_step[stretch.step][l] / share_[l];
  return weight * longer_.at(static_cast<double>(stretch.log_time) - values_[l]);
}

/// The probability of each level.
void Levels::weigh(const Mixture& mixture, const Recorded& stretch, Weights& weights) const {
  weights.resize(values_.size());
  for (std::size_t l = 0; l < weights.size(); ++l) weights[l] = weight(mixture, stretch, l);
  normalise(weights);
}

Levels::Mixture Levels::fit(ToldBy by, const std::vector<Measured>& samples,
                            const std::vector<Recorded>& stretches, int sharpening) const {
  Mixture mixture;
  std::uint32_t ranks = 0, steps = 0;
  for (const Recorded& s : stretches) {
    ranks = std::max(ranks, s.rank + 1);
    if (s.step < kMostSteps) steps = std::max(steps, s.step + 1);
  }
  if (by == ToldBy::kRank || by == ToldBy::kRankAndStep) mixture.by_rank.assign(ranks, share_);
  if (by == ToldBy::kStep || by == ToldBy::kRankAndStep) mixture.by_step.assign(steps, share_);
  if (by == ToldBy::kChance) return mixture;
  const auto prior = [&](std::size_t count) {
    std::vector<Weights> all(count, share_);
    for (Weights& w : all)
      for (double& x : w) x *= kPrior;
    return all;
  };
  Weights weights;
  for (int round = 0; round < kRounds + sharpening; ++round) {
    Mixture next{prior(mixture.by_rank.size()), prior(mixture.by_step.size())};
    const auto count = [&](const Recorded& s, const Weights& w) {
      for (std::size_t l = 0; l < w.size(); ++l) {
        if (s.rank < next.by_rank.size()) next.by_rank[s.rank][l] += w[l];
        if (s.step < next.by_step.size()) next.by_step[s.step][l] += w[l];
      }
    };
    for (const Recorded& s : stretches) {
      weigh(mixture, s, weights);
      count(s, weights);
    }
    for (const Measured& m : samples) {
      weights.assign(values_.size(), 0.0);
      weights[level_of(m.log_warm)] = 1;
      count(m.recorded, weights);
    }
    for (auto* all : {&next.by_rank, &next.by_step})
      for (Weights& w : *all) {
        if (round >= kRounds)
          for (double& x : w) x *= x;  // one level each, rather than some of all
        normalise(w);
      }
    mixture = std::move(next);
  }
  return mixture;
}

double Levels::warm(const Recorded& stretch, double chance) const {
  if (constant()) return as_recorded() ? warm_.front() * std::exp(differences_.of(stretch)) : warm_.front();
  double sum = 0;
  for (std::size_t l = 0; l < values_.size(); ++l) sum += weight(mixture_, stretch, l);
  chance *= sum;
  std::size_t level = 0;
  for (; level + 1 < values_.size(); ++level) {
    const double of_level = weight(mixture_, stretch, level);
    if (chance < of_level) break;
    chance -= of_level;
  }
  return warm_[level];
}

}  // namespace nplus1::hypothesis::clock
