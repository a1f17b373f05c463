#include "hypothesis/clock/differences.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kFewestOfOne = 4;      // stretches of a rank or step
constexpr std::uint32_t kMostPlaces = 4096;  // steps from this one on are not told apart
constexpr double kSpan = 0.1;                // between groups, at least
constexpr double kTimesTheNoise = 2;
constexpr double kQuartileError = 1.36;  // of a quartile of n normal values, times sigma / sqrt(n)
constexpr double kSigmaOfRange = 1.349;  // range of the middle half of a normal distribution

double sorted_at(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return sorted_at(values, 0.5);
}

/// Each group's lower quartile against the median group's; empty if noise explains them.
std::vector<double> told_apart(std::vector<std::vector<double>>& groups) {
  std::vector<double> low, known, sigmas;
  double counts = 0;
  for (auto& group : groups) {
    low.push_back(NAN);
    if (group.size() < kFewestOfOne) continue;
    std::sort(group.begin(), group.end());
    low.back() = sorted_at(group, 0.25);
    known.push_back(low.back());
    sigmas.push_back((sorted_at(group, 0.75) - low.back()) / kSigmaOfRange);
    counts += static_cast<double>(group.size());
  }
  if (known.size() < 2) return {};
  const double centre = median(known);
  const auto groups_known = static_cast<double>(known.size());
  const double error = kQuartileError * median(sigmas) / std::sqrt(counts / groups_known);
  double square = 0;
  for (const double k : known) square += (k - centre) * (k - centre) / groups_known;
  const auto [least, most] = std::minmax_element(known.begin(), known.end());
  if (*most - *least < kSpan || std::sqrt(square) < kTimesTheNoise * error) return {};
  for (double& l : low) l = std::isnan(l) ? 0 : l - centre;
  return low;
}

}  // namespace

void Differences::leave_steps_from(std::uint32_t first) {
  step_.resize(std::min<std::size_t>(step_.size(), first));
  if (std::all_of(step_.begin(), step_.end(), [](double of) { return of == 0; })) step_.clear();
}

Differences::Differences(const std::vector<Recorded>& stretches) {
  // Steps again when ranks are known, and the other way round.
  for (int round = 0; round < 2; ++round) {
    std::vector<std::vector<double>> ranks, steps;
    const auto add = [](std::vector<std::vector<double>>& groups, std::uint32_t place, double value) {
      if (place >= groups.size()) groups.resize(place + 1);
      groups[place].push_back(value);
    };
    for (const Recorded& s : stretches) add(ranks, s.rank, static_cast<double>(s.log_time) - of_step(s.step));
    rank_ = told_apart(ranks);
    for (const Recorded& s : stretches)
      if (s.step < kMostPlaces) add(steps, s.step, static_cast<double>(s.log_time) - of_rank(s.rank));
    step_ = told_apart(steps);
  }
}

}  // namespace nplus1::hypothesis::clock
