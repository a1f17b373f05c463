#include "hypothesis/transform/compute.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>

#include "events/limits.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Names = events::DefinitionsCollector;

std::string no_computing_for(const Step& step) {
  return step.where + ": '" + step.text() + "' is about no computing in the recording";
}

std::string listed(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (const std::size_t rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

class Scale final : public ComputeTransform {
 public:
  Scale(const IntervalSelector& selector, std::string nothing, double factor)
      : ComputeTransform{selector, std::move(nothing)}, factor_{factor} {}

 private:
  [[nodiscard]] double length(const Place&, double old_length) const override { return old_length * factor_; }
  double factor_;
};

/// A random number that depends on seed, rank and interval alone: the same in every process, in any order.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t rank, std::uint64_t interval) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15U + rank * 0xbf58476d1ce4e5b9U + interval;
  for (int round = 0; round < 2; ++round) {  // splitmix64
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
  }
  return x;
}

class Noise final : public ComputeTransform {
 public:
  Noise(const IntervalSelector& selector, std::string nothing, double amount, std::uint64_t seed, bool normal)
      : ComputeTransform{selector, std::move(nothing)}, amount_{amount}, seed_{seed}, normal_{normal} {}

 private:
  /// Standard deviation `amount` of the length; never less than 0.
  [[nodiscard]] double length(const Place& place, double old_length) const override {
    const std::uint64_t bits = mixed(seed_, place.rank.index(), place.interval);
    const double u = (static_cast<double>(bits >> 32U) + 0.5) * 0x1p-32;
    const double v = (static_cast<double>(bits & 0xffffffffU) + 0.5) * 0x1p-32;
    const double z = normal_ ? std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v)
                             : (2 * u - 1) * std::numbers::sqrt3;
    return old_length * std::max(0.0, 1 + amount_ * z);
  }
  double amount_;
  std::uint64_t seed_;
  bool normal_;
};

class Balance final : public ComputeTransform {
 public:
  Balance(const IntervalSelector& selector, const Step& step, std::vector<double> weights, bool per_interval)
      : ComputeTransform{selector, no_computing_for(step), per_interval},
        where_{step.where},
        weights_{std::move(weights)},
        per_interval_{per_interval} {}

 private:
  [[nodiscard]] double weight(std::size_t rank) const { return weights_.empty() ? 1 : weights_[rank]; }

  [[nodiscard]] Result<Done> prepare(const ComputeSurvey& seen) override {
    if (!weights_.empty() && weights_.size() < seen.ranks.size())
      return Error{where_ + ": weights are given for " + std::to_string(weights_.size()) + " of " +
                       std::to_string(seen.ranks.size()) + " ranks",
                   "give one for each rank, with colons between: 1:1:2:1"};
    std::vector<std::size_t> ranks;
    for (std::size_t r = 0; r < seen.ranks.size(); ++r)
      if (takes_part(seen.ranks[r])) ranks.push_back(r);
    if (!share_out(ranks)) return Error{where_ + ": all weights are 0", "give a rank a weight above 0"};
    if (per_interval_) return share_intervals(seen);
    factor_.assign(seen.ranks.size(), 1);
    for (const std::size_t r : ranks) factor_[r] = share_[0][r] * seen.total / seen.ranks[r].compute;
    return Done{};
  }

  /// Among the ranks of one more group; false: their weights are 0.
  bool share_out(const std::vector<std::size_t>& ranks) {
    double sum = 0;
    for (const std::size_t r : ranks) sum += weight(r);
    auto& share = share_.emplace_back(ranks.empty() ? 0 : ranks.back() + 1);
    if (sum <= 0) return false;
    for (const std::size_t r : ranks) share[r] = weight(r) / sum;
    return true;
  }

  [[nodiscard]] bool takes_part(const ComputeSurvey::Rank& rank) const {
    return per_interval_ ? rank.intervals > 0 : rank.compute > 0;
  }

  /// By the calls that end them, where all ranks make as many there: some compute nothing at all now and then, by their clock.
  /// Else one by one, or by their places, if ranks are at most of them equally often.
  [[nodiscard]] Result<Done> share_intervals(const ComputeSurvey& seen) {
    const auto other = [&](std::size_t ComputeSurvey::Rank::*count, std::size_t most) {
      return std::find_if(seen.ranks.begin(), seen.ranks.end(), [&](const ComputeSurvey::Rank& rank) {
        return takes_part(rank) && rank.*count != most;
      });
    };
    counts_calls_ = other(&ComputeSurvey::Rank::calls, seen.by_call.size()) == seen.ranks.end();
    by_interval_ = {counts_calls_ ? seen.by_call : seen.by_interval};
    const auto rank = other(&ComputeSurvey::Rank::intervals, seen.by_interval.size());
    if (counts_calls_ || rank == seen.ranks.end()) return Done{};
    const auto shared = share_by_places(seen);
    if (!shared) return shared.error();
    if (shared.value()) return Done{};
    return Error{where_ + ": rank " + std::to_string(rank - seen.ranks.begin()) + " computes there " +
                     std::to_string(rank->intervals) + " times, another one " +
                     std::to_string(seen.by_interval.size()) + " times",
                 "balance over the run: leave out per=interval"};
  }

  /// Whether most of the computing has counterparts.
  [[nodiscard]] Result<bool> share_by_places(const ComputeSurvey& seen) {
    constexpr double kMost = 0.75;
    counterparts_.emplace(seen.each, seen.kinds);
    share_.clear();
    by_interval_.clear();
    double shared = 0;
    for (const Counterparts::Group& group : counterparts_->groups()) {
      if (!share_out(group.ranks))
        return Error{where_ + ": all ranks that compute at one place have weights of 0",
                     "give one of the ranks " + listed(group.ranks) + " a weight above 0"};
      by_interval_.push_back(group.sums);
      shared += std::accumulate(group.sums.begin(), group.sums.end(), 0.0);
    }
    return shared > kMost * seen.total;
  }

  [[nodiscard]] std::optional<std::size_t> group(RankId rank, const IntervalKind& kind,
                                                 double old_length) const override {
    if (counts_calls_) return 0;
    if (old_length <= 0) return std::nullopt;
    return counterparts_ ? counterparts_->group(rank, kind) : 0;
  }

  [[nodiscard]] double length(const Place& place, double old_length) const override {
    return per_interval_ ? by_interval_[place.group][place.interval] * share_[place.group][place.rank.index()]
                         : old_length * factor_[place.rank.index()];
  }

  std::string where_;
  std::vector<double> weights_;
  bool per_interval_, counts_calls_ = false;
  std::optional<Counterparts> counterparts_;              // nothing: all intervals are one group
  std::vector<std::vector<double>> by_interval_, share_;  // by group: sums; by rank
  std::vector<double> factor_;                            // by rank
};

Result<std::vector<double>> weights_of(const Step& step) {
  std::vector<double> weights;
  const std::string* text = step.find("weights");
  if (text == nullptr) return weights;
  for (std::size_t at = 0; at <= text->size();) {
    const std::size_t end = std::min(text->find(':', at), text->size());
    double weight = -1;
    const auto read = std::from_chars(text->data() + at, text->data() + end, weight);
    if (read.ptr != text->data() + end || !std::isfinite(weight) || weight < 0)
      return bad_setting(step, "weights", "a number for each rank, with colons between: 1:1:2:1");
    weights.push_back(weight);
    at = end + 1;
  }
  return weights;
}

}  // namespace

void ComputeSurvey::on_event(const events::TimedEvent& timed) {
  const auto kind = tracker_.next(timed.rank, timed.event);
  if (!kind || (timed.event.compute_ps <= 0 && !by_intervals_)) return;
  if (timed.rank.index() >= ranks.size()) ranks.resize(timed.rank.index() + 1);
  Rank& rank = ranks[timed.rank.index()];
  const auto compute = static_cast<double>(timed.event.compute_ps);
  const auto add = [&](std::vector<double>& sums, std::size_t at) {
    if (!by_intervals_) return;
    if (at >= sums.size()) sums.push_back(0);
    sums[at] += compute;
  };
  add(by_call, rank.calls++);
  if (timed.event.compute_ps <= 0) return;
  add(by_interval, rank.intervals++);
  if (by_intervals_) {
    if (timed.rank.index() >= each.size()) each.resize(timed.rank.index() + 1);
    const auto number = kinds.emplace(*kind, static_cast<std::uint32_t>(kinds.size())).first->second;
    each[timed.rank.index()].push_back({number, static_cast<float>(compute)});
  }
  rank.compute += compute;
  total += compute;
}

Result<Done> ComputeTransform::surveyed() {
  if (survey_.total <= 0) return Error{nothing_, ""};
  auto prepared = prepare(survey_);
  survey_.by_interval = {};
  survey_.by_call = {};
  survey_.each = {};
  return prepared;
}

void ComputeTransform::restart() {
  tracker_ = IntervalTracker{selector_};
  intervals_.assign(survey_.ranks.size(), {});
}

void ComputeTransform::change(RankId rank, std::uint64_t /*ordinal*/, Call& call) {
  const auto kind = tracker_.next(rank, call.event);
  if (!kind) return;
  const auto old_length = static_cast<double>(call.event.compute_ps);
  const auto at = group(rank, *kind, old_length);
  if (!at) return;
  auto& counts = intervals_.at(rank.index());
  if (*at >= counts.size()) counts.resize(*at + 1);
  call.event.compute_ps = events::rounded_within(length({rank, *at, counts[*at]++}, old_length)).count();
}

Result<std::unique_ptr<Transform>> make_scale(const Step& step, const Names& names) {
  const auto selector = IntervalSelector::of(step, names);
  if (!selector) return selector.error();
  const auto factor = parse_factor(step, "factor", {});
  if (!factor) return factor.error();
  return std::unique_ptr<Transform>{
      std::make_unique<Scale>(selector.value(), no_computing_for(step), factor.value())};
}

Result<std::unique_ptr<Transform>> make_balance(const Step& step, const Names& names) {
  const auto selector = IntervalSelector::of(step, names);
  if (!selector) return selector.error();
  auto weights = weights_of(step);
  if (!weights) return weights.error();
  const std::string* per = step.find("per");
  if (per != nullptr && *per != "run" && *per != "interval")
    return bad_setting(step, "per", "'run' (sums over the run) or 'interval' (each one by itself)");
  return std::unique_ptr<Transform>{std::make_unique<Balance>(
      selector.value(), step, std::move(weights).value(), per != nullptr && *per == "interval")};
}

Result<std::unique_ptr<Transform>> make_noise(const Step& step, const Names& names) {
  const auto selector = IntervalSelector::of(step, names);
  if (!selector) return selector.error();
  const auto amount = parse_factor(step, "amount", {});
  if (!amount) return amount.error();
  const auto seed = parse_integer(step, "seed", 1);
  if (!seed) return seed.error();
  const std::string* kind = step.find("distribution");
  if (kind != nullptr && *kind != "normal" && *kind != "uniform")
    return bad_setting(step, "distribution", "'normal' or 'uniform'");
  return std::unique_ptr<Transform>{std::make_unique<Noise>(
      selector.value(), no_computing_for(step), amount.value(), static_cast<std::uint64_t>(seed.value()),
      kind == nullptr || *kind == "normal")};
}

}  // namespace nplus1::hypothesis::transform
