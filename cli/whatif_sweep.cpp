// `nplus1 whatif --sweep`: what there is to try, ranked by the time that it would save.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/clock.hpp"
#include "cli/fail_if.hpp"
#include "cli/failure.hpp"
#include "cli/whatif.hpp"
#include "cli/whatif_trials.hpp"
#include "hypothesis/candidates.hpp"
#include "hypothesis/children.hpp"
#include "hypothesis/clock/interval.hpp"
#include "hypothesis/side.hpp"
#include "hypothesis/sweep.hpp"
#include "report/exact_time.hpp"
#include "report/json_object.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

using hypothesis::Candidate;
using hypothesis::Fix;
using hypothesis::PointResult;

constexpr const char* kSweepSchema = "nplus1-whatif-sweep/1";
constexpr std::size_t kMostShown = 20;
constexpr std::size_t kMostBounds = 5;
/// Less than this share of the run is no saving.
constexpr double kLeastSaving = 1e-3;

void show_progress(std::size_t done, std::size_t all) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) fmt::print(stderr, "\rnplus1: {} of {} replays{}", done, all, done == all ? "\n" : "");
}

/// The run as it was: side and trust.
std::pair<std::string, std::string> before(const WhatIfWords& words) {
  WhatIfCase as_recorded;
  as_recorded.replay.source = with_warm_clock(words.replay.source);
  const auto run = run_trust(words.replay.source);
  const auto texts = sweep_or_fail(hypothesis::in_children(
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

/// What came of a trial, as a child hands it on: the point, or why there is none.
struct Tried {
  bool replayed = false, failed = false, late = false;
  PointResult point{};
  std::string reason;
};

constexpr const char* kTooLate = "the time for it was up";
constexpr char kReplayed = 'r';
constexpr char kDoesNotApply = 'n';
constexpr char kFailed = 'f';

std::string try_it(const WhatIfCase& c) {
  auto chain = build_chain(c);
  if (!chain) return kDoesNotApply + chain.error().what;
  const auto result = replay_case(c, chain.value());
  if (!result) return kFailed + result.error().what;
  const PointResult point = hypothesis::point_of(result.value());
  std::string bytes(1 + sizeof(point), kReplayed);
  std::memcpy(bytes.data() + 1, &point, sizeof(point));
  return bytes;
}

Tried tried(const std::string& bytes) {
  Tried t;
  t.replayed = bytes.size() == 1 + sizeof(PointResult) && bytes.front() == kReplayed;
  if (t.replayed) {
    std::memcpy(&t.point, bytes.data() + 1, sizeof(PointResult));
    return t;
  }
  t.failed = !bytes.empty() && bytes.front() == kFailed;
  t.late = bytes.empty();
  t.reason = t.late ? kTooLate : bytes.substr(1);
  return t;
}

WhatIfCase case_of(const WhatIfWords& words, const Trial& trial) {
  WhatIfCase c;
  c.replay.source = with_warm_clock(words.replay.source);
  c.replay.network = trial.candidate.network;
  c.replay.collectives = trial.candidate.collectives;
  c.steps = trial.candidate.steps;
  c.by_hand = trial.by_hand;
  c.overlap = trial.overlap;
  c.overlap_source = trial.overlap_source;
  c.deterministic = words.deterministic;
  return c;
}

/// Places in `trials`, in the order in which they are tried: the first of each kind, the second of each, and so on, so
/// that whatever the time is enough for says something of every kind.
std::vector<std::size_t> turns(const std::vector<Trial>& trials) {
  std::map<std::string, std::size_t> of_kind;
  std::vector<std::pair<std::size_t, std::size_t>> round_and_place;
  for (std::size_t i = 0; i < trials.size(); ++i)
    round_and_place.emplace_back(of_kind[trials[i].candidate.kind]++, i);
  std::ranges::sort(round_and_place);
  std::vector<std::size_t> places;
  for (const auto& [round, place] : round_and_place) places.push_back(place);
  return places;
}

/// Of what refines another: whether it saves next to nothing more than that.
bool adds_nothing(const std::vector<Trial>& trials, const std::vector<Tried>& results, std::size_t i) {
  constexpr double kWorthMore = 0.98;  // of the time
  for (std::size_t j = 0; j < trials.size(); ++j)
    if (results[j].replayed && trials[j].candidate.what == trials[i].candidate.refines)
      return seconds(results[i].point.makespan) > kWorthMore * seconds(results[j].point.makespan);
  return false;
}

/// The replay of this subject for that purpose; null where there is none.
const Tried* told_by(const std::vector<Trial>& trials, const std::vector<Tried>& results,
                     const std::string& subject, hypothesis::Purpose purpose) {
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (results[i].replayed && results[i].point.finished && trials[i].candidate.purpose == purpose &&
        trials[i].candidate.subject == subject)
      return &results[i];
  return nullptr;
}

/// Of a balance; nothing where it was not told apart.
std::optional<double> systematic_of(const std::vector<Trial>& trials, const std::vector<Tried>& results,
                                    const Candidate& c, const Fix& fix) {
  if (c.kind != "balance") return std::nullopt;
  const Tried* steady = told_by(trials, results, fix.subject, hypothesis::Purpose::kSteady);
  const Tried* balanced = told_by(trials, results, fix.subject, hypothesis::Purpose::kSteadyBalanced);
  if (steady == nullptr || balanced == nullptr)
    return c.ranks_differ ? std::nullopt : std::optional<double>{0};
  return hypothesis::systematic_part(fix.saved_s, steady->point.makespan, balanced->point.makespan);
}

/// By problem; of a collective's algorithms the best alone.
std::vector<Fix> ranked(const std::vector<Trial>& trials, const std::vector<Tried>& results, double run) {
  std::vector<Fix> all;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Candidate& c = trials[i].candidate;
    if (!results[i].replayed || adds_nothing(trials, results, i) ||
        c.purpose == hypothesis::Purpose::kSteadyBalanced)
      continue;
    Fix& f = all.emplace_back();
    f.kind = c.kind;
    f.what = c.what;
    f.flags = c.flags;
    f.subject = c.subject;
    f.sites = c.sites;
    f.bound = c.bound;
    f.makespan = results[i].point.makespan;
    f.saved_s = run - seconds(f.makespan);
    f.finished = results[i].point.finished;
    f.systematic_s = systematic_of(trials, results, c, f);
  }
  hypothesis::sort_by_problem(all);
  std::map<std::string, bool> seen;
  std::erase_if(all, [&](const Fix& f) {
    if (f.kind != "collectives") return false;
    return std::exchange(seen[f.what.substr(0, f.what.find(" by "))], true);
  });
  return all;
}

std::string json(const std::string& source, const std::string& side, const Fixes& fixes) {
  using report::JsonObject;
  JsonObject object;
  object.text("schema", kSweepSchema);
  object.text("recording", source);
  object.raw("before", side);
  object.raw("random_s", fixes.random_s ? nlohmann::json(*fixes.random_s).dump() : "null");
  object.truth("warm", fixes.warm);
  object.raw("order_turns", fixes.order_turns ? nlohmann::json(*fixes.order_turns).dump() : "null");
  object.list(
      "candidates", fixes.all,
      [](const Fix& f) {
        return fmt::format(
            "\n    {{\"kind\": {}, \"what\": {}, \"flags\": {}, \"virtual_time_s\": {}, \"saved_s\": {}, "
            "\"systematic_s\": {}, \"saved_between_s\": {}, \"finished\": {}, \"bound\": {}, \"problem\": "
            "{}, "
            "\"leads\": {}}}",
            JsonObject::quoted(f.kind), JsonObject::quoted(f.what), JsonObject::quoted(f.flags),
            report::exact_seconds(f.makespan), nlohmann::json(f.saved_s).dump(),
            f.systematic_s ? nlohmann::json(*f.systematic_s).dump() : "null",
            f.between_s ? nlohmann::json(*f.between_s).dump() : "null", f.finished, f.bound,
            f.problem == 0 ? "null" : std::to_string(f.problem), f.leads);
      },
      ",");
  object.list(
      "not_tried", fixes.not_tried,
      [](const NotTried& n) {
        return fmt::format(
            "\n    {{\"kind\": {}, \"what\": {}, \"flags\": {}, \"failed\": {}, \"late\": {}, \"reason\": "
            "{}}}",
            JsonObject::quoted(n.kind), JsonObject::quoted(n.what), JsonObject::quoted(n.flags), n.failed,
            n.late, JsonObject::quoted(n.reason));
      },
      ",");
  return object.document();
}

/// Of a balance: what it would save besides, and nobody can promise.
std::string comes_and_goes(const Fixes& fixes, const Fix& f) {
  const double rest = f.saved_s - f.worth_s();
  if (!f.systematic_s || rest < kLeastSaving * fixes.virtual_time_s()) return {};
  return fmt::format(" (and {}, {:.1f} %, that comes and goes)", report::readable(from_seconds(rest)),
                     100 * fixes.share(rest));
}

std::string line_of(const Fixes& fixes, const Fix& f, const char* indent) {
  return fmt::format("{:>12} {:>6.1f} %  {}{}{}{}\n{:>24}{}{}\n", report::readable(from_seconds(f.worth_s())),
                     100 * fixes.share(f.worth_s()), indent, f.what, comes_and_goes(fixes, f),
                     f.finished ? "" : " (not all ranks end)", "", std::string(std::strlen(indent), ' '),
                     f.flags) +
         (f.between_s ? fmt::format("{:>24}{}{}\n", "", std::string(std::strlen(indent), ' '),
                                    saving_between(fixes, f))
                      : "");
}

/// One line a problem, the other changes that mend it below; then what is no advice.
std::string table(const std::string& source, const Fixes& fixes) {
  const hypothesis::Side& side = fixes.before;
  const double run = fixes.virtual_time_s();
  std::string text = fmt::format("{} on {} ranks: {} of virtual time{}; what would save how much of it\n\n",
                                 side.application.empty() ? "The program" : side.application, side.ranks,
                                 report::readable(from_seconds(run)), fixes.warm ? " with warm caches" : "");
  text += fmt::format("{:>12} {:>8}  {}\n", "saves", "", "if it were");
  std::size_t shown = 0;
  std::size_t less = 0;
  const auto worth_it = [&](const Fix& f) { return f.worth_s() >= kLeastSaving * run && f.worth_s() > 0; };
  for (const Fix& leader : fixes.all) {
    if (!leader.leads) continue;
    for (const bool others : {false, true})
      for (const Fix& f : fixes.all) {
        if (f.problem != leader.problem || f.leads == others) continue;
        if (!worth_it(f) || shown == kMostShown) {
          ++less;
          continue;
        }
        ++shown;
        text += line_of(fixes, f, others ? "or: " : "");
      }
  }
  if (shown == 0) text += "  nothing that was tried\n";
  text += order_text(fixes);
  if (less > 0) text += fmt::format("{} more would save less, or nothing\n", less);
  std::size_t bounds = 0;
  for (const Fix& f : fixes.all) {
    if (f.problem != 0 || !worth_it(f) || bounds == kMostBounds) continue;
    if (bounds++ == 0) text += "\nNo advice, but what something costs at most\n";
    text += line_of(fixes, f, "");
  }
  const auto failed = std::count_if(fixes.not_tried.begin(), fixes.not_tried.end(),
                                    [](const NotTried& n) { return n.failed; });
  if (failed > 0) text += fmt::format("\nReplays that failed: {}\n", failed);
  for (const NotTried& n : fixes.not_tried)
    if (n.failed) text += fmt::format("  {}: {}\n", n.what, n.reason);
  if (const auto rest = static_cast<std::ptrdiff_t>(fixes.not_tried.size()) - failed; rest > 0)
    text += fmt::format("\n{} changes do not apply to this program; --json says why each\n", rest);
  return text + fmt::format(
                    "\nEach alone, the rest as it was: nplus1 whatif {} FLAGS\nHow far to believe it\n  {}\n",
                    quote(source), side.trust);
}

/// Replays the first advice again, with samples that the twins might have brought instead: how far the savings go apart,
/// and whether their order turns.
void find_intervals(const WhatIfWords& words, const std::vector<Trial>& trials, Fixes& fixes) {
  constexpr std::size_t kFirst = 3, kReplicates = 12;
  constexpr double kSystematic = 0.01;
  const auto stretches = fitted_stretches(words.replay.source);
  std::vector<Fix*> first;
  std::vector<WhatIfCase> cases(1);
  for (Fix& fix : fixes.all) {
    if (!fix.leads || fix.saved_s <= 0 || first.size() == kFirst) continue;
    const auto trial =
        std::ranges::find_if(trials, [&](const Trial& t) { return t.candidate.flags == fix.flags; });
    if (trial == trials.end()) continue;
    first.push_back(&fix);
    cases.push_back(case_of(words, *trial));
  }
  if (first.empty()) return;
  for (WhatIfCase& c : cases) {
    c.replay.source = words.replay.source;
    c.clock = stretches;
  }
  const auto texts = sweep_or_fail(hypothesis::in_children(
      kReplicates * cases.size(), jobs_of(words.replay),
      [&](std::size_t i) -> Result<std::string> {
        WhatIfCase c = cases[i % cases.size()];
        c.replicate = static_cast<std::uint32_t>(1 + i / cases.size());
        return try_it(c);
      },
      [](std::size_t) {}, {}, words.until));
  std::vector<std::vector<double>> saved(first.size());
  std::size_t turns = 0;
  for (std::size_t r = 0; r < kReplicates; ++r) {
    const auto run = [&](std::size_t i) { return tried(texts[r * cases.size() + i]); };
    for (std::size_t i = 0; i < first.size(); ++i)
      if (const Tried before = run(0), after = run(i + 1); before.replayed && after.replayed)
        saved[i].push_back(seconds(before.point.makespan) - seconds(after.point.makespan));
    if (saved.size() > 1 && saved[0].size() == r + 1 && saved[1].size() == r + 1)
      turns += saved[1].back() > saved[0].back() ? 1U : 0U;
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (saved[i].size() < kReplicates) continue;
    const auto around = hypothesis::clock::interval(first[i]->saved_s, saved[i], kSystematic);
    first[i]->between_s = {around.from, around.to};
  }
  if (first.size() > 1) fixes.order_turns = static_cast<double>(turns) / static_cast<double>(kReplicates);
}

/// The run with the change that saves most, for conditions that speak of the side after.
hypothesis::Side after_the_best(const WhatIfWords& words, const Fixes& fixes) {
  if (!fixes.best) return fixes.before;
  const auto texts = sweep_or_fail(hypothesis::in_children(
      1, 1,
      [&](std::size_t) -> Result<std::string> {
        auto chain = build_chain(*fixes.best);
        if (!chain) return chain.error();
        const auto analysis = analyse_case(*fixes.best, chain.value(), false);
        if (!analysis) return analysis.error();
        return hypothesis::with_member(
            hypothesis::side_json(analysis.value()), "trust",
            hypothesis::trust_json(analysis.value(), run_trust(words.replay.source), {}));
      },
      [](std::size_t) {}));
  return sweep_or_fail(hypothesis::parse_side(texts[0], "the run after"));
}

}  // namespace

Fixes find_fixes(const WhatIfWords& words) {
  auto reader = sweep_or_fail(events::recording::Reader::open(words.replay.source));
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  WhatIfCase as_recorded;
  check_network(as_recorded.replay, recorded, reader.header().ranks);
  share_network(as_recorded.replay, recorded, reader.header().ranks);
  const auto [side_text, trust] = before(words);
  const std::string whole = hypothesis::with_member(side_text, "trust", trust);
  Fixes fixes;
  fixes.before = sweep_or_fail(hypothesis::parse_side(whole, "the run"));
  WhatIfWords with_clock = words;
  with_clock.replay.source = with_warm_clock(words.replay.source);
  fixes.warm = with_clock.replay.source != words.replay.source;
  const auto trials = trials_of(with_clock, side_text, recorded);
  const std::vector<std::size_t> order = turns(trials);
  const auto texts = sweep_or_fail(hypothesis::in_children(
      trials.size(), jobs_of(words.replay),
      [&](std::size_t turn) -> Result<std::string> { return try_it(case_of(words, trials[order[turn]])); },
      [&](std::size_t done) {
        if (!words.replay.quiet) show_progress(done, trials.size());
      },
      {}, words.until));
  std::vector<Tried> results(trials.size());
  for (std::size_t turn = 0; turn < trials.size(); ++turn) results[order[turn]] = tried(texts[turn]);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Candidate& c = trials[i].candidate;
    if (!results[i].replayed)
      fixes.not_tried.push_back(
          {c.kind, c.what, c.flags, results[i].reason, results[i].failed, results[i].late});
  }
  fixes.all = ranked(trials, results, fixes.virtual_time_s());
  if (!fixes.all.empty() && fixes.all.front().problem != 0 && fixes.all.front().worth_s() > 0)
    for (const Trial& trial : trials)
      if (trial.candidate.flags == fixes.all.front().flags) fixes.best = case_of(words, trial);
  if (const Tried* steady = told_by(trials, results, "", hypothesis::Purpose::kSteady))
    fixes.random_s = std::max(0.0, fixes.virtual_time_s() - seconds(steady->point.makespan));
  if (fixes.warm) find_intervals(words, trials, fixes);
  fixes.json = json(words.replay.source, with_interval(whole, words.replay.source), fixes);
  return fixes;
}

std::string saving_between(const Fixes& fixes, const Fix& fix) {
  return fmt::format("in nine cases of ten {:.1f} to {:.1f} %", 100 * fixes.share(fix.between_s->first),
                     100 * fixes.share(fix.between_s->second));
}

std::string order_text(const Fixes& fixes) {
  constexpr double kOften = 0.05;
  if (fixes.order_turns.value_or(0) < kOften) return {};
  return fmt::format(
      "Which of the first two saves more is not sure: with other samples of the clock it is the second in "
      "{:.0f} % of replays\n",
      100 * *fixes.order_turns);
}

int sweep_hypotheses(const WhatIfWords& words) {
  const auto conditions = conditions_of(words.fail_if);
  const Fixes fixes = find_fixes(words);
  report::html::Documents documents;
  documents.fixes = fixes.json;
  write_results(words.replay, kWhatIfFile, fixes.json, documents);
  fmt::print("{}", table(words.replay.source, fixes));
  if (conditions.empty()) return static_cast<int>(ExitCode::kOk);
  fmt::print("Judged by --fail-if: {}\n",
             fixes.best ? "after " + fixes.all.front().what : "the run as it was; no change saves anything");
  return judge(conditions, after_the_best(words, fixes));
}

}  // namespace nplus1::cli
