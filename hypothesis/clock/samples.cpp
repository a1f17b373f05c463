#include "hypothesis/clock/samples.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

double share(const CoreSpeed& core) {
  return static_cast<double>(core.loads.count()) / static_cast<double>(core.cycles.count());
}

/// What loads take of cycles on cores for oneself: from the least around which readings gather (these are alike, and however rare they
/// are, a single one that is less was disturbed), up to where there are far fewer; where there is no such place, strangers are on all
/// cores, and none is one's own.
struct OwnShares {
  double least = 0, most = 0;

  explicit OwnShares(std::vector<double> shares) {
    if (shares.empty()) return;
    std::sort(shares.begin(), shares.end());
    least = least_of_many(shares);
    most = least * until_far_fewer(shares);
  }

 private:
  static double least_of_many(const std::vector<double>& sorted) {
    constexpr double kGathered = 1.01;
    constexpr std::ptrdiff_t kFewest = 3, kOneIn = 200;
    const auto size = static_cast<std::ptrdiff_t>(sorted.size());
    const std::ptrdiff_t many = std::max(kFewest, size / kOneIn);
    const auto gathered_from = [&](auto first) {
      return std::upper_bound(first, sorted.end(), kGathered * *first) - first;
    };
    auto first = sorted.begin();
    while (first != sorted.end() && gathered_from(first) < many) ++first;
    if (first == sorted.end()) return sorted.front();
    auto most = first;
    for (auto next = first; next != sorted.end() && *next <= kGathered * *first; ++next)
      if (gathered_from(next) > gathered_from(most)) most = next;
    return *most;
  }

  /// Where hardly any are left, or fewer and then no longer fewer, as a multiple of the least; 0: nowhere.
  [[nodiscard]] double until_far_fewer(const std::vector<double>& sorted) const {
    constexpr double kStep = 0.0025, kFurther = 0.01, kHardlyAny = 0.1, kFewer = 0.6, kNoLongerFewer = 0.7;
    constexpr double kEnoughToTell = 8, kNotTold = 1.04;
    constexpr int kMostSteps = 20;
    double highest = 0;
    for (int step = 0; step <= kMostSteps; ++step) {
      const double multiple = 1 + step * kStep, here = many_near(sorted, least * multiple);
      if (highest >= kEnoughToTell && here < kFewer * highest &&
          (here < kHardlyAny * highest ||
           many_near(sorted, least * (multiple + kFurther)) > kNoLongerFewer * here))
        return multiple;
      highest = std::max(highest, here);
    }
    return highest < kEnoughToTell ? kNotTold : 0;
  }

  /// The fewer the farther. Clocks' ticks, of which readings are whole numbers, are two to three per cent of that wide.
  static double many_near(const std::vector<double>& sorted, double share) {
    constexpr double kNear = 0.012;
    double many = 0;
    for (auto reading = std::lower_bound(sorted.begin(), sorted.end(), (1 - kNear) * share);
         reading != sorted.end() && *reading < (1 + kNear) * share; ++reading)
      many += 1 - std::abs(*reading / share - 1) / kNear;
    return many;
  }
};

/// What a page took about then, whoever touched it: the median of the readings before and behind it, which are in the order of time. A single
/// one tells of who had a part of the core, too.
std::vector<Sample> with_faults_about_then(std::vector<Sample> samples) {
  constexpr std::size_t kEitherSide = 8;
  std::vector<std::size_t> places;
  std::vector<double> took;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].faults == 0) continue;
    places.push_back(i);
    took.push_back(static_cast<double>(samples[i].fault.count()));
  }
  for (std::size_t p = 0; p < places.size(); ++p) {
    const auto first = static_cast<std::ptrdiff_t>(p - std::min(p, kEitherSide));
    const auto last = static_cast<std::ptrdiff_t>(std::min(p + kEitherSide + 1, took.size()));
    samples[places[p]].fault = Duration{std::llround(median({took.begin() + first, took.begin() + last}))};
  }
  return samples;
}

}  // namespace

Result<std::vector<Sample>> samples_of(const events::recording::Properties& properties) {
  constexpr std::int64_t kLongestFaultPs = 1'000'000'000'000'000;
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
    std::int64_t speeds[4] = {}, faults = 0, fault = 0;
    const auto all_faults = [&] { return number(faults, ' ') && number(fault, '\n'); };
    const auto all_speeds = [&] {
      return number(speeds[0], ' ') && number(speeds[1], ' ') && number(speeds[2], ' ') &&
             (number(speeds[3], '\n') || (number(speeds[3], ' ') && all_faults()));
    };
    // Earlier versions end the line behind `rough`.
    const bool read = number(sample.rank.value, ' ') && number(sample.ordinal, ' ') && number(warm, ' ') &&
                      (number(rough, '\n') || (number(rough, ' ') && all_speeds()));
    const auto negative = [](std::int64_t speed) { return speed < 0; };
    if (!read || sample.rank.value < 0 || warm < 0 || rough < 0 || rough > 1 || faults < 0 || fault < 0 ||
        fault > kLongestFaultPs || std::any_of(std::begin(speeds), std::end(speeds), negative) ||
        (warm == 0 && speeds[2] == 0))
      return Error{"what twins measured cannot be read from the recording", "record the program again"};
    sample.warm = Duration{warm};
    sample.rough = rough == 1;
    sample.twins_core = {Duration{speeds[0]}, Duration{speeds[1]}};
    sample.core = {Duration{speeds[2]}, Duration{speeds[3]}};
    sample.faults = faults;
    sample.fault = Duration{fault};
    samples.push_back(sample);
  }
  return samples;
}

Samples::Samples(const std::vector<Sample>& samples) {
  constexpr double kFastest = 0.02;  // quantile: the very least may be an error
  constexpr double kSlowest = 3;  // times as long: the core was taken away meanwhile, whatever its frequency
  std::vector<double> cycles, shares;
  for (const Sample& sample : samples)
    for (const CoreSpeed* core : {&sample.twins_core, &sample.core}) {
      if (core->cycles.count() == 0 || core->loads.count() == 0) continue;
      cycles.push_back(static_cast<double>(core->cycles.count()));
      shares.push_back(share(*core));
    }
  fastest_ = quantile(std::move(cycles), kFastest);
  const OwnShares own{std::move(shares)};
  own_share_ = own.least;
  most_of_own_ = own.most;
  for (Sample sample : with_faults_about_then(samples)) {
    if (sample.warm.count() != 0) ++measured_;
    for (CoreSpeed* core : {&sample.twins_core, &sample.core})
      if (static_cast<double>(core->cycles.count()) > kSlowest * fastest_) *core = {};
    sample.shared = of_core(sample.twins_core) == Core::kShared;
    sample.rough = sample.rough || sample.shared;
    samples_.emplace(stretch_number(sample.rank, sample.ordinal), sample);
    if (ranks_.size() <= sample.rank.index()) ranks_.resize(sample.rank.index() + 1);
    for (const CoreSpeed* core : {&sample.twins_core, &sample.core}) {
      if (core->cycles.count() == 0) continue;
      ++ranks_[sample.rank.index()].all;
      ranks_[sample.rank.index()].shared += of_core(*core) == Core::kShared ? 1U : 0U;
    }
  }
}

Core Samples::of_rank(RankId rank) const {
  constexpr std::size_t kFewest = 8;
  constexpr double kNearly = 0.15;
  if (rank.index() >= ranks_.size() || ranks_[rank.index()].all < kFewest) return Core::kUnknown;
  const auto [shared, all] = ranks_[rank.index()];
  const double part = static_cast<double>(shared) / static_cast<double>(all);
  return part < kNearly ? Core::kOwn : part > 1 - kNearly ? Core::kShared : Core::kUnknown;
}

double Samples::log_shared(const CoreSpeed& core) const {
  return core.cycles.count() == 0 ? 0 : std::max(std::log(share(core) / own_share_), 0.0);
}

Core Samples::of_core(const CoreSpeed& core) const {
  if (core.cycles.count() == 0) return Core::kUnknown;
  return share(core) > most_of_own_ ? Core::kShared : Core::kOwn;
}

template <class Of>
double Samples::mean_of_readings(Of of) const {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [place, sample] : samples_)
    for (const CoreSpeed* core : {&sample.twins_core, &sample.core}) {
      if (core->cycles.count() == 0) continue;
      sum += of(*core);
      ++count;
    }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double Samples::share_shared() const {
  return mean_of_readings(
      [this](const CoreSpeed& core) { return of_core(core) == Core::kShared ? 1.0 : 0.0; });
}

double Samples::at_fastest(double time, const CoreSpeed& core) const {
  const auto cycles = static_cast<double>(core.cycles.count());
  return cycles == 0 ? time : time * std::min(1.0, fastest_ / cycles);
}

/// Half a microsecond, in which a kernel that nothing hinders finds and clears a page. What they took is known from others: a tenth of the
/// time is left in any case.
double Samples::without_faults(double time, const Sample& stretch) {
  constexpr double kOnOnesOwnPs = 5e5, kLeast = 0.1;
  const double more = std::max(static_cast<double>(stretch.fault.count()) - kOnOnesOwnPs, 0.0);
  return std::max(time - more * static_cast<double>(stretch.faults), kLeast * time);
}

double Samples::slower_than_fastest() const {
  return mean_of_readings([this](const CoreSpeed& core) { return 1 / at_fastest(1, core) - 1; });
}

const Sample* Samples::of(RankId rank, std::uint64_t ordinal) const {
  const auto found = samples_.find(stretch_number(rank, ordinal));
  return found == samples_.end() ? nullptr : &found.value();
}

}  // namespace nplus1::hypothesis::clock
