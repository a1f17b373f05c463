#include "hypothesis/clock/differences.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kFewestOfRank = 4;     // stretches, to have quartiles
constexpr std::size_t kFewestOfStep = 2;     // each on another rank: their range says what noise does
constexpr std::uint32_t kMostPlaces = 4096;  // steps from this one on are not told apart
constexpr double kSpan = 0.1;                // between groups, at least
constexpr double kTimesTheNoise = 2;
constexpr double kSpanToBeBorneOut = 0.025;
constexpr double kQuartileError = 1.36;  // of a quartile of n normal values, times sigma / sqrt(n)
constexpr double kSigmaOfRange = 1.349;  // range of the middle half of a normal distribution
constexpr double kSigmaOfFew[] = {0, 0, 1.128, 1.693};  // range of two and of three normal values

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Each group's lower quartile (of two or three members the least), if it has so many members, against the median group's;
/// empty if noise explains them, or they are nearly the same.
std::vector<double> told_apart(std::vector<std::vector<double>>& groups, std::size_t fewest,
                               bool to_be_borne_out) {
  std::vector<double> low, known, sigmas;
  double counts = 0;
  bool few = false;
  for (auto& group : groups) {
    low.push_back(NAN);
    if (group.size() < fewest) continue;
    std::sort(group.begin(), group.end());
    const bool has_quartiles = group.size() >= kFewestOfRank;
    low.back() = has_quartiles ? sorted_at(group, 0.25) : group.front();
    known.push_back(low.back());
    sigmas.push_back(has_quartiles ? (sorted_at(group, 0.75) - low.back()) / kSigmaOfRange
                                   : (group.back() - group.front()) / kSigmaOfFew[group.size()]);
    few |= !has_quartiles;
    counts += static_cast<double>(group.size());
  }
  if (known.size() < 2) return {};
  const double centre = median(known);
  const auto groups_known = static_cast<double>(known.size());
  // Of few, each range says little, and most are of two undisturbed ones.
  const double sigma = few ? mean(sigmas) : median(sigmas);
  const double error = kQuartileError * sigma / std::sqrt(counts / groups_known);
  double square = 0;
  for (const double k : known) square += (k - centre) * (k - centre) / groups_known;
  const auto [least, most] = std::minmax_element(known.begin(), known.end());
  const double span = to_be_borne_out ? kSpanToBeBorneOut : kSpan;
  double times_the_noise = kTimesTheNoise;
  if (few)
    times_the_noise = 1 + 4 / std::sqrt(groups_known);
  else if (to_be_borne_out)
    times_the_noise = 1 + 2.4 / std::sqrt(groups_known);
  if (*most - *least < span || std::sqrt(square) < times_the_noise * error) return {};
  const double programs =
      to_be_borne_out ? 1 - error * error / square : 1;  // share of the scatter that is no noise
  for (double& l : low) l = std::isnan(l) ? 0 : programs * (l - centre);
  return low;
}

/// Whether a host that adds so much may have made these differences, in which eight of ten lie within that.
bool host_makes(const std::vector<double>& differences, double host_adds) {
  constexpr double kAtMost = 3;  // times as much in any
  if (differences.empty()) return false;
  const auto [least, most] = std::minmax_element(differences.begin(), differences.end());
  return quantile(differences, 0.9) - quantile(differences, 0.1) < host_adds &&
         *most - *least < kAtMost * host_adds;
}

}  // namespace

std::vector<Recorded> with_those_of(const std::vector<Measured>& measured, std::vector<Recorded> stretches) {
  for (const Measured& m : measured) stretches.push_back(m.recorded);
  return stretches;
}

Differences::Differences(const std::vector<Recorded>& stretches, Between between, double host_adds) {
  // Steps again when ranks are known, and the other way round.
  for (int round = 0; round < 2; ++round) {
    std::vector<std::vector<double>> ranks, steps;
    const auto add = [](std::vector<std::vector<double>>& groups, std::uint32_t place, double value) {
      if (place >= groups.size()) groups.resize(place + 1);
      groups[place].push_back(value);
    };
    for (const Recorded& s : stretches) add(ranks, s.rank, static_cast<double>(s.log_time) - of_step(s.step));
    rank_ = told_apart(ranks, kFewestOfRank, between == Between::kRanksToBeBorneOut);
    for (const Recorded& s : stretches)
      if (s.step < kMostPlaces) add(steps, s.step, static_cast<double>(s.log_time) - of_rank(s.rank));
    step_ = told_apart(steps, kFewestOfStep, false);
    if (host_makes(step_, host_adds)) step_.clear();
  }
}

}  // namespace nplus1::hypothesis::clock
