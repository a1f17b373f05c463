#include "hypothesis/clock/groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kFewestOfGroup = 4;

/// Whether others had a part of the cores in as many cases, or sharing has not made what is longer.
bool shared_alike(std::span<const Recorded> shorter, std::span<const Recorded> longer) {
  constexpr double kAlike = 0.3, kThird = 1.0 / 3;
  const auto share_of = [](std::span<const Recorded> some) {
    double shared = 0, read = 0;
    for (const Recorded& r : some) {
      if (r.core == Core::kUnknown) continue;
      ++read;
      shared += r.core == Core::kShared ? 1 : 0;
    }
    return read < static_cast<double>(kFewestOfGroup) ? NAN : shared / read;
  };
  const double of_shorter = share_of(shorter), of_longer = share_of(longer);
  if (std::isnan(of_longer)) return true;
  return std::isnan(of_shorter) ? of_longer <= 1 - kThird : of_longer <= of_shorter + kAlike;
}

double log_time(const Recorded& r) {
  return static_cast<double>(r.log_time);
}

}  // namespace

Groups::Groups(const std::vector<OfRank>& ranks) {
  constexpr double kApart = 0.1, kFarApartPs = 100e6;
  constexpr std::size_t kEachSide = 7;
  for (const OfRank& rank : ranks) {
    auto& [groups, far_apart] = ranks_.emplace_back();
    if (!rank.is_repeated()) continue;
    std::vector<Recorded> sorted = rank.some;
    std::sort(sorted.begin(), sorted.end(),
              [](const Recorded& a, const Recorded& b) { return a.log_time < b.log_time; });
    const std::span<const Recorded> all{sorted};
    std::size_t first = 0;
    const auto end_at = [&](std::size_t last, double end) {
      groups.push_back({end, log_time(all[first + (last - first) / 2])});
      first = last;
    };
    for (std::size_t i = kFewestOfGroup; i + kFewestOfGroup <= all.size(); ++i)
      if (i - first >= kFewestOfGroup && log_time(all[i]) - log_time(all[i - 1]) > kApart &&
          shared_alike(all.subspan(first, i - first), all.subspan(i))) {
        far_apart |= std::exp(log_time(all[i])) - std::exp(log_time(all[i - 1])) > kFarApartPs &&
                     kEachSide * std::min(i, all.size() - i) >= all.size();
        end_at(i, (log_time(all[i]) + log_time(all[i - 1])) / 2);
      }
    end_at(all.size(), INFINITY);
  }
}

double Groups::longer(const Recorded& recorded) const {
  if (recorded.rank < ranks_.size())
    for (const Group& group : ranks_[recorded.rank].groups)
      if (log_time(recorded) < group.end) return log_time(recorded) - group.median;
  return NAN;
}

bool Groups::are_several() const {
  std::size_t repeated = 0, apart = 0;
  for (const Rank& rank : ranks_) {
    repeated += rank.groups.empty() ? 0U : 1U;
    apart += rank.far_apart ? 1U : 0U;
  }
  return repeated != 0 && 4 * apart >= 3 * repeated;
}

}  // namespace nplus1::hypothesis::clock
