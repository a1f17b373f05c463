#include "hypothesis/clock/low_times.hpp"

#include <algorithm>
#include <utility>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kAlike = 1.2;

}  // namespace

LowTimes::LowTimes(const std::vector<OfRank>& ranks) : low_(ranks.size()) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::vector<double> times;
    for (const Recorded& recorded : ranks[r].some) times.push_back(recorded.log_time);
    if (!times.empty()) low_[r].log = static_cast<float>(quantile(std::move(times), kLow));
  }
  take_times();
}

LowTimes::LowTimes(const std::vector<OfRank>& ranks, const Differences& differences,
                   const Replicate& replicate, std::uint64_t chance_of, double log_longer)
    : low_(ranks.size()) {
  const double share = replicate.is_estimate() ? kLow : replicate.chance(chance_of) / 2;
  std::vector<double> low;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::vector<double> times;
    for (const Recorded& recorded : ranks[r].some)
      times.push_back(static_cast<double>(recorded.log_time) - differences.of_step(recorded.step));
    if (times.empty()) continue;
    low_[r].log = static_cast<float>(quantile(std::move(times), share));
    low.push_back(low_[r].log);
  }
  if (!low.empty())
    forgive_once(ranks, quantile(std::move(low), kLow),
                 replicate.is_estimate() ? 1 : replicate.chance(~chance_of));
  for (std::size_t r = 0; r < ranks.size(); ++r)
    low_[r].log -= static_cast<float>(ranks[r].in_shortest_of_few(log_longer));
  take_times();
}

void LowTimes::take_times() {
  for (Low& low : low_) low.time = std::exp(static_cast<double>(low.log));
}

/// What a rank that does something only once takes more than others is the host's: all of it where ranks do the same, as far
/// as can be seen; else all but a quarter and what exceeds a millisecond. Where somebody else had a part of the core at its end,
/// it took longer by about as much as loads did, if other ranks say so; else for the part that he may have been there. `chance`: how much of that is taken off, 1 all of it.
void LowTimes::forgive_once(const std::vector<OfRank>& ranks, double typical, double chance) {
  constexpr double kInProportion = 1.25, kMostOfTheHostPs = 1e9;
  constexpr double kNearly = 0.05;
  const auto once = [&](std::size_t r) { return ranks[r].count == 1; };
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (once(r) && ranks[r].log_shared > 0 && log_of(r) > typical) {
      const double unshared = log_of(r) - static_cast<double>(ranks[r].log_shared);
      low_[r].log = unshared < typical + kNearly ? static_cast<float>(typical)
                                                 : low_[r].log - ranks[r].part_shared * ranks[r].log_shared;
    }
  const bool alike = are_alike(ranks, typical);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (!once(r)) continue;
    const double longer = log_of(r) - typical;
    if (alike && longer > 0 && longer < std::log(kAlike)) {
      low_[r].log = static_cast<float>(typical + (1 - chance) * longer);
      continue;
    }
    const double usual = kInProportion * std::exp(typical);
    const double more = std::exp(log_of(r)) - usual;
    if (more > 0)
      low_[r].log = static_cast<float>(std::log(usual + std::max(more - kMostOfTheHostPs * chance, 0.0)));
  }
}

/// Whether what each rank does once is the same on nine ranks of ten: a stretch that is not repeated takes a fifth more
/// now and then on a host that is shared.
bool LowTimes::are_alike(const std::vector<OfRank>& ranks, double typical) const {
  constexpr std::size_t kFewestRanks = 4;
  std::vector<double> once;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r].count == 1) once.push_back(log_of(r));
  return once.size() >= kFewestRanks && quantile(std::move(once), 0.9) - typical < std::log(kAlike);
}

std::optional<double> LowTimes::typical(const std::vector<OfRank>& ranks) const {
  std::vector<double> low;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r].is_repeated()) low.push_back(log_of(r));
  return low.empty() ? std::nullopt : std::optional{quantile(std::move(low), 0.5)};
}

void LowTimes::shorten(const std::vector<OfRank>& ranks, double by) {
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r].is_repeated()) low_[r].log += static_cast<float>(by);
  take_times();
}

}  // namespace nplus1::hypothesis::clock
