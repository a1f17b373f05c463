#include "analyses/fixes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "analyses/clock.hpp"
#include "analyses/overlap.hpp"
#include "analyses/trials.hpp"
#include "analyses/trust.hpp"
#include "hypothesis/clock/interval.hpp"
#include "hypothesis/whatif/candidates.hpp"
#include "report/exact_time.hpp"
#include "report/json_object.hpp"
#include "support/processes/children.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using hypothesis::Candidate;
using hypothesis::Fix;
using hypothesis::PointResult;

constexpr const char* kSweepSchema = "nplus1-whatif-sweep/1";

using Recording = std::shared_ptr<events::recording::Reader>;

Recording open_recording(const std::string& source) {
  auto reader = need(events::recording::Reader::open(source));
  static_cast<void>(reader.keep(kMostKept));  // where there is too much, it is read each time
  return std::make_shared<events::recording::Reader>(std::move(reader));
}

/// The run as it was, or the part of it that is looked at.
Side before(const FixOptions& options, const Recording& recording) {
  Case as_recorded;
  as_recorded.recording = recording;
  as_recorded.replay.source = with_warm_clock(options.replay.source);
  as_recorded.replay.most_rows = options.replay.most_rows;
  return need(processes::in_children(1, {},
                                     [&](std::size_t) -> Result<Side> {
                                       hypothesis::transform::Chain nothing;
                                       return side_of_case(as_recorded, nothing, false);
                                     }))
      .front();
}

/// What came of a trial, as a child hands it on: the point, or why there is none.
struct TriedChange {
  enum class How : std::uint8_t { kLate, kReplayed, kFailed, kDoesNotApply };  // kLate: its turn had not come
  How how = How::kLate;
  PointResult point{};
  std::string reason;
  static constexpr auto kMembers = std::tuple{&TriedChange::how, &TriedChange::point, &TriedChange::reason};
  [[nodiscard]] bool replayed() const { return how == How::kReplayed; }
};

constexpr const char* kTooLong = "all changes together would be replays of too many events (--events)";
constexpr const char* kStandsStill =
    "with it some ranks wait for what never comes: what the program does next depends on what is changed";
/// No change of a sweep is begun that brings all replays together beyond so many events; a few are tried in any case.
constexpr std::uint64_t kMostReplayed = 120'000'000;
constexpr std::size_t kAlwaysTried = 16;

TriedChange try_it(const Case& c) {
  auto chain = build_chain(c);
  if (!chain) return {TriedChange::How::kDoesNotApply, {}, chain.error().what};
  const auto result = replay_case(c, chain.value());
  if (!result) return {TriedChange::How::kFailed, {}, result.error().what};
  return {TriedChange::How::kReplayed, hypothesis::point_of(result.value()), {}};
}

Case case_of(const FixOptions& options, const Trial& trial, const Recording& recording) {
  Case c;
  c.recording = recording;
  c.replay.source = with_warm_clock(options.replay.source);
  c.replay.most_rows = options.replay.most_rows;
  c.replay.network = trial.candidate.network;
  c.replay.storage = trial.candidate.storage;
  c.replay.collectives = trial.candidate.collectives;
  c.steps = trial.candidate.steps;
  c.by_hand = trial.by_hand;
  c.overlap = trial.overlap;
  c.overlap_source = trial.overlap_source;
  c.deterministic = options.deterministic;
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
bool adds_nothing(const std::vector<Trial>& trials, const std::vector<TriedChange>& results, std::size_t i) {
  constexpr double kWorthMore = 0.98;  // of the time
  const auto simpler = trials[i].candidate.refines;
  return simpler && results[*simpler].replayed() &&
         seconds(results[i].point.makespan) > kWorthMore * seconds(results[*simpler].point.makespan);
}

/// The replay of this subject for that purpose; null where there is none.
const TriedChange* told_by(const std::vector<Trial>& trials, const std::vector<TriedChange>& results,
                           const std::string& subject, hypothesis::Purpose purpose) {
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (results[i].replayed() && results[i].point.finished && trials[i].candidate.purpose == purpose &&
        trials[i].candidate.subject == subject)
      return &results[i];
  return nullptr;
}

/// Of a balance; nothing where it was not told apart.
std::optional<double> systematic_of(const std::vector<Trial>& trials, const std::vector<TriedChange>& results,
                                    const Candidate& c, const Fix& fix) {
  if (c.kind != "balance") return std::nullopt;
  const TriedChange* steady = told_by(trials, results, fix.subject, hypothesis::Purpose::kSteady);
  const TriedChange* balanced = told_by(trials, results, fix.subject, hypothesis::Purpose::kSteadyBalanced);
  if (steady == nullptr || balanced == nullptr)
    return c.ranks_differ ? std::nullopt : std::optional<double>{0};
  return hypothesis::systematic_part(fix.saved_s, steady->point.makespan, balanced->point.makespan);
}

/// By problem; of a collective's algorithms the best alone.
std::vector<Fix> ranked(const std::vector<Trial>& trials, const std::vector<TriedChange>& results,
                        double run) {
  std::vector<Fix> all;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Candidate& c = trials[i].candidate;
    if (!results[i].replayed() || adds_nothing(trials, results, i) ||
        c.purpose == hypothesis::Purpose::kSteadyBalanced)
      continue;
    Fix& f = all.emplace_back();
    f.kind = c.kind;
    f.what = c.what;
    f.flags = c.flags;
    f.trial = i;
    f.subject = c.subject;
    f.sites = c.sites;
    f.bound = c.bound;
    f.assumes = c.assumes;
    f.makespan = results[i].point.makespan;
    f.saved_s = run - seconds(f.makespan);
    f.finished = results[i].point.finished;
    f.systematic_s = systematic_of(trials, results, c, f);
  }
  hypothesis::sort_by_problem(all);
  std::set<std::string> seen;
  std::erase_if(all, [&](const Fix& f) { return f.kind == "collectives" && !seen.insert(f.subject).second; });
  return all;
}

std::string fixes_json(const std::string& source, const std::string& side, const Fixes& fixes) {
  using report::JsonObject;
  JsonObject object;
  object.text("schema", kSweepSchema);
  object.text("recording", source);
  object.raw("before", side);
  object.raw("random_s", fixes.random_s ? nlohmann::json(*fixes.random_s).dump() : "null");
  object.truth("warm", fixes.warm);
  object.real("overlap_not_looked_at", fixes.not_looked_at);
  object.number("events", fixes.rows);
  object.number("left_out", fixes.left_out);
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

/// What the first advice saves with samples that the twins might have brought instead.
struct Replicates {
  std::vector<Fix*> first;
  std::vector<Case> cases;                 // the run as it was, and each of the first
  std::vector<std::vector<double>> saved;  // by fix
  std::size_t done = 0, turns = 0;         // ... in which the second saves more than the first
};

void replicate(const FixOptions& options, std::size_t count, Replicates& r) {
  processes::Conditions conditions{.jobs = jobs_of(options.replay)};
  conditions.until = options.until;
  const auto results = need(
      processes::in_children(count * r.cases.size(), conditions, [&](std::size_t i) -> Result<TriedChange> {
        Case c = r.cases[i % r.cases.size()];
        c.replicate = static_cast<std::uint32_t>(1 + r.done + i / r.cases.size());
        return try_it(c);
      }));
  for (std::size_t n = 0; n < count; ++n, ++r.done) {
    const auto run = [&](std::size_t i) -> const TriedChange& { return results[n * r.cases.size() + i]; };
    for (std::size_t i = 0; i < r.first.size(); ++i)
      if (run(0).replayed() && run(i + 1).replayed())
        r.saved[i].push_back(seconds(run(0).point.makespan) - seconds(run(i + 1).point.makespan));
    if (r.saved.size() > 1 && r.saved[0].size() == r.done + 1 && r.saved[1].size() == r.done + 1)
      r.turns += r.saved[1].back() > r.saved[0].back() ? 1U : 0U;
  }
}

/// Replays the first advice again, with samples that the twins might have brought instead: how far the savings go apart,
/// and whether their order turns; more often where that is not clear.
void find_intervals(const FixOptions& options, const std::vector<Trial>& trials, Fixes& fixes) {
  constexpr std::size_t kFirst = 3, kReplicates = 6, kMoreReplicates = 6;
  constexpr double kSystematic = 0.01, kClear = 0.1;
  const auto stretches = fitted_stretches(options.replay.source);
  const Recording as_measured = open_recording(options.replay.source);
  Replicates r;
  r.cases.resize(1);
  for (Fix& fix : fixes.all) {
    if (!fix.leads || fix.saved_s <= 0 || r.first.size() == kFirst) continue;
    r.first.push_back(&fix);
    r.cases.push_back(case_of(options, trials[fix.trial], {}));
  }
  if (r.first.empty()) return;
  for (Case& c : r.cases) {
    c.replay.source = options.replay.source;
    c.recording = as_measured;
    c.clock = stretches;
  }
  r.saved.resize(r.first.size());
  replicate(options, kReplicates, r);
  if (r.turns > 0 || hypothesis::clock::are_apart(r.saved.front(), kClear))
    replicate(options, kMoreReplicates, r);
  for (std::size_t i = 0; i < r.first.size(); ++i) {
    if (r.saved[i].size() < r.done) continue;
    const auto around = hypothesis::clock::interval(r.first[i]->saved_s, r.saved[i], kSystematic);
    r.first[i]->between_s = {around.from, around.to};
  }
  if (r.first.size() > 1) fixes.order_turns = static_cast<double>(r.turns) / static_cast<double>(r.done);
}

/// Whether the replay ends before the program does: only its first events are looked at, or the recording stops, at its cap or
/// with a run that was killed. Where all ranks wait for each other, the program itself has ended there.
bool is_part(const hypothesis::ReplayTrust& run) {
  return run.left_out > 0 || (!run.finished && run.blocked.size() < run.ranks);
}

/// Tries as many as are affordable, in turns.
std::vector<TriedChange> try_all(const FixOptions& options, const std::vector<Trial>& trials,
                                 const Recording& recording, const hypothesis::ReplayTrust& run,
                                 const Progress& progress) {
  const std::vector<std::size_t> order = turns(trials);
  const std::size_t affordable =
      std::max<std::size_t>(kAlwaysTried, kMostReplayed / std::max<std::uint64_t>(1, run.rows));
  const std::size_t tried_at_all = std::min(trials.size(), affordable);
  processes::Conditions conditions{.jobs = jobs_of(options.replay)};
  conditions.until = options.until;
  conditions.progress = [&](std::size_t done) {
    if (progress) progress(done, tried_at_all);
  };
  auto in_turns =
      need(processes::in_children(tried_at_all, conditions, [&](std::size_t turn) -> Result<TriedChange> {
        return try_it(case_of(options, trials[order[turn]], recording));
      }));
  std::vector<TriedChange> results(trials.size());
  for (std::size_t turn = 0; turn < trials.size(); ++turn) {
    TriedChange& result = results[order[turn]];
    if (turn < tried_at_all) result = std::move(in_turns[turn]);
    if (result.how == TriedChange::How::kLate)
      result.reason = turn < tried_at_all ? processes::kTimeIsUp : kTooLong;
    if (!result.replayed()) continue;
    const bool far = hypothesis::comes_as_far({result.point.finished, result.point.ended},
                                              {run.finished, run.calls_ended}, is_part(run));
    if (is_part(run)) result.point.finished = far;
    if (!far) {  // how long it takes until it stands still is no saving
      result.how = TriedChange::How::kDoesNotApply;
      result.reason = kStandsStill;
    }
  }
  return results;
}

/// Of the rank that computes most, whichever is less of its computing and the rest of the run: so much could be done at the
/// same time.
double hideable(const hypothesis::Side& run) {
  const double computing = run.metric("communication_efficiency").value_or(1);
  return std::clamp(std::min(computing, 1 - computing), 0.0, 1.0);
}

/// The side of the run as it was: `whole` is its document, with how far it can be believed.
void describe_run(const FixOptions& options, const Side& run, Fixes& fixes, report::JsonObject& whole) {
  whole = run.document;
  whole.raw("trust", hypothesis::trust_json(run.trust, run_trust(options.replay.source),
                                            options.reenactment_deviation));
  fixes.rows = run.trust.rows;
  fixes.left_out = run.trust.left_out;
  fixes.before = need(hypothesis::parse_side(whole.document(), "the run"));
}

Fixes fixes_of(const FixOptions& options, const Progress& progress) {
  auto reader = need(events::recording::Reader::open(options.replay.source));
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  const ReplaySettings as_recorded;
  check_network(as_recorded, recorded, reader.header().ranks);
  share_network(as_recorded, recorded, reader.header().ranks);
  const Recording recording = open_recording(with_warm_clock(options.replay.source));
  const Side run = before(options, recording);
  Fixes fixes;
  report::JsonObject whole;
  describe_run(options, run, fixes, whole);
  FixOptions with_clock = options;
  with_clock.replay.source = with_warm_clock(options.replay.source);
  fixes.warm = with_clock.replay.source != options.replay.source;
  auto [trials, notes] = trials_of(with_clock, play_recording(recording, options.replay.most_rows),
                                   run.document.document(), recorded);
  fixes.notes = std::move(notes);
  if (!has_accesses(*recording)) fixes.not_looked_at = hideable(fixes.before);
  const std::vector<TriedChange> results = try_all(options, trials, recording, run.trust, progress);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Candidate& c = trials[i].candidate;
    if (!results[i].replayed())
      fixes.not_tried.push_back({c.kind, c.what, c.flags, results[i].reason,
                                 results[i].how == TriedChange::How::kFailed,
                                 results[i].how == TriedChange::How::kLate});
  }
  fixes.all = ranked(trials, results, fixes.virtual_time_s());
  if (!fixes.all.empty() && fixes.all.front().problem != 0 && fixes.all.front().worth_s() > 0)
    fixes.best = case_of(options, trials[fixes.all.front().trial], recording);
  if (const TriedChange* steady = told_by(trials, results, "", hypothesis::Purpose::kSteady))
    fixes.random_s = std::max(0.0, fixes.virtual_time_s() - seconds(steady->point.makespan));
  if (fixes.warm) find_intervals(options, trials, fixes);
  add_interval(whole, options.replay.source);
  fixes.json = fixes_json(options.replay.source, whole.document(), fixes);
  return fixes;
}

}  // namespace

Result<Fixes> find_fixes(const FixOptions& options, const Progress& progress) {
  return attempt([&] { return fixes_of(options, progress); });
}

Result<hypothesis::Side> after_the_best(const FixOptions& options, const Fixes& fixes) {
  if (!fixes.best) return fixes.before;
  return attempt([&] {
    const auto sides = need(processes::in_children(1, {}, [&](std::size_t) -> Result<Side> {
      auto chain = build_chain(*fixes.best);
      if (!chain) return chain.error();
      return side_of_case(*fixes.best, chain.value(), false);
    }));
    report::JsonObject document = sides.front().document;
    document.raw("trust",
                 hypothesis::trust_json(sides.front().trust, run_trust(options.replay.source), std::nullopt));
    return need(hypothesis::parse_side(document.document(), "the run after"));
  });
}

}  // namespace nplus1::analyses
