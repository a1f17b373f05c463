#include "hypothesis/clock/stretches.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "hypothesis/clock/correlation.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kKept = 64;  // recorded stretches of a kind on a rank
/// A sample that lies so far below what was recorded is none: the stretch did something else the second time.
constexpr double kLeastShare = 1e-4;
constexpr double kLow = 0.1;  // quantile of what no twin has measured
constexpr double kShortPs = 1e6;
/// At most so much of each stretch is what measuring it costs beyond what a calibration finds, where all is hot.
constexpr double kMostOfMeasuringPs = 100e3;
constexpr std::size_t kFewestToTell = 32;  // stretches of a kind
constexpr double kAlike = 1.2;
constexpr std::size_t kFewestOfLine = 3;  // samples
constexpr std::size_t kRepeated = 4;      // stretches of a rank, of which some were hardly disturbed

std::uint64_t key(RankId rank, std::uint64_t ordinal) {
  return static_cast<std::uint64_t>(rank.value) << 40U ^ ordinal;
}

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
  return x ^ x >> 31U;
}

double fraction(std::uint64_t x) {
  return static_cast<double>(x >> 11U) * 0x1p-53;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

/// A few samples are more alike than the kind's stretches are: each replicate moves them together, by the error of the
/// mean of as many, where a single one is off by 5 % if it is rough, else by 1 %.
void blur(std::vector<Measured>& samples, std::uint64_t random) {
  constexpr double kRough = 0.05, kExact = 0.01;
  double sum = -6;  // of twelve fractions: nearly normal, variance 1
  for (int i = 0; i < 12; ++i) sum += fraction(random = mixed(random));
  const double each = samples.front().rough ? kRough : kExact;
  for (Measured& m : samples) m.log_warm += sum * each / std::sqrt(static_cast<double>(samples.size()));
}

double share(const CoreSpeed& core) {
  return static_cast<double>(core.loads.count()) / static_cast<double>(core.cycles.count());
}

/// Those whose twins had their core for themselves.
std::vector<Measured> on_own_cores(const std::vector<Measured>& samples) {
  std::vector<Measured> own;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(own),
               [](const Measured& m) { return !m.shared; });
  return own;
}

/// What waits for itself (a chain of operations each of which needs the one before) takes as long whoever has the core's other
/// units: then twins that shared their core, with those who did more and who did less, took the same.
bool bears_sharing(const std::vector<Measured>& samples) {
  constexpr std::size_t kFewest = 2;
  constexpr double kSame = 0.02;
  std::vector<double> shared;
  for (const Measured& m : samples)
    if (m.shared) shared.push_back(m.log_warm);
  return shared.size() >= kFewest && quantile(shared, 0.75) - quantile(shared, 0.25) < kSame;
}

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

Recorded recorded_as(RankId rank, std::uint32_t step, double picoseconds) {
  return {static_cast<std::uint32_t>(rank.value), step,
          static_cast<float>(std::log(std::max(picoseconds, 1.0)))};
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

const char* name(Model model) {
  constexpr const char* kNames[] = {"none",    "quantile", "constant", "at random",
                                    "by rank", "by step",  "by both",  "along"};
  return kNames[static_cast<std::size_t>(model)];
}

Result<std::vector<Sample>> samples_of(const events::recording::Properties& properties) {
  std::vector<Sample> samples;
  const auto found = properties.find("warm-times");
  if (found == properties.end()) return samples;
  const char* at = found->second.data();
  const char* const end = at + found->second.size();
  const auto number = [&](auto& value, char behind) {
    const auto read = std::from_chars(at, end, value);
    if (read.ec != std::errc{} || read.ptr == end || *read.ptr != behind) return false;
    at = read.ptr + 1;
    return true;
  };
  while (at != end) {
    Sample sample;
    std::int64_t warm = 0;
    int rough = 0;
    std::int64_t speeds[4] = {};
    const auto all_speeds = [&] {
      return number(speeds[0], ' ') && number(speeds[1], ' ') && number(speeds[2], ' ') &&
             number(speeds[3], '\n');
    };
    // Earlier versions end the line behind `rough`.
    const bool read = number(sample.rank.value, ' ') && number(sample.ordinal, ' ') && number(warm, ' ') &&
                      (number(rough, '\n') || (number(rough, ' ') && all_speeds()));
    const auto negative = [](std::int64_t speed) { return speed < 0; };
    if (!read || sample.rank.value < 0 || warm < 0 || rough < 0 || rough > 1 ||
        std::any_of(std::begin(speeds), std::end(speeds), negative) || (warm == 0 && speeds[2] == 0))
      return Error{"what twins measured cannot be read from the recording", "record the program again"};
    sample.warm = Duration{warm};
    sample.rough = rough == 1;
    sample.twins_core = {Duration{speeds[0]}, Duration{speeds[1]}};
    sample.core = {Duration{speeds[2]}, Duration{speeds[3]}};
    samples.push_back(sample);
  }
  return samples;
}

Place Follower::before(RankId rank, const events::Event& event) {
  Last& last = last_[static_cast<std::uint64_t>(rank.value) << 16U | event.thread.value];
  const Kind kind{last.site, event.site.value, last.size};
  const std::uint16_t after = last.call;
  last = {event.site.value, event.size, event.call};
  auto& how_many = how_many_[kind];
  if (how_many.size() <= rank.index()) how_many.resize(rank.index() + 1);
  return {kind, how_many[rank.index()]++, after};
}

Stretches::Stretches(std::vector<Sample> samples) {
  // Quantiles: the very least may be an error. More than that much above it, and somebody had a part of the core.
  constexpr double kFastest = 0.02, kOwn = 0.05, kMore = 1.04;
  constexpr double kSlowest = 3;  // times as long: the core was taken away meanwhile, whatever its frequency
  std::vector<double> cycles, shares;
  for (const Sample& sample : samples)
    for (const CoreSpeed* core : {&sample.twins_core, &sample.core}) {
      if (core->cycles.count() == 0) continue;
      cycles.push_back(static_cast<double>(core->cycles.count()));
      shares.push_back(share(*core));
    }
  fastest_ = quantile(std::move(cycles), kFastest);
  own_share_ = quantile(std::move(shares), kOwn);
  for (Sample& sample : samples) {
    if (sample.warm.count() != 0) ++measured_;
    for (CoreSpeed* core : {&sample.twins_core, &sample.core})
      if (static_cast<double>(core->cycles.count()) > kSlowest * fastest_) *core = {};
    sample.shared = sample.twins_core.cycles.count() != 0 && share(sample.twins_core) > kMore * own_share_;
    sample.rough = sample.rough || sample.shared;
    samples_.emplace(key(sample.rank, sample.ordinal), sample);
  }
}

double Stretches::log_shared(const CoreSpeed& core) const {
  return core.cycles.count() == 0 ? 0 : std::max(std::log(share(core) / own_share_), 0.0);
}

double Stretches::at_fastest(double time, const CoreSpeed& core) const {
  const auto cycles = static_cast<double>(core.cycles.count());
  return cycles == 0 ? time : time * std::min(1.0, fastest_ / cycles);
}

double Stretches::slower_than_fastest() const {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [place, sample] : samples_)
    for (const CoreSpeed* core : {&sample.twins_core, &sample.core}) {
      if (core->cycles.count() == 0) continue;
      sum += 1 / at_fastest(1, *core) - 1;
      ++count;
    }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

const Sample* Stretches::sample_of(RankId rank, std::uint64_t ordinal) const {
  const auto found = samples_.find(key(rank, ordinal));
  return found == samples_.end() ? nullptr : &found->second;
}

void Stretches::take(RankId rank, std::uint64_t ordinal, const events::Event& event) {
  const Place place = follower_.before(rank, event);
  OfKind& kind = kinds_[place.kind];
  const Sample* const sample = sample_of(rank, ordinal);
  const double picoseconds =
      at_fastest(static_cast<double>(event.compute_ps), sample == nullptr ? CoreSpeed{} : sample->core);
  kind.after = place.after;
  ++kind.count;
  kind.recorded_ps += static_cast<double>(event.compute_ps);
  if (kind.ranks.size() <= rank.index()) kind.ranks.resize(rank.index() + 1);
  OfRank& here = kind.ranks[rank.index()];
  ++here.all;
  here.log_shared = sample == nullptr ? 0.0F : static_cast<float>(log_shared(sample->core));
  const Recorded recorded = recorded_as(rank, place.step, picoseconds);
  if (sample != nullptr && sample->warm.count() != 0) {
    const double warm = at_fastest(static_cast<double>(sample->warm.count()), sample->twins_core);
    if (warm > kLeastShare * picoseconds) {
      kind.measured.push_back({recorded, std::log(std::min(warm, picoseconds)), sample->rough, sample->shared,
                               log_shared(sample->twins_core)});
      return;
    }
  }
  ++here.count;
  if (here.some.size() < kKept) {
    here.some.push_back(recorded);
  } else {
    random_ = mixed(random_);
    if (const std::uint64_t place_of = random_ % here.count; place_of < kKept) here.some[place_of] = recorded;
  }
}

ToldOfKind Stretches::told(const OfKind& kind) {
  ToldOfKind told{kind.measured, {}, kind.count, kind.recorded_ps};
  for (const OfRank& rank : kind.ranks)
    told.recorded.insert(told.recorded.end(), rank.some.begin(), rank.some.end());
  return told;
}

ToldByRun Stretches::told() const {
  ToldByRun all;
  for (const auto& [kind, of] : kinds_) all.emplace(kind, told(of));
  return all;
}

void Stretches::join(const std::vector<ToldByRun>& others) {
  for (auto& [kind, of] : kinds_) {
    std::vector<const ToldOfKind*> of_others;
    for (const ToldByRun& run : others)
      if (const auto found = run.find(kind); found != run.end()) of_others.push_back(&found->second);
    if (!of_others.empty()) join(of, of_others);
  }
}

void Stretches::join(OfKind& kind, const std::vector<const ToldOfKind*>& others) {
  const ToldOfKind own = told(kind);
  std::vector<const ToldOfKind*> runs{&own};
  runs.insert(runs.end(), others.begin(), others.end());
  std::vector<Pace> paces;
  for (const ToldOfKind* run : runs) paces.push_back(pace_of(*run));
  const Pace fast{of_the_fast(paces, &Pace::twins), of_the_fast(paces, &Pace::recorded)};

  kind.measured.clear();
  for (OfRank& rank : kind.ranks) rank.some.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double shift = std::isfinite(paces[i].recorded) ? fast.recorded - paces[i].recorded : 0.0;
    const double shift_of_twins = std::isfinite(paces[i].twins) ? fast.twins - paces[i].twins : shift;
    if (i == 0) {
      kind.pace = std::exp(shift);
      kind.pace_of_twins = std::exp(shift_of_twins);
    }
    for (Measured m : runs[i]->measured) {
      if (m.recorded.rank >= kind.ranks.size()) continue;  // of one that does not do this here
      m.recorded.log_time += static_cast<float>(shift);
      m.log_warm += shift_of_twins;
      kind.measured.push_back(m);
    }
    for (Recorded r : runs[i]->recorded) {
      if (r.rank >= kind.ranks.size()) continue;
      r.log_time += static_cast<float>(shift);
      kind.ranks[r.rank].some.push_back(r);
    }
  }
}

std::uint64_t Stretches::chance(std::uint64_t of) const {
  return mixed(of ^ mixed(replicate_));
}

/// What each rank's stretches take where no twin says it. A replicate takes another quantile: how much of the shortest is
/// the host's is what nobody knows.
void Stretches::take_quantiles(OfKind& kind, const std::vector<Recorded>& recorded) const {
  kind.differences = Differences{recorded};
  const double share = replicate_ == 0 ? kLow : fraction(chance(kind.count)) / 2;
  std::vector<double> low;
  for (OfRank& rank : kind.ranks) {
    std::vector<double> times;
    for (const Recorded& r : rank.some)
      times.push_back(static_cast<double>(r.log_time) - kind.differences.of_step(r.step));
    if (times.empty()) continue;
    rank.log_low = static_cast<float>(quantile(std::move(times), share));
    low.push_back(rank.log_low);
  }
  if (low.empty()) return;
  kind.least = INFINITY;
  for (const Recorded& r : recorded)
    kind.least = std::min(kind.least, static_cast<double>(std::exp(r.log_time)));
  forgive_once(kind, quantile(std::move(low), kLow));
}

/// Of many stretches each of which happens once, a host hits a few, and all ranks wait for these. What a rank that does one
/// only once takes more than others is the host's: all of it where ranks do the same, as far as can be seen; else all but a
/// quarter and what exceeds a millisecond. Where somebody else had a part of the core at its end, it took longer by about as
/// much as loads did.
void Stretches::forgive_once(OfKind& kind, double typical) const {
  constexpr double kInProportion = 1.25, kMostOfTheHostPs = 1e9;
  for (OfRank& rank : kind.ranks)
    if (rank.count == 1 && static_cast<double>(rank.log_low) > typical)
      rank.log_low = std::max(static_cast<float>(typical), rank.log_low - rank.log_shared);
  const bool alike = are_alike(kind, typical);
  // In a replicate some of it is the program's.
  const double chance_of = replicate_ == 0 ? 1 : fraction(chance(~kind.count));
  const double most = kMostOfTheHostPs * chance_of;
  for (OfRank& rank : kind.ranks) {
    if (rank.count != 1) continue;
    const double longer = static_cast<double>(rank.log_low) - typical;
    if (alike && longer > 0 && longer < std::log(kAlike)) {
      rank.log_low = static_cast<float>(typical + (1 - chance_of) * longer);
      continue;
    }
    const double usual = kInProportion * std::exp(typical);
    const double more = std::exp(static_cast<double>(rank.log_low)) - usual;
    if (more > 0) rank.log_low = static_cast<float>(std::log(usual + std::max(more - most, 0.0)));
  }
}

/// Whether what each rank does once is the same on nine ranks of ten: a stretch that is not repeated takes a fifth more
/// now and then on a host that is shared.
bool Stretches::are_alike(const OfKind& kind, double typical) {
  constexpr std::size_t kFewestRanks = 4;
  std::vector<double> once;
  for (const OfRank& rank : kind.ranks)
    if (rank.count == 1) once.push_back(rank.log_low);
  return once.size() >= kFewestRanks && quantile(std::move(once), 0.9) - typical < std::log(kAlike);
}

/// Stretches that happen once on each rank touch memory for the first time, which a twin's warm passes don't.
void Stretches::leave_once(OfKind& kind) {
  const auto once = [](const OfRank& rank) { return rank.all <= 1; };
  if (kind.measured.empty() || !std::all_of(kind.ranks.begin(), kind.ranks.end(), once)) return;
  for (const Measured& m : kind.measured) {
    OfRank& rank = kind.ranks[m.recorded.rank];
    rank.some.push_back(m.recorded);
    ++rank.count;
  }
  kind.measured.clear();
}

/// Those whose twins had their core for themselves; and all, where who shares it makes no difference. Others took 1.1 to 3 times as
/// long: a kind with none but these is as one without samples, only not longer than they say.
void Stretches::believe(OfKind& kind) {
  kind.believed = on_own_cores(kind.measured);
  if (kind.believed.empty() && bears_sharing(kind.measured)) kind.believed = kind.measured;
  find_ends(kind);
}

void Stretches::find_ends(OfKind& kind) {
  kind.most = INFINITY;
  const auto shorter = [](const Measured& a, const Measured& b) { return a.log_warm < b.log_warm; };
  if (!kind.believed.empty()) {
    const auto [least, most] = std::minmax_element(kind.believed.begin(), kind.believed.end(), shorter);
    kind.least = std::exp(least->log_warm);
    kind.most = std::exp(most->log_warm);
  } else if (!kind.measured.empty()) {
    kind.most = std::exp(std::max_element(kind.measured.begin(), kind.measured.end(), shorter)->log_warm);
  }
}

/// Stretches of milliseconds hardly ever have their core for themselves, and few samples tell no amounts of work apart. Where those
/// that shared more took no longer, all do, as rough ones.
void Stretches::believe_all(OfKind& kind, const std::vector<Recorded>& recorded) {
  constexpr std::size_t kFewest = 8, kFewEnough = 4;
  constexpr double kByChance = 2;  // Student's t
  if (!kind.levels.constant() || kind.levels.as_recorded()) return;
  if (kind.believed.size() > kFewEnough || kind.measured.size() < kFewest) return;
  std::vector<double> shared, warm;
  for (const Measured& m : kind.measured) {
    shared.push_back(m.log_shared);
    warm.push_back(m.log_warm);
  }
  if (students_t(shared, warm) > kByChance) return;
  std::vector<Measured> all = kind.measured;
  for (Measured& m : all) m.rough = true;
  Levels levels{all, recorded};
  if (levels.constant()) return;
  kind.levels = std::move(levels);
  kind.believed = std::move(all);
  find_ends(kind);
}

/// A replicate's samples: drawn from these, with replacement.
std::vector<Measured> Stretches::drawn(const OfKind& kind, const std::vector<Measured>& samples) const {
  std::vector<Measured> some;
  for (std::size_t i = 0; i < samples.size(); ++i)
    some.push_back(samples[chance(i + kind.count) % samples.size()]);
  blur(some, chance(~kind.count));
  return some;
}

/// Tasks that are each as long as their data says. Without samples they are as long as recorded, but for what a replicate takes off.
void Stretches::find_line(OfKind& kind) const {
  constexpr double kMostOfTheHost = 0.2;
  if (replicate_ == 0) {
    kind.line.reset();
    if (!differ_as_recorded(kind)) return;
    kind.line = kind.measured.size() < kFewestOfLine ? Line{0} : Line{kind.measured};
  } else if (kind.line) {
    const double some = fraction(chance(kind.count));
    kind.line = kind.measured.size() < kFewestOfLine ? Line{-kMostOfTheHost * some}
                                                     : Line{drawn(kind, kind.measured), some};
  }
}

/// Whether stretches differ from each other, as recorded, and not by amounts of work that samples tell better: by what samples that
/// had their cores for themselves say, or all of them if their range is wider than sharing makes it; or because no host makes
/// so long stretches differ by so much.
bool Stretches::differ_as_recorded(const OfKind& kind) {
  constexpr double kAnyRange = 0.1, kMoreThanSharingMakes = 0.6, kMoreThanAnyHostMakes = 0.8;
  constexpr double kLongPs = 5e9, kRatherLongPs = 0.3e9, kRatherAlong = 0.5;
  const double mean_ps = kind.recorded_ps / static_cast<double>(kind.count);
  const double range = range_on_ranks(kind);
  const bool wide = (range > kMoreThanSharingMakes && mean_ps > kLongPs) ||
                    (range > kMoreThanAnyHostMakes && mean_ps > kRatherLongPs);
  if (kind.measured.size() < kFewestOfLine) return wide;
  const std::vector<Measured> own = on_own_cores(kind.measured);
  if (!(wide && correlation_of(kind.measured) > kRatherAlong) && !go_along(own, kAnyRange) &&
      !go_along(kind.measured, kMoreThanSharingMakes))
    return false;
  return kind.believed.empty() || tells_better(Line{kind.measured}, kind);
}

/// Levels that come and go are believed of five samples each.
bool Stretches::tells_better(const Line& line, const OfKind& kind) {
  constexpr double kBetter = 0.7;  // times the levels' error
  constexpr std::size_t kFewestOfLevel = 5;
  const bool few = kind.levels.told_by() == ToldBy::kChance && !kind.levels.as_recorded() &&
                   kind.believed.size() < kFewestOfLevel * kind.levels.count();
  return few || error_of(line, kind.measured) < kBetter * error_of(kind.levels, kind.measured);
}

/// From the 10 % quantile to the 90 % quantile of what was recorded against the rank's own low quantile, without what its step has more.
double Stretches::range_on_ranks(const OfKind& kind) {
  std::vector<double> times;
  for (const OfRank& rank : kind.ranks)
    if (rank.some.size() >= kRepeated)
      for (const Recorded& r : rank.some)
        times.push_back(static_cast<double>(r.log_time - rank.log_low) - kind.differences.of_step(r.step));
  return quantile(times, 0.9) - quantile(times, kLow);
}

void Stretches::fit(OfKind& kind) const {
  std::vector<Recorded> recorded;
  for (const OfRank& rank : kind.ranks) recorded.insert(recorded.end(), rank.some.begin(), rank.some.end());
  if (kind.believed.empty())
    take_quantiles(kind, recorded);
  else
    fit_levels(kind, recorded);
  find_line(kind);
}

void Stretches::fit_levels(OfKind& kind, const std::vector<Recorded>& recorded) const {
  for (OfRank& rank : kind.ranks) {
    std::vector<double> times;
    for (const Recorded& r : rank.some) times.push_back(r.log_time);
    rank.log_low = times.empty() ? INFINITY : static_cast<float>(quantile(std::move(times), kLow));
  }
  kind.levels = Levels{replicate_ == 0 ? kind.believed : drawn(kind, kind.believed), recorded, kind.measured,
                       replicate_ == 0 ? std::nullopt : std::optional{kind.levels.told_by()}};
  if (replicate_ != 0) return;
  believe_all(kind, recorded);
  std::vector<double> warm;
  for (const Measured& m : kind.believed) warm.push_back(std::exp(m.log_warm));
  kind.spread = (quantile(warm, 0.75) - quantile(warm, 0.25)) / 2 / quantile(warm, 0.5);
}

/// How much shorter than their recorded low quantile stretches are when they are warm: of kinds that were measured.
void Stretches::learn_warmer() {
  constexpr std::size_t kFewestSamples = 3;
  warmer_.clear();
  for (const auto& [kind, of] : kinds_) {
    std::vector<double> low, warm;
    for (const OfRank& rank : of.ranks)
      if (rank.some.size() >= kRepeated) low.push_back(rank.log_low);
    for (const Measured& m : of.believed) warm.push_back(m.log_warm);
    if (low.empty() || warm.size() < kFewestSamples) continue;
    const double typical = quantile(std::move(low), 0.5);
    warmer_.push_back({typical, std::min(quantile(std::move(warm), 0.5) - typical, 0.0)});
  }
}

/// Of stretches as long as that: the mean of what measured kinds say, the nearer the more, and with a little weight nothing.
/// In a replicate each has another weight (Bayesian bootstrap).
Stretches::Warmer Stretches::warmer(double log_low, std::uint64_t random) const {
  constexpr double kNear = 0.7;  // a factor of two
  double sum = 0, weights = 0.5;
  Warmer found;
  for (const auto& [at, shorter] : warmer_) {
    const double off = (at - log_low) / kNear;
    double weight = std::exp(-off * off / 2);
    if (std::abs(off) < 2) found.most = std::min(found.most, shorter);
    random = mixed(random);
    if (replicate_ != 0) weight *= -std::log(std::max(fraction(random), 1e-9));
    sum += weight * shorter;
    weights += weight;
  }
  found.mean = sum / weights;
  return found;
}

/// Twins that shared their core took rather too long: a kind with none but such ones is at least as much warmer than recorded as
/// the best of them say, each against its rank and step.
double Stretches::warmer_at_least(const OfKind& kind) {
  std::vector<double> shorter;
  for (const Measured& m : kind.measured)
    if (const OfRank& rank = kind.ranks[m.recorded.rank]; rank.some.size() >= kRepeated)
      shorter.push_back(m.log_warm - static_cast<double>(rank.log_low) -
                        kind.differences.of_step(m.recorded.step));
  return shorter.empty() ? 0 : std::min(quantile(std::move(shorter), kLow), 0.0);
}

/// A kind that no twin has measured is as warm as others of its length.
void Stretches::warm_up(OfKind& kind) const {
  if (!kind.believed.empty()) return;
  std::vector<double> low;
  for (const OfRank& rank : kind.ranks)
    if (rank.some.size() >= kRepeated) low.push_back(rank.log_low);
  if (low.empty()) return;
  Warmer shorter = warmer(quantile(std::move(low), 0.5), chance(kind.count + 1));
  shorter.mean = std::min(shorter.mean, warmer_at_least(kind));
  shorter.most = std::min(shorter.most, shorter.mean);
  for (OfRank& rank : kind.ranks)
    if (rank.some.size() >= kRepeated) rank.log_low += static_cast<float>(shorter.mean);
  kind.least *= std::exp(shorter.most);
}

/// A program that sends twice in a row computes nothing in between: what its shortest kind of stretch behind a function takes
/// is taken for the cost of measuring behind that; behind functions without so short a kind, what the shortest of all takes.
/// (On 64 ranks of two cores 90 ns behind MPI_Send, which wakes another rank, and 40 behind an MPI_Recv that finds its message.)
void Stretches::find_cost_of_measuring() {
  constexpr double kLongestOfNothingPs = 140e3;
  std::map<std::uint16_t, double> least_behind;
  double least = INFINITY;
  for (const auto& [kind, of] : kinds_) {
    std::vector<double> times;
    for (const OfRank& rank : of.ranks)
      for (const Recorded& r : rank.some)
        if (r.log_time > 0)
          times.push_back(static_cast<double>(r.log_time));  // the others are inside of a call
    if (times.size() < kFewestToTell) continue;
    const double low = std::exp(quantile(std::move(times), kLow));
    if (low > kLongestOfNothingPs) continue;  // something is computed there
    double& of_call = least_behind.try_emplace(of.after, INFINITY).first->second;
    of_call = std::min(of_call, low);
    least = std::min(least, low);
  }
  for (auto& [kind, of] : kinds_) {
    const auto behind = least_behind.find(of.after);
    const double cost = behind == least_behind.end() ? least : behind->second;
    of.of_measuring = std::isinf(cost) ? 0 : std::min(cost, kMostOfMeasuringPs);
  }
}

void Stretches::fit() {
  find_cost_of_measuring();
  for (auto& [kind, of] : kinds_) {
    leave_once(of);
    if (replicate_ == 0) believe(of);
    fit(of);
  }
  learn_warmer();
  for (auto& [kind, of] : kinds_) {
    warm_up(of);
    for (OfRank& rank : of.ranks) rank.low = std::exp(static_cast<double>(rank.log_low));
  }
}

void Stretches::replicate(std::uint32_t number) {
  replicate_ = number;
  fit();
}

/// By its own twin; 0: none.
double Stretches::measured_of(const OfKind& kind, const Sample* own) const {
  if (own == nullptr) return 0;
  return kind.pace_of_twins * at_fastest(static_cast<double>(own->warm.count()), own->twins_core);
}

double Stretches::warm_along(const OfKind& kind, double recorded, const Sample* own) const {
  const double measured = measured_of(kind, own);
  if (measured > kLeastShare * recorded && !own->rough) return measured;
  return std::exp(kind.line->log_warm(std::log(std::max(recorded, 1.0))));
}

double Stretches::warm_of_levels(const OfKind& kind, const Place& place, RankId rank, std::uint64_t ordinal,
                                 double recorded, const Sample* own) const {
  const Levels& levels = kind.levels;
  const bool asks_for_time = own != nullptr || !levels.constant();
  const Recorded stretch = asks_for_time ? recorded_as(rank, place.step, recorded)
                                         : Recorded{static_cast<std::uint32_t>(rank.value), place.step};
  const double measured = measured_of(kind, own);
  if (measured > kLeastShare * recorded && !own->rough)
    return std::exp(levels.log_warm_of({stretch, std::log(measured), false}));
  const double warm = levels.warm(stretch, fraction(chance(key(rank, ordinal))));
  return levels.as_recorded() ? warm : std::min(warm, kind.most);
}

double Stretches::warm(const Place& place, RankId rank, std::uint64_t ordinal, double recorded,
                       Estimate estimate) const {
  const auto found = kinds_.find(place.kind);
  if (found == kinds_.end() || rank.index() >= found->second.ranks.size()) return recorded;
  const OfKind& of = found->second;
  const Sample* const own = sample_of(rank, ordinal);
  if (own != nullptr) recorded = at_fastest(recorded, own->core);
  const double longest = recorded;
  recorded *= of.pace;
  double warm = recorded;
  const double low = of.ranks[rank.index()].low;
  if (estimate == Estimate::kLowest) {
    warm = of.least;
  } else if (of.line) {
    warm = warm_along(of, recorded, own);
  } else if (of.believed.empty()) {
    warm = low;
    if (of.differences.by_step()) warm *= std::exp(of.differences.of_step(place.step));
    warm = std::min(warm, of.most);
  } else {
    warm = warm_of_levels(of, place, rank, ordinal, recorded, own);
  }
  // A twin's pass begins behind a system call: some 60 ns too long, which so short stretches don't hide. They touch little
  // memory, and now and then the rank itself was as fast. So it was where others had a part of the core in every pass.
  if (!of.line && !of.believed.empty() && (warm < kShortPs || of.levels.at_most()))
    warm = std::min(warm, low);
  warm = std::max(std::min({warm, recorded, longest}) - of.of_measuring, 0.0);
  if (estimate == Estimate::kBest) of.warm_ps += warm;
  return warm;
}

Model Stretches::model_of(const OfKind& kind) {
  if (kind.line) return Model::kAlong;
  if (kind.believed.empty()) return Model::kQuantile;
  if (kind.levels.constant() && !kind.levels.as_recorded()) return Model::kConstant;
  switch (kind.levels.told_by()) {
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

std::vector<KindReport> Stretches::report() const {
  std::vector<KindReport> all;
  for (const auto& [kind, of] : kinds_)
    all.push_back({kind, of.count, of.measured.size(), model_of(of), of.recorded_ps, of.warm_ps, of.spread});
  std::sort(all.begin(), all.end(), [](const KindReport& a, const KindReport& b) {
    return a.recorded_ps - a.warm_ps > b.recorded_ps - b.warm_ps;
  });
  return all;
}

}  // namespace nplus1::hypothesis::clock
