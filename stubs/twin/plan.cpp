#include "stubs/twin/plan.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::stubs::twin {
namespace {

constexpr double kLongestPs = 20e9;  // on average: what caches cost hardly matters to longer stretches
constexpr std::size_t kHistories[] = {8, 3, 1};  // calls
constexpr std::size_t kCallsPerKind = 32;        // between two looks at all kinds
constexpr std::size_t kMostKept = 1U << 14U;     // kinds, and histories; then all is learned anew

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 31U;
  x *= 0x7fb5d329728ea185U;
  x ^= x >> 27U;
  return x;
}

}  // namespace

/// The largest need is the draw.
double Plan::Kind::need() const {
  if (count < 2 || total_ps > kLongestPs * count) return 0;
  return std::sqrt(total_ps * std::sqrt(total_ps)) / (tries + 1) * chance;
}

/// The inverse of an exponential variate; not without limit, since what was told first may not come again for long.
void Plan::draw(std::uint64_t key, Kind& kind) const {
  constexpr double kLeast = 0.01;
  const std::uint64_t random = mixed(mixed(key ^ mixed(who_ + 1)) + kind.tries);
  kind.chance = 1 / std::max(kLeast, -std::log((static_cast<double>(random >> 11U) + 1) * 0x1p-53));
}

void Plan::try_again(std::uint64_t key) {
  Kind& kind = kinds_[key];
  ++kind.tries;
  draw(key, kind);
}

void Plan::told(std::uint64_t site, std::uint64_t size, std::int64_t picoseconds, Outcome outcome,
                double length) {
  if (kinds_.size() > kMostKept || ends_.size() > kMostKept) {
    kinds_.clear();
    ends_.clear();
  }
  if (learns_from(picoseconds) || outcome != Outcome::kNotTried) learn(site, picoseconds, outcome, length);
  ++told_;
  if (told_ - found_at_ > kCallsPerKind * kinds_.size()) find_most_needed();
  std::move_backward(calls_.begin(), calls_.end() - 1, calls_.end());
  calls_.front() = mixed(mixed(site + 1) + size);
}

/// All of the first calls, and then of short stretches, to which it would add a per cent, an eighth: what a program does for so long
/// it mostly goes on with.
bool Plan::learns_from(std::int64_t picoseconds) const {
  constexpr std::uint64_t kFirst = 1U << 14U, kAtATime = 1U << 9U, kOneIn = 8;
  constexpr std::int64_t kShortPs = 20'000'000;
  return told_ < kFirst || picoseconds >= kShortPs || told_ / kAtATime % kOneIn == 0;
}

void Plan::learn(std::uint64_t site, std::int64_t picoseconds, Outcome outcome, double length) {
  const std::uint64_t ended = mixed(calls_.front() ^ mixed(site + 1));
  Kind& kind = kinds_[ended];
  if (kind.chance == 0) draw(ended, kind);
  ++kind.count;
  kind.told = told_;
  kind.total_ps += static_cast<double>(picoseconds);
  kind.longest_ps = std::max(kind.longest_ps, picoseconds);
  if (length > 0) kind.shortest = kind.shortest == 0 ? length : std::min(kind.shortest, length);
  if (outcome != Outcome::kNotTried) {
    try_again(ended);
    if (expected_ != ended) try_again(expected_);
    find_most_needed();
  }
  most_needed_ = std::max(most_needed_, kinds_[ended].need());
  for (const std::size_t calls : kHistories) {
    End& end = ends_[history(calls)];
    end = {ended, end.kind == ended};
  }
}

std::uint64_t Plan::history(std::size_t calls) const {
  std::uint64_t hash = calls;
  for (std::size_t i = 0; i < calls; ++i) hash = mixed(hash + calls_[i]);
  return hash;
}

/// Of what may come again: what has not for half of all calls is over.
void Plan::find_most_needed() {
  most_needed_ = 0;
  for (const auto& [key, kind] : kinds_)
    if (kind.told >= told_ / 2) most_needed_ = std::max(most_needed_, kind.need());
  found_at_ = told_;
}

/// The stretch ends as those did that had the same calls before them: as many calls as were followed by the same twice.
const Plan::Kind* Plan::expect() {
  for (const std::size_t calls : kHistories) {
    const auto end = ends_.find(history(calls));
    if (end == ends_.end() || !end->second.again) continue;
    const auto kind = kinds_.find(end->second.kind);
    if (kind == kinds_.end()) continue;
    expected_ = kind->first;
    return &kind->second;
  }
  return nullptr;
}

bool Plan::is_due() {
  constexpr double kNearly = 0.7;
  const Kind* kind = expect();
  return kind != nullptr && kind->need() > 0 && kind->need() >= kNearly * most_needed_;
}

double Plan::shortest() const {
  const auto kind = kinds_.find(expected_);
  return kind == kinds_.end() ? 0 : kind->second.shortest;
}

std::int64_t Plan::longest_ps() const {
  const auto kind = kinds_.find(expected_);
  return kind == kinds_.end() ? 0 : kind->second.longest_ps;
}

double affordable_at_ns(std::int64_t spent_ns, int ranks, int cores) {
  constexpr double kAtOnceNs = 3e6, kShare = 1 / 60.0, kShareInAdvance = 0.5;
  constexpr double kAdvanceNs = 60e6, kAdvanceOnOwnCoresNs = 250e6, kAdvanceOfAllNs = 500e6;
  const double advance_ns =
      std::min(ranks <= cores ? kAdvanceOnOwnCoresNs : kAdvanceNs, kAdvanceOfAllNs * cores / ranks);
  const double spent = std::max(static_cast<double>(spent_ns) - kAtOnceNs, 0.0);
  if (spent <= advance_ns) return spent / kShareInAdvance;
  const double until_it_is_paid = advance_ns / kShareInAdvance + (spent - advance_ns) / (kShare / 2);
  return std::min(until_it_is_paid, spent / kShare);
}

}  // namespace nplus1::stubs::twin
