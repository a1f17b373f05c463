// What it would save to call the library's operation instead of each finding.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/by_hand.hpp"
#include "cli/collectives.hpp"
#include "cli/failure.hpp"
#include "cli/whatif.hpp"
#include "hypothesis/children.hpp"

namespace nplus1::cli {
namespace {

using detector::Finding;

/// Findings beyond this many are left without a price: each takes a replay.
constexpr std::size_t kMostPriced = 50;

Result<Duration> makespan(const ReplayWords& words, ByHand by_hand) {
  WhatIfCase c;
  c.replay = words;
  c.by_hand = std::move(by_hand);
  const auto result = replay_case(c);
  if (!result) return result.error();
  return result.value().makespan().time_since_epoch();
}

/// With the finding as the predefined operation.
Result<Duration> replaced(const ReplayWords& words, const Finding& f) {
  auto instances = by_hand(f);
  if (!instances) return instances.error();
  return makespan(words, std::move(instances).value());
}

Result<Duration> recorded_makespan(const std::string& source) {
  WhatIfCase c;
  c.replay.source = source;
  const auto result = replay_case(c);
  if (!result) return result.error();
  const auto& r = result.value();
  return r.makespan() > r.recorded_makespan() ? r.makespan() - r.recorded_makespan()
                                              : r.recorded_makespan() - r.makespan();
}

/// "123", or why there is no number.
std::string as_text(const Result<Duration>& d) {
  return d ? std::to_string(d.value().count()) : "!" + d.error().what;
}

/// The number of as_text(), or why there is none.
Result<Duration> from_text(const std::string& answer) {
  if (answer.front() == '!') return Error{answer.substr(1), ""};
  return Duration{std::atoll(answer.c_str())};
}

void set_saving(Finding& f, const Result<Duration>& after, Duration before, const Result<Duration>& error) {
  if (!after) {
    f.evidence.push_back("not priced: " + after.error().what);
    return;
  }
  f.saving_s = seconds(before - after.value());
  if (error)
    f.saving_error_s = seconds(error.value());
  else
    f.evidence.push_back("how exact a replay of this recording is, is not known: " + error.error().what);
}

}  // namespace

void price_findings(const CollectivesWords& words, detector::Analysis& analysis) {
  auto& findings = analysis.findings;
  const std::size_t priced = std::min(findings.size(), kMostPriced);
  const auto work = [&](std::size_t i) -> Result<std::string> {
    if (i == 0) {
      const auto before = makespan(words.replay, {});
      if (!before) return before.error();
      return as_text(before);
    }
    if (i == 1) return as_text(recorded_makespan(words.replay.source));
    return as_text(replaced(words.replay, findings[i - 2]));
  };
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto answers =
      hypothesis::in_children(priced + 2, jobs_of(words.replay), work, [&](std::size_t done) {
        if (terminal)
          fmt::print(stderr, "\rnplus1: {} of {} replays{}", done, priced + 2,
                     done == priced + 2 ? "\n" : "");
      });
  if (!answers)
    throw Failure{ExitCode::kNoInput, answers.error().what, "nothing was priced", answers.error().remedy};
  const auto before = from_text(answers.value()[0]);
  const auto error = from_text(answers.value()[1]);
  for (std::size_t i = 0; i < priced; ++i)
    set_saving(findings[i], from_text(answers.value()[i + 2]), before.value(), error);
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return b.saving_s.has_value() < a.saving_s.has_value() ||
           (a.saving_s && b.saving_s && *b.saving_s < *a.saving_s);
  });
}

}  // namespace nplus1::cli
