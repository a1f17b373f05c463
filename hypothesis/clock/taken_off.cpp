#include "hypothesis/clock/taken_off.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// So rounded that what is taken off and put back is what was there.
float exactly(double log) {
  constexpr double kParts = 4096;
  return static_cast<float>(std::round(log * kParts) / kParts);
}

void add_left(float log, std::vector<Measured>& measured) {
  for (Measured& m : measured) m.recorded.log_time += log;
}

void add_sharing(float times, std::vector<Measured>& measured, std::vector<OfRank>& ranks) {
  for (OfRank& rank : ranks)
    for (Recorded& r : rank.some)
      if (r.core == Core::kShared) r.log_time += times * rank.log_shared_recorded;
  for (Measured& m : measured)
    if (m.recorded.core == Core::kShared)
      m.recorded.log_time += times * ranks[m.recorded.rank].log_shared_recorded;
}

}  // namespace

void TakenOff::take_left_by_twins(const LeftByTwins& left, double log_time, std::vector<Measured>& measured,
                                  const std::vector<OfRank>& ranks) {
  std::vector<double> longer;
  for (const Measured& m : measured) longer.push_back(static_cast<double>(m.recorded.log_time) - m.log_warm);
  const double most = std::max(quantile(std::move(longer), kLow), 0.0);
  log_left_ = exactly(std::min(left.at(log_time, LeftByTwins::of(measured, ranks)), most));
  add_left(-log_left_, measured);
}

void TakenOff::take_sharing(const OwnAndShared& both, double log_shared, std::vector<Measured>& measured,
                            std::vector<OfRank>& ranks) {
  constexpr std::size_t kEnough = 32, kPart = 3;
  constexpr double kHardlyAny = 0.3;  // own ones: of fewer the lower quartile is a shared one
  if (both.recorded_own.size() < std::min(kEnough, both.recorded_shared.size() / kPart + 1)) return;
  for (OfRank& rank : ranks) {
    const auto own = std::count_if(rank.some.begin(), rank.some.end(),
                                   [](const Recorded& r) { return r.core == Core::kOwn; });
    if (static_cast<double>(own) >= kHardlyAny * static_cast<double>(rank.some.size())) continue;
    rank.log_shared_recorded = exactly(log_shared);
  }
  add_sharing(-1, measured, ranks);
}

void TakenOff::put_back(std::vector<Measured>& measured, std::vector<OfRank>& ranks) {
  add_sharing(1, measured, ranks);
  for (OfRank& rank : ranks) rank.log_shared_recorded = 0;
  add_left(log_left_, measured);
  log_left_ = 0;
}

}  // namespace nplus1::hypothesis::clock
