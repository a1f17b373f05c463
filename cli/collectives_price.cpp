// What it would save to call the library's operation instead of each finding.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/collectives.hpp"
#include "cli/failure.hpp"
#include "cli/whatif.hpp"
#include "events/definitions_collector.hpp"
#include "hypothesis/children.hpp"
#include "hypothesis/transform/replace.hpp"

namespace nplus1::cli {
namespace {

using detector::Finding;
using hypothesis::transform::Chain;
using hypothesis::transform::CollectiveInstance;

/// Findings beyond this many are left without a price: each takes a replay.
constexpr std::size_t kMostPriced = 50;

std::vector<CollectiveInstance> instances_of(const Finding& f, CollectiveKind kind) {
  std::vector<CollectiveInstance> instances;
  for (const detector::Occurrence& o : f.occurrences) {
    CollectiveInstance& i = instances.emplace_back();
    i.kind = kind;
    for (const std::int32_t r : f.ranks) i.ranks.emplace_back(r);
    i.root = o.root;
    i.bytes = static_cast<std::int64_t>(o.bytes);
    for (const detector::Message& m : o.messages) i.messages.push_back({m.source, m.send_ordinal});
  }
  return instances;
}

std::uint32_t free_communicator(const std::string& source) {
  events::DefinitionsCollector names;
  const auto played = play_recording(source)(names, true);
  return !played || names.communicators().empty() ? 1 : names.communicators().rbegin()->first.value + 1;
}

Result<Duration> makespan(const ReplayWords& words, Chain* chain) {
  WhatIfCase c;
  c.replay = words;
  const auto result = chain == nullptr ? replay_case(c) : replay_case(c, *chain);
  if (!result) return result.error();
  return result.value().makespan().time_since_epoch();
}

/// With the finding as the predefined operation.
Result<Duration> replaced(const ReplayWords& words, const Finding& f, std::uint32_t comm) {
  const auto kind = hypothesis::transform::replaceable(f.kind);
  if (!kind) return Error{std::string{detector::name(f.kind)} + " cannot be replayed", "compare it by hand"};
  Chain chain;
  const auto added = chain.add(hypothesis::transform::make_replacement(instances_of(f, *kind), comm),
                               play_recording(words.source));
  if (!added) return added.error();
  return makespan(words, &chain);
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

void set_saving(Finding& f, const std::string& answer, Duration before, double error) {
  if (answer.front() == '!') {
    f.evidence.push_back("not priced: " + answer.substr(1));
    return;
  }
  f.saving_s = seconds(before - Duration{std::atoll(answer.c_str())});
  f.saving_error_s = error;
}

}  // namespace

void price_findings(const CollectivesWords& words, detector::Analysis& analysis) {
  auto& findings = analysis.findings;
  const std::size_t priced = std::min(findings.size(), kMostPriced);
  const std::uint32_t comm = free_communicator(words.replay.source);
  const auto work = [&](std::size_t i) -> Result<std::string> {
    if (i == 0) {
      const auto before = makespan(words.replay, nullptr);
      if (!before) return before.error();
      return as_text(before);
    }
    if (i == 1) return as_text(recorded_makespan(words.replay.source));
    return as_text(replaced(words.replay, findings[i - 2], comm));
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
  const Duration before{std::atoll(answers.value()[0].c_str())};
  const double error = 1e-12 * static_cast<double>(std::atoll(answers.value()[1].c_str()));
  for (std::size_t i = 0; i < priced; ++i) set_saving(findings[i], answers.value()[i + 2], before, error);
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return b.saving_s.has_value() < a.saving_s.has_value() ||
           (a.saving_s && b.saving_s && *b.saving_s < *a.saving_s);
  });
}

}  // namespace nplus1::cli
