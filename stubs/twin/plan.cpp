#include "stubs/twin/plan.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::stubs::twin {
namespace {

constexpr double kLongestPs = 20e9;  // on average: what caches cost hardly matters to longer stretches
constexpr std::size_t kHistories[] = {8, 3, 1};  // calls
constexpr std::size_t kCallsPerKind = 32;        // between two looks at all kinds
constexpr std::size_t kKindsPerCall = 8;      // to be looked at, at most, where a new one may be worth more
constexpr std::size_t kMostKept = 1U << 14U;  // kinds, and histories; then all is learned anew

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 31U;
  x *= 0x7fb5d329728ea185U;
  x ^= x >> 27U;
  return x;
}

}  // namespace

double Plan::Kind::need() const {
  if (count < 2 || total_ps > kLongestPs * count) return 0;
  return std::sqrt(total_ps * std::sqrt(total_ps)) / (tries + 1);
}

/// In [0, 1): evenly spread over ranks, and over the draws of each (multiples of the golden and of the plastic number).
double Plan::lot() const {
  constexpr double kOfRank = 0.6180339887498949, kOfDraw = 0.7548776662466927;
  const double sum = kOfRank * static_cast<double>(who_) + kOfDraw * static_cast<double>(draws_);
  return sum - std::floor(sum);
}

void Plan::told(std::uint64_t site, std::uint64_t size, std::int64_t picoseconds, Outcome outcome,
                double length) {
  if (kinds_.size() > kMostKept || ends_.size() > kMostKept) {
    kinds_.clear();
    ends_.clear();
    drawn_ = 0;
    drawn_need_ = 0;
  }
  if (learns_from(picoseconds) || outcome != Outcome::kNotTried) learn(site, picoseconds, outcome, length);
  ++told_;
  if (told_ - drawn_at_ > std::min<std::uint64_t>(kCallsPerKind * kinds_.size(), told_ / 4)) draw();
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
  ++kind.count;
  kind.told = told_;
  kind.total_ps += static_cast<double>(picoseconds);
  kind.longest_ps = std::max(kind.longest_ps, picoseconds);
  if (length > 0) kind.shortest = kind.shortest == 0 ? length : std::min(kind.shortest, length);
  if (outcome != Outcome::kNotTried) {
    ++kind.tries;
    if (expected_ != ended) ++kinds_[expected_].tries;
    draw_another();
  } else if ((kind.count & (kind.count - 1)) == 0 && kind.need() > drawn_need_ &&
             told_ - drawn_at_ > kinds_.size() / kKindsPerCall) {
    draw();  // there is more of it than of what was drawn
  }
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

void Plan::draw_another() {
  ++draws_;
  asked_since_ = 0;
  draw();
}

/// Of what may come again: what has not for half of all calls is over. In the order of kinds that all ranks have in common: so the
/// lots of all, which are evenly spread, leave out no kind whose share of the needs is worth a sample (systematic sampling).
void Plan::draw() {
  double left = 0;
  needs_.clear();
  for (const auto& [key, kind] : kinds_)
    if (const double need = kind.need(); need > 0 && kind.told >= told_ / 2) {
      needs_.emplace_back(key, need);
      left += need;
    }
  std::sort(needs_.begin(), needs_.end());
  left *= lot();
  drawn_ = 0;
  drawn_need_ = 0;
  for (const auto& [key, need] : needs_) {
    drawn_ = key;
    drawn_need_ = need;
    if ((left -= need) < 0) break;
  }
  drawn_at_ = told_;
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

/// What is never foreseen is waited for in vain.
bool Plan::is_due() {
  const std::uint64_t patience = std::max(kCallsPerKind * kinds_.size(), told_ / 4);
  if (++asked_since_ > patience) draw_another();
  const Kind* kind = expect();
  return kind != nullptr && expected_ == drawn_;
}

double Plan::shortest() const {
  const auto kind = kinds_.find(expected_);
  return kind == kinds_.end() ? 0 : kind->second.shortest;
}

std::int64_t Plan::longest_ps() const {
  const auto kind = kinds_.find(expected_);
  return kind == kinds_.end() ? 0 : kind->second.longest_ps;
}

double Plan::mean_ps() const {
  const auto kind = kinds_.find(expected_);
  return kind == kinds_.end() || kind->second.count == 0 ? 0 : kind->second.total_ps / kind->second.count;
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
