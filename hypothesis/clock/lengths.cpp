#include "hypothesis/clock/lengths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kOctavesLonger = 3;  // than the median: no cold cache makes as much
constexpr std::size_t kShortest = 13;      // 8 us

std::size_t octave_of(double picoseconds) {
  const double nanoseconds = picoseconds / 1e3;
  if (nanoseconds < 2) return 0;
  return std::min<std::size_t>(Lengths::kOctaves - 1, static_cast<std::size_t>(std::ilogb(nanoseconds)));
}

double begin_of(std::size_t octave) {
  return std::ldexp(1e3, static_cast<int>(octave));
}

/// How often a host makes stretches as long that are far shorter: a quarter of all such stretches are of kinds that have no more.
double share_by_host(const std::map<Kind, Lengths>& kinds, std::size_t octave) {
  constexpr double kOfAll = 0.25;
  std::vector<std::pair<double, double>> shares;  // and how many stretches
  double all = 0;
  for (const auto& [kind, lengths] : kinds) {
    if (lengths.median() + kOctavesLonger > octave) continue;
    shares.emplace_back(lengths.share_from(octave), static_cast<double>(lengths.count()));
    all += shares.back().second;
  }
  std::sort(shares.begin(), shares.end());
  double below = 0;
  for (const auto& [share, count] : shares)
    if ((below += count) >= kOfAll * all) return share;
  return 0;
}

/// More often than a host makes them. The most that was met with, 64 ranks on two cores: of 0.65 us in the median one in a hundred took 25.
bool are_of_program(const std::map<Kind, Lengths>& kinds, const Lengths& lengths, std::size_t octave) {
  constexpr double kMoreThanOthers = 4, kTwiceTheMost = 0.02 * 25e6;  // picoseconds
  const double share = lengths.share_from(octave);
  return share > kTwiceTheMost / begin_of(octave) ||
         (share > kMoreThanOthers * share_by_host(kinds, octave) && lengths.are_regular_from(octave));
}

/// Below an octave lie more, and above it, by so much as it has itself; 0: it is the deepest of valleys.
double height_in_valley(const Lengths& lengths, std::size_t octave) {
  std::uint64_t below = 0, above = 0;
  for (std::size_t o = 0; o < octave; ++o) below = std::max(below, lengths.in(o));
  for (std::size_t o = octave + 1; o < Lengths::kOctaves; ++o) above = std::max(above, lengths.in(o));
  const auto lower_peak = static_cast<double>(std::min(below, above));
  return lower_peak == 0 ? 1 : static_cast<double>(lengths.in(octave)) / lower_peak;
}

}  // namespace

void Lengths::take(RankId rank, double picoseconds) {
  const std::size_t octave = octave_of(picoseconds);
  ++counts_[octave];
  ++count_;
  if (by_rank_.size() <= rank.index()) by_rank_.resize(rank.index() + 1);
  const std::uint32_t number = by_rank_[rank.index()]++;
  if (octave < kShortest || many_long_) return;
  many_long_ = long_.size() == kMostPlaces;
  if (many_long_)
    long_ = {};
  else
    long_.push_back({static_cast<std::uint32_t>(rank.value), number, static_cast<std::uint8_t>(octave)});
}

std::size_t Lengths::ranks() const {
  return by_rank_.size() - static_cast<std::size_t>(std::count(by_rank_.begin(), by_rank_.end(), 0U));
}

bool Lengths::are_regular_from(std::size_t octave) const {
  if (many_long_) return true;
  std::map<std::uint32_t, std::uint32_t> last;  // number, by rank
  std::map<std::uint32_t, std::size_t> often;   // by distance
  std::size_t all = 0;
  for (const Place& place : long_) {
    if (place.octave < octave) continue;
    const auto [before, is_first] = last.try_emplace(place.rank, place.number);
    if (is_first) continue;
    ++often[place.number - std::exchange(before->second, place.number)];
    ++all;
  }
  return std::any_of(often.begin(), often.end(), [&](const auto& each) { return 2 * each.second > all; });
}

std::size_t Lengths::median() const {
  std::uint64_t below = 0;
  std::size_t octave = 0;
  while (octave + 1 < kOctaves && (below += counts_[octave]) * 2 < count_) ++octave;
  return octave;
}

double Lengths::share_from(std::size_t octave) const {
  const std::uint64_t above =
      std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(octave), counts_.end(), std::uint64_t{0});
  return count_ == 0 ? 0 : static_cast<double>(above) / static_cast<double>(count_);
}

std::map<Kind, double> longer_ones(const std::map<Kind, Lengths>& kinds) {
  constexpr double kDeep = 0.2;
  constexpr double kFewestOfRank = 4;  // what happens once is no kind of its own
  std::map<Kind, double> found;
  for (const auto& [kind, lengths] : kinds) {
    const double fewest =
        kFewestOfRank * static_cast<double>(lengths.ranks()) / static_cast<double>(lengths.count());
    double height = kDeep;
    for (std::size_t begin = std::max(lengths.median() + kOctavesLonger, kShortest);
         begin < Lengths::kOctaves; ++begin) {
      const double share = lengths.share_from(begin);
      if (share < fewest) break;
      const double here = height_in_valley(lengths, begin - 1);
      if (here >= height || !are_of_program(kinds, lengths, begin)) continue;
      height = here;
      found[kind] = begin_of(begin);
    }
  }
  return found;
}

}  // namespace nplus1::hypothesis::clock
