// `nplus1 whatif --sweep`: what there is to try, ranked by the time that it would save.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/collectives.hpp"
#include "cli/fail_if.hpp"
#include "cli/failure.hpp"
#include "cli/whatif.hpp"
#include "hypothesis/candidates.hpp"
#include "hypothesis/children.hpp"
#include "hypothesis/side.hpp"
#include "hypothesis/sweep.hpp"
#include "report/exact_time.hpp"
#include "report/json_object.hpp"

namespace nplus1::cli {
namespace {

using hypothesis::Candidate;
using hypothesis::PointResult;

constexpr const char* kSweepSchema = "nplus1-whatif-sweep/1";
constexpr std::size_t kMostShown = 20;
constexpr Duration kDoesNotApply{-1};
/// Less than this share of the run is no saving.
constexpr double kLeastSaving = 1e-3;

template <class T>
T or_fail(Result<T> result) {
  if (!result)
    throw Failure{ExitCode::kNoInput, result.error().what, "the sweep did not finish, nothing is written",
                  result.error().remedy};
  return std::move(result).value();
}

void show_progress(std::size_t done, std::size_t all) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) fmt::print(stderr, "\rnplus1: {} of {} replays{}", done, all, done == all ? "\n" : "");
}

/// The run as it was: side and trust.
std::pair<std::string, std::string> before(const WhatIfWords& words) {
  WhatIfCase as_recorded;
  as_recorded.replay.source = words.replay.source;
  const auto run = run_trust(words.replay.source);
  const auto texts = or_fail(hypothesis::in_children(
      1, 1,
      [&](std::size_t) -> Result<std::string> {
        hypothesis::transform::Chain nothing;
        const auto analysis = analyse_case(as_recorded, nothing, false);
        if (!analysis) return analysis.error();
        return hypothesis::side_json(analysis.value()) + '\0' +
               hypothesis::trust_json(analysis.value(), run, words.reenactment_deviation);
      },
      [](std::size_t) {}));
  const std::size_t zero = texts[0].find('\0');
  return {texts[0].substr(0, zero), texts[0].substr(zero + 1)};
}

/// A candidate, and what of it only the detector knows.
struct Trial {
  Candidate candidate;
  ByHand by_hand;
};

/// The hand-written collectives, the detector's first ones.
void add_findings(const WhatIfWords& words, std::vector<Trial>& trials) {
  constexpr std::size_t kMost = 16;
  CollectivesWords search;
  search.replay.source = words.replay.source;
  const auto analysis = search_recording(search, detector::Keep::kAll);
  if (!words.replay.quiet && analysis.messages > 0 && analysis.unknown.hashes == analysis.messages)
    fmt::print(stderr,
               "nplus1: no hand-written collectives can be found: the recording knows nothing of the "
               "messages' content (nplus1 run --hash)\n");
  for (std::size_t i = 0; i < std::min(kMost, analysis.findings.size()); ++i) {
    const detector::Finding& finding = analysis.findings[i];
    if (finding.certainty == detector::Certainty::kPossible) continue;  // no advice, as yet
    const auto instances = by_hand(finding);
    if (!instances) continue;
    Candidate c{"by_hand", title(finding), fmt::format("--finding {}", i + 1), {}, "", "", true};
    trials.push_back({std::move(c), instances.value()});
  }
}

std::vector<Trial> trials_of(const WhatIfWords& words, const std::string& side,
                             const hypothesis::RecordedSettings& recorded) {
  std::vector<Trial> trials;
  for (Candidate& c : hypothesis::candidates_of(or_fail(hypothesis::parse_activities(side)), recorded))
    trials.push_back({std::move(c), {}});
  add_findings(words, trials);
  return trials;
}

Result<PointResult> try_it(const WhatIfWords& words, const Trial& trial) {
  const Candidate& candidate = trial.candidate;
  WhatIfCase c;
  c.replay.source = words.replay.source;
  c.replay.network = candidate.network;
  c.replay.collectives = candidate.collectives;
  c.steps = candidate.steps;
  c.by_hand = trial.by_hand;
  c.deterministic = words.deterministic;
  const auto result = replay_case(c);
  if (!result && candidate.may_not_apply) return PointResult{kDoesNotApply};
  if (!result) return result.error();
  return hypothesis::point_of(result.value());
}

/// Of what refines another: whether it saves next to nothing more than that.
bool adds_nothing(const std::vector<Trial>& trials, const std::vector<PointResult>& results, std::size_t i) {
  constexpr double kWorthMore = 0.98;  // of the time
  for (std::size_t j = 0; j < trials.size(); ++j)
    if (trials[j].candidate.what == trials[i].candidate.refines)
      return seconds(results[i].makespan) > kWorthMore * seconds(results[j].makespan);
  return false;
}

/// The most worthwhile first; of a collective's algorithms the best alone.
std::vector<Fix> ranked(const std::vector<Trial>& trials, const std::vector<PointResult>& results,
                        double run) {
  std::vector<Fix> all;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Candidate& c = trials[i].candidate;
    if (results[i].makespan != kDoesNotApply && !adds_nothing(trials, results, i))
      all.push_back({c.kind, c.what, c.flags, results[i].makespan, run - seconds(results[i].makespan),
                     results[i].finished});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Fix::saved_s);
  std::map<std::string, bool> seen;
  std::erase_if(all, [&](const Fix& f) {
    if (f.kind != "collectives") return false;
    return std::exchange(seen[f.what.substr(0, f.what.find(" by "))], true);
  });
  return all;
}

std::string json(const std::string& source, const std::string& side, const std::vector<Fix>& all) {
  report::JsonObject object;
  object.text("schema", kSweepSchema);
  object.text("recording", source);
  object.raw("before", side);
  object.list(
      "candidates", all,
      [](const Fix& f) {
        using report::JsonObject;
        return fmt::format(
            "\n    {{\"kind\": {}, \"what\": {}, \"flags\": {}, \"virtual_time_s\": {}, \"saved_s\": {}, "
            "\"finished\": {}}}",
            JsonObject::quoted(f.kind), JsonObject::quoted(f.what), JsonObject::quoted(f.flags),
            report::exact_seconds(f.makespan), nlohmann::json(f.saved_s).dump(), f.finished);
      },
      ",");
  return object.document();
}

std::string table(const std::string& source, const Fixes& fixes) {
  const hypothesis::Side& side = fixes.before;
  const double run = fixes.virtual_time_s();
  std::string text = fmt::format("{} on {} ranks: {} of virtual time; what would save how much of it\n\n",
                                 side.application.empty() ? "The program" : side.application, side.ranks,
                                 report::readable(from_seconds(run)));
  text += fmt::format("{:>12} {:>8}  {}\n", "saves", "", "if it were");
  std::size_t shown = 0;
  std::size_t nothing = 0;
  for (const Fix& f : fixes.all) {
    if (f.saved_s < kLeastSaving * run || shown == kMostShown) {
      ++nothing;
      continue;
    }
    ++shown;
    text += fmt::format("{:>12} {:>6.1f} %  {}{}\n{:>24}{}\n", report::readable(from_seconds(f.saved_s)),
                        100 * f.saved_s / run, f.what, f.finished ? "" : " (not all ranks end)", "", f.flags);
  }
  if (shown == 0) text += "  nothing that was tried\n";
  if (nothing > 0) text += fmt::format("{} more would save less, or nothing\n", nothing);
  return text + fmt::format(
                    "\nEach alone, the rest as it was: nplus1 whatif {} FLAGS\nHow far to believe it\n  {}\n",
                    source, side.trust);
}

}  // namespace

Fixes find_fixes(const WhatIfWords& words) {
  auto reader = or_fail(events::recording::Reader::open(words.replay.source));
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  WhatIfCase as_recorded;
  check_network(as_recorded.replay, recorded, reader.header().ranks);
  const auto [side_text, trust] = before(words);
  const std::string whole = hypothesis::with_member(side_text, "trust", trust);
  Fixes fixes;
  fixes.before = or_fail(hypothesis::parse_side(whole, "the run"));
  const auto trials = trials_of(words, side_text, recorded);
  const auto results = or_fail(hypothesis::run_points(
      trials.size(), jobs_of(words.replay), [&](std::size_t i) { return try_it(words, trials[i]); },
      [&](std::size_t done) {
        if (!words.replay.quiet) show_progress(done, trials.size());
      }));
  fixes.all = ranked(trials, results, fixes.virtual_time_s());
  fixes.json = json(words.replay.source, whole, fixes.all);
  return fixes;
}

int sweep_hypotheses(const WhatIfWords& words) {
  const auto conditions = conditions_of(words.fail_if);
  const Fixes fixes = find_fixes(words);
  report::html::Documents documents;
  documents.fixes = fixes.json;
  write_results(words, fixes.json, documents);
  fmt::print("{}", table(words.replay.source, fixes));
  return judge(conditions, fixes.before);
}

}  // namespace nplus1::cli
