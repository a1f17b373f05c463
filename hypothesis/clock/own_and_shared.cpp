#include "hypothesis/clock/own_and_shared.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "hypothesis/clock/groups.hpp"
#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {

namespace {

std::vector<Measured> those(const std::vector<Measured>& samples, bool shared) {
  std::vector<Measured> some;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(some),
               [shared](const Measured& m) { return m.shared == shared; });
  return some;
}

/// Kinds that are so long that nearly all of them have a reading of their core; of others the longer ones have.
bool have_readings(const std::vector<OfRank>& ranks) {
  constexpr double kNearlyAll = 0.8;
  std::size_t all = 0, read = 0;
  for (const OfRank& rank : ranks) {
    if (!rank.is_repeated()) continue;
    all += rank.some.size();
    read += static_cast<std::size_t>(std::count_if(
        rank.some.begin(), rank.some.end(), [](const Recorded& r) { return r.core != Core::kUnknown; }));
  }
  return read != 0 && static_cast<double>(read) >= kNearlyAll * static_cast<double>(all);
}

/// A tenth at least on own cores, and on shared ones. Of others all are shared all the time, or hardly any, and none tells what that makes.
bool has_either(const OfRank& rank) {
  constexpr std::ptrdiff_t kTenth = 10;
  const auto of = [&](Core core) {
    return std::count_if(rank.some.begin(), rank.some.end(),
                         [core](const Recorded& r) { return r.core == core; });
  };
  const auto own = of(Core::kOwn), shared = of(Core::kShared);
  return kTenth * std::min(own, shared) >= own + shared && own + shared > 0;
}

/// Each against the others of its rank that do as much work.
void add_recorded(OwnAndShared& both, const std::vector<OfRank>& ranks) {
  if (!have_readings(ranks)) return;
  const Groups groups{ranks};
  for (const OfRank& rank : ranks) {
    if (!rank.is_repeated()) continue;
    std::vector<double> own, shared;
    for (const Recorded& r : rank.some)
      if (r.core != Core::kUnknown) (r.core == Core::kOwn ? own : shared).push_back(groups.longer(r));
    const auto add = [](std::vector<double>& all, const std::vector<double>& some) {
      all.insert(all.end(), some.begin(), some.end());
    };
    add(both.recorded_own, own);
    add(both.recorded_shared, shared);
    if (!has_either(rank)) continue;
    add(both.of_either_own, own);
    add(both.of_either_shared, shared);
    for (const Recorded& r : rank.some)
      if (r.core != Core::kUnknown && r.began == r.core)
        (r.core == Core::kOwn ? both.all_own : both.all_shared).push_back(groups.longer(r));
  }
}

}  // namespace

std::vector<Measured> on_own_cores(const std::vector<Measured>& samples) {
  return those(samples, false);
}

std::vector<OfRank> on_own_cores(const std::vector<OfRank>& ranks) {
  constexpr std::size_t kMany = 32;
  if (!have_readings(ranks)) return {};
  std::vector<OfRank> own = ranks;
  std::size_t many = 0;
  for (OfRank& rank : own) {
    rank.some = rank.of_this_run();
    std::erase_if(rank.some, [](const Recorded& r) { return r.core != Core::kOwn; });
    rank.count = rank.some.size();
    if (rank.is_repeated()) many += rank.some.size();
  }
  if (many < kMany) own.clear();
  return own;
}

std::vector<double> logarithms(const std::vector<Measured>& samples) {
  std::vector<double> logarithms;
  for (const Measured& m : samples) logarithms.push_back(m.log_warm);
  return logarithms;
}

/// One or two, or one in ten, that took longer on cores of their own than the others did on shared ones had something else wrong with
/// them; or a stranger whom the readings before and behind them missed.
OwnAndShared own_and_shared(const std::vector<Measured>& samples, const std::vector<OfRank>& ranks,
                            double mean_ps) {
  constexpr std::size_t kFew = 2, kOneIn = 10;
  OwnAndShared both;
  both.own = logarithms(those(samples, false));
  both.shared = logarithms(those(samples, true));
  both.log_time = std::log(std::max(mean_ps, 1.0));
  const bool hardly_any = both.own.size() <= std::max(kFew, both.shared.size() / kOneIn);
  if (hardly_any && both.shared.size() >= kFew * both.own.size() && median(both.own) > median(both.shared))
    both.own.clear();
  for (const Measured& m : samples)
    if (m.recorded.core != Core::kUnknown && m.recorded.rank < ranks.size() &&
        has_either(ranks[m.recorded.rank]))
      both.against_recorded.push_back({m.log_warm - static_cast<double>(m.recorded.log_time), m.shared,
                                       m.recorded.core == Core::kShared});
  add_recorded(both, ranks);
  return both;
}

}  // namespace nplus1::hypothesis::clock
