// What it would save to call the library's operation instead of each finding.
#include <algorithm>
#include <optional>

#include "analyses/by_hand.hpp"
#include "analyses/case.hpp"
#include "analyses/collectives.hpp"
#include "support/processes/children.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using detector::Finding;

/// Findings beyond this many are left without a price: each takes a replay.
constexpr std::size_t kMostPriced = 50;

/// A time, or why there is none.
struct Price {
  Duration time{};
  std::optional<std::string> why_not;
  static constexpr auto kMembers = std::tuple{&Price::time, &Price::why_not};
};

Price price_of(const Result<Duration>& time) {
  return time ? Price{time.value(), {}} : Price{{}, time.error().what};
}

Result<Duration> makespan(const ReplaySettings& settings, ByHand by_hand) {
  Case c;
  c.replay = settings;
  c.by_hand = std::move(by_hand);
  const auto result = replay_case(c);
  if (!result) return result.error();
  return result.value().makespan().time_since_epoch();
}

/// With the finding as the predefined operation.
Result<Duration> replaced(const ReplaySettings& settings, const Finding& f) {
  auto instances = by_hand(f);
  if (!instances) return instances.error();
  return makespan(settings, std::move(instances).value());
}

/// By how much a replay of the recording as it is goes wrong.
Result<Duration> replay_error(const std::string& source) {
  Case c;
  c.replay.source = source;
  const auto result = replay_case(c);
  if (!result) return result.error();
  const auto& r = result.value();
  return r.makespan() > r.recorded_makespan() ? r.makespan() - r.recorded_makespan()
                                              : r.recorded_makespan() - r.makespan();
}

void set_saving(Finding& f, const Price& after, Duration before, const Price& error) {
  if (after.why_not) {
    f.evidence.push_back("not priced: " + *after.why_not);
    return;
  }
  f.saving_s = seconds(before - after.time);
  if (!error.why_not)
    f.saving_error_s = seconds(error.time);
  else
    f.evidence.push_back("how exact a replay of this recording is, is not known: " + *error.why_not);
}

}  // namespace

Result<std::vector<Finding>> price(std::vector<Finding> findings, const ReplaySettings& settings,
                                   const Progress& progress) {
  const std::size_t priced = std::min(findings.size(), kMostPriced);
  processes::Conditions conditions{.jobs = jobs_of(settings)};
  conditions.progress = [&](std::size_t done) {
    if (progress) progress(done, priced + 2);
  };
  const auto prices = processes::in_children(priced + 2, conditions, [&](std::size_t i) -> Result<Price> {
    if (i == 0) {  // nothing can be priced without it
      const auto before = makespan(settings, {});
      if (!before) return before.error();
      return price_of(before);
    }
    return price_of(i == 1 ? replay_error(settings.source) : replaced(settings, findings[i - 2]));
  });
  if (!prices) return prices.error();
  for (std::size_t i = 0; i < priced; ++i)
    set_saving(findings[i], prices.value()[i + 2], prices.value()[0].time, prices.value()[1]);
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return b.saving_s.has_value() < a.saving_s.has_value() ||
           (a.saving_s && b.saving_s && *b.saving_s < *a.saving_s);
  });
  return findings;
}

}  // namespace nplus1::analyses
