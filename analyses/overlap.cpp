// The replays of an analysis of overlap: as written, with each chain non-blocking, with all of them; with asynchronous and
// with weak progress.
#include "analyses/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "hypothesis/transform/chain.hpp"
#include "hypothesis/transform/rank_order.hpp"
#include "overlap/efficiency.hpp"
#include "overlap/rearrange.hpp"
#include "support/processes/children.hpp"
#include "support/shell.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using overlap::EfficiencyResult;
using overlap::Hidden;
using overlap::Plan;
using overlap::ProgressKind;
using overlap::Variant;

constexpr const char* kAccessesProperty = "accesses";

enum class ReplayOf : std::uint8_t { kAsWritten, kWaitedAtOnce, kChains, kPlan };

/// One replay, and where its result goes. Plans are made where they are replayed: all together would not fit.
struct OverlapCase {
  ReplayOf what{};
  ProgressKind progress{};
  std::optional<overlap::Replayed>* into = nullptr;
  bool efficiency = false;                           // all of it, not the sum alone
  const std::vector<std::size_t>* chains = nullptr;  // kChains
  Variant variant{};                                 // kChains
  overlap::ChainFinding* finding = nullptr;  // of kOneWait: told where that is the same as its parts grouped
  std::shared_ptr<const Plan> plan{};        // kPlan; null: nothing is moved
  std::shared_ptr<const overlap::Scales> scales{};  // null: the phases as recorded
  std::shared_ptr<const overlap::Survey> scaled{};  // what the plan is of, with scales
};

/// What came of one replay, as a child hands it on; or why there was nothing to replay.
struct OverlapReplay {
  enum class How : std::uint8_t { kReplayed, kChangesNothing, kAsGrouped };
  How how = How::kReplayed;
  overlap::Replayed times{};
  EfficiencyResult efficiency{};  // in full where that was asked for
  static constexpr auto kMembers =
      std::tuple{&OverlapReplay::how, &OverlapReplay::times, &OverlapReplay::efficiency};
};

using How = OverlapReplay::How;

/// What is moved in this case; null: nothing. Nothing: there is nothing to replay, `how` says why.
std::optional<std::shared_ptr<const Plan>> plan_of_case(const OverlapSource& source, const OverlapCase& c,
                                                        How& how) {
  if (c.what == ReplayOf::kAsWritten || c.what == ReplayOf::kPlan) return c.plan;
  Plan plan = c.what == ReplayOf::kWaitedAtOnce
                  ? overlap::waited_at_once(*source.survey)
                  : overlap::plan_of(*source.survey, *source.analysis, *c.chains, c.variant);
  if (c.finding != nullptr &&
      plan == overlap::plan_of(*source.survey, *source.analysis, c.finding->parts, Variant::kGrouped))
    how = How::kAsGrouped;
  else if (plan.empty())
    how = How::kChangesNothing;
  if (how != How::kReplayed) return std::nullopt;
  return std::make_shared<const Plan>(std::move(plan));
}

/// In a child process.
OverlapReplay replay_overlap(const OverlapOptions& options, const OverlapSource& source,
                             const OverlapCase& c) {
  OverlapReplay replayed;
  const auto plan = plan_of_case(source, c, replayed.how);
  if (!plan) return replayed;
  auto reader = need(events::recording::Reader::open(options.replay.source));
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  const auto prepared = prepare_replay(options.replay, recorded, reader.header().ranks);
  const auto play = play_recording(options.replay.source, options.replay.most_rows);
  auto chain = need(hypothesis::transform::Chain::build({}, play, recorded.call_interval));
  if (c.scales) need(chain.add(overlap::scaled(source.survey, c.scales), play));
  if (*plan) need(chain.add(overlap::rearranged(c.scaled ? c.scaled : source.survey, *plan), play));
  overlap::Efficiency sink{static_cast<std::size_t>(reader.header().ranks), *prepared->network,
                           overlap::one_path_for_each_line(*source.survey)};
  hypothesis::ReplayOptions how = prepared->options;
  how.hypothesis = &chain;
  how.decisions = hypothesis::Decisions::kAdapted;
  how.weak_progress = c.progress == ProgressKind::kWeak;
  how.sink = &sink;
  const auto result = need(hypothesis::replay(reader, how));
  overlap::Replayed& r = replayed.times;
  r.makespan_s = seconds(result.makespan().time_since_epoch());
  r.finished = result.state == simnode::engine::State::kFinished;
  for (const auto& rank : result.ranks)
    r.communication_s += seconds(rank.end.time_since_epoch() - rank.compute - rank.unexplained);
  EfficiencyResult e = sink.result();
  r.whole = e.whole;
  r.in_mpi = e.in_mpi;
  r.events = e.events;
  if (c.efficiency) replayed.efficiency = std::move(e);
  return replayed;
}

/// The same as work of a child.
auto replays_of(const OverlapOptions& options, const OverlapSource& source,
                const std::vector<OverlapCase>& cases) {
  return [&](std::size_t i) -> Result<OverlapReplay> {
    return attempt([&] { return replay_overlap(options, source, cases[i]); });
  };
}

/// Without messages that wait for their receive, progress is nobody's affair.
bool may_wait(const OverlapSource& source, const std::string& network) {
  const auto model = netmodel::parse(network);
  if (!model || !model.value()->contention_free()) return true;
  for (const auto& rank : source.survey->ranks())
    for (const auto& end : rank.ends)
      if (!end.receives() && !end.to_nobody() &&
          (end.event.send_mode() == events::SendMode::kSynchronous ||
           !model.value()->eager(end.event.payload())))
        return true;
  return false;
}

/// The replays of one analysis, the most telling first, as many as its length allows.
class OverlapTrials {
 public:
  OverlapTrials(const OverlapOptions& options, const OverlapSource& source, overlap::Results& results,
                bool weak)
      : options_{options}, source_{source}, results_{results}, weak_{weak} {}

  void plan_all() {
    for (const ProgressKind kind : kinds())
      add({ReplayOf::kAsWritten, kind, &results_.as_written[index(kind)]});
    cases_.front().efficiency = true;
    add({ReplayOf::kWaitedAtOnce, ProgressKind::kAsynchronous, &results_.at_once});
    if (!results_.accesses || options_.efficiency) return;
    const auto& chains = source_.analysis->chains;
    for (std::size_t c = 0; c < chains.size(); ++c) all_.push_back(c);
    if (chains.size() > 1) try_chains(all_, results_.all);
    const std::size_t most = std::min(options_.most.value_or(affordable()), chains.size());
    results_.chains.resize(most);
    results_.not_priced = chains.size() - most;
    for (std::size_t c = 0; c < most; ++c) {
      overlap::ChainFinding& f = results_.chains[c];
      f.chain = c;
      f.parts = overlap::with_parts(*source_.analysis, c);
      try_chains(f.parts, f.alone);
      try_one_wait(f);
    }
  }

  void run(const Progress& progress) {
    processes::Conditions conditions{.jobs = jobs_of(options_.replay)};
    conditions.progress = [&](std::size_t done) {
      if (progress) progress(done, cases_.size());
    };
    auto replays =
        need(processes::in_children(cases_.size(), conditions, replays_of(options_, source_, cases_)));
    for (std::size_t i = 0; i < cases_.size(); ++i) take(cases_[i], std::move(replays[i]));
    if (!weak_) copy_asynchronous();
    for (overlap::ChainFinding& f : results_.chains)
      if (f.waits_as_grouped) f.alone[index(Variant::kOneWait)] = f.alone[index(Variant::kGrouped)];
    // One chain alone is all of them.
    if (source_.analysis->chains.size() == 1 && results_.chains.size() == 1)
      results_.all = results_.chains[0].alone;
  }

 private:
  static std::size_t index(ProgressKind kind) { return static_cast<std::size_t>(kind); }
  static std::size_t index(Variant variant) { return static_cast<std::size_t>(variant); }
  [[nodiscard]] std::vector<ProgressKind> kinds() const {
    if (weak_) return {ProgressKind::kAsynchronous, ProgressKind::kWeak};
    return {ProgressKind::kAsynchronous};
  }
  /// How many chains may be tried, so that all replays together stay below a number of events.
  [[nodiscard]] std::size_t affordable() const {
    constexpr std::uint64_t kReplayable = 120'000'000;
    constexpr std::size_t kUsual = 12, kReplaysOfAChain = 4;
    const std::uint64_t replays = kReplayable / std::max<std::uint64_t>(1, source_.rows);
    const std::uint64_t others = cases_.size(), each = kReplaysOfAChain * (weak_ ? 2U : 1U);
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(replays > others ? (replays - others) / each : 0, 1, kUsual));
  }
  void add(OverlapCase c) { cases_.push_back(std::move(c)); }
  void take(const OverlapCase& c, OverlapReplay replay) {
    if (replay.how != How::kReplayed) {
      if (c.finding != nullptr) c.finding->waits_as_grouped = replay.how == How::kAsGrouped;
      return;
    }
    if (is_part(c, replay.times)) replay.times.finished = comes_as_far(c, replay.times);
    *c.into = replay.times;
    if (c.efficiency) results_.efficiency = std::move(replay.efficiency);
  }
  /// Of a recording only the first events are looked at, or it stops before the program does: at its cap, or with a run that
  /// was killed.
  [[nodiscard]] bool is_part(const OverlapCase& c, const overlap::Replayed& replayed) {
    if (c.what == ReplayOf::kAsWritten && !replayed.finished) part_ = true;
    return part_;
  }
  /// No rank reaches its MPI_Finalize in a part of a recording. A change is compared where it comes as far as the
  /// program as written, but for what waits for calls behind the part's end.
  [[nodiscard]] bool comes_as_far(const OverlapCase& c, const overlap::Replayed& replayed) const {
    constexpr double kEnough = 0.999;
    const auto& written = results_.as_written[index(c.progress)];
    return !written || static_cast<double>(replayed.events) >= kEnough * static_cast<double>(written->events);
  }
  void try_chains(const std::vector<std::size_t>& chains, overlap::Replays& into) {
    const bool merges = std::any_of(chains.begin(), chains.end(), [this](std::size_t c) {
      return !source_.analysis->chains[c].merges.empty();
    });
    for (const Variant v : {Variant::kGrouped, Variant::kMerged, Variant::kPerRequest}) {
      if (v == Variant::kMerged && !merges) continue;
      for (const ProgressKind kind : kinds())
        add({ReplayOf::kChains, kind, &into[index(v)][index(kind)], false, &chains, v});
    }
  }
  /// What a change of the source saves: it waits at one place, and nobody knows where without source lines.
  void try_one_wait(overlap::ChainFinding& f) {
    const overlap::Chain& chain = source_.analysis->chains[f.chain];
    const overlap::Place place = overlap::place_of_call(*source_.survey, chain.contexts.front());
    if (!chain.blocks || place.file.empty() || place.line == 0) return;
    f.one_wait = overlap::one_wait_of(*source_.survey, *source_.analysis, f.parts);
    if (f.one_wait->where == overlap::WaitsAt::kEndOfBlock) return;  // which the recording does not show
    const std::vector<std::size_t>& alone = only(f.chain);
    for (const ProgressKind kind : kinds())
      add({ReplayOf::kChains, kind, &f.alone[index(Variant::kOneWait)][index(kind)], false, &alone,
           Variant::kOneWait, &f});
  }
  /// The chain as a list that lives as long as the replays.
  const std::vector<std::size_t>& only(std::size_t chain) { return single_.emplace_back(1, chain); }
  void copy_asynchronous() {
    const auto copy = [](auto& of) {
      of[index(ProgressKind::kWeak)] = of[index(ProgressKind::kAsynchronous)];
    };
    copy(results_.as_written);
    for (auto& variant : results_.all) copy(variant);
    for (overlap::ChainFinding& f : results_.chains)
      for (auto& variant : f.alone) copy(variant);
  }

  const OverlapOptions& options_;
  const OverlapSource& source_;
  bool part_ = source_.left_out > 0;
  overlap::Results& results_;
  const bool weak_;
  std::vector<OverlapCase> cases_;
  std::vector<std::size_t> all_;  // chains
  std::deque<std::vector<std::size_t>> single_;
};

std::string property_of(const events::recording::Reader& reader, const std::string& key) {
  const auto found = reader.properties().find(key);
  return found == reader.properties().end() ? std::string{} : found->second;
}

}  // namespace

bool has_accesses(const events::recording::Reader& reader) {
  return !property_of(reader, kAccessesProperty).empty();
}

std::optional<Error> lacks_accesses(const events::recording::Reader& reader, const std::string& source) {
  if (has_accesses(reader)) return std::nullopt;
  return Error{
      source + " has no accesses to memory, so nobody knows when a message is used",
      fmt::format("record them: nplus1 run --record-accesses ...; or see how much is hidden already: "
                  "nplus1 overlap {} --efficiency",
                  quote(source)),
      Fault::kInput};
}

Result<OverlapSource> survey_overlap(const std::string& source, std::uint64_t most_rows) {
  auto reader = events::recording::Reader::open(source);
  if (!reader) return reader.error();
  auto survey = std::make_shared<overlap::Survey>(static_cast<std::size_t>(reader.value().header().ranks));
  hypothesis::transform::RankOrder order;
  order.begin(*survey);
  events::recording::Selection selection;
  selection.most_rows = most_rows;
  const auto coverage = reader.value().read(order, selection);
  if (!coverage) return coverage.error();
  order.finish();
  auto analysis = std::make_shared<overlap::Analysis>(overlap::analyse(*survey));
  return OverlapSource{std::move(survey), std::move(analysis),
                       coverage.value().complete ? std::string{} : coverage.value().text(),
                       coverage.value().events + coverage.value().matches, coverage.value().left_out};
}

Result<Plan> plan_of_chains(const OverlapSource& source, const std::vector<std::string>& names) {
  constexpr std::size_t kListed = 5;
  std::vector<std::size_t> chains;
  Variant variant = Variant::kGrouped;
  for (const std::string& text : names) {
    const std::size_t colon = text.find(':');
    const std::string id = text.substr(0, colon);
    const std::string how = colon == text.npos ? overlap::name(Variant::kGrouped) : text.substr(colon + 1);
    const auto& all = source.analysis->chains;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const overlap::Chain& c) { return overlap::chain_name(c) == id; });
    if (found == all.end()) {
      std::string known;
      for (std::size_t i = 0; i < std::min(kListed, all.size()); ++i)
        known += (i == 0 ? "the chains are " : ", ") + overlap::chain_name(all[i]);
      return Error{fmt::format("--overlap: there is no chain '{}'", id),
                   all.empty() ? "no message of this recording can be deferred"
                               : known + "; nplus1 overlap lists all"};
    }
    for (const std::size_t c :
         overlap::with_parts(*source.analysis, static_cast<std::size_t>(found - all.begin())))
      if (std::find(chains.begin(), chains.end(), c) == chains.end()) chains.push_back(c);
    bool known = false;
    for (const Variant v : {Variant::kGrouped, Variant::kMerged, Variant::kPerRequest, Variant::kOneWait})
      if (how == overlap::name(v)) {
        variant = v;
        known = true;
      }
    if (!known)
      return Error{fmt::format("--overlap: '{}' is no variant", how),
                   "use grouped, merged, per_request or one_wait"};
  }
  Plan plan = overlap::plan_of(*source.survey, *source.analysis, chains, variant);
  if (plan.empty())
    return Error{"--overlap " + names.front() + " changes nothing", "nplus1 overlap says what would"};
  return plan;
}

namespace {

overlap::Results results_of(const OverlapOptions& options, const OverlapSource& source,
                            const Progress& progress) {
  const ReplaySettings& replay = options.replay;
  const auto reader = need(events::recording::Reader::open(replay.source));
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  check_network(replay, recorded, reader.header().ranks);
  const bool on_platform = !replay.platform.platform.empty();
  overlap::Results results;
  results.recording = replay.source;
  results.application = recorded.application;
  results.compute = recorded.compute;
  results.network = on_platform              ? "platform " + replay.platform.platform
                    : replay.network.empty() ? recorded.network
                                             : replay.network;
  results.ranks = static_cast<std::size_t>(reader.header().ranks);
  results.accesses = has_accesses(reader);
  results.access_method = property_of(reader, kAccessesProperty);
  results.access_cost = property_of(reader, "accesses-cost");
  results.at_least = options.at_least;
  results.progress = options.progress;
  results.coverage = source.coverage;
  results.events = source.rows;
  results.left_out = source.left_out;
  OverlapTrials trials{options, source, results,
                       may_wait(source, on_platform ? std::string{} : results.network)};
  trials.plan_all();
  trials.run(progress);
  overlap::sort_by_saving(results);
  return results;
}

/// The recording's calls, at the other phases.
std::shared_ptr<overlap::Survey> survey_scaled(const OverlapSource& source,
                                               const std::shared_ptr<const overlap::Scales>& scales,
                                               const hypothesis::transform::Play& play) {
  // Where the calls are is known from the recording; how far apart, from the scaled one.
  auto chain = need(hypothesis::transform::Chain::build({}, play, {}));
  need(chain.add(overlap::scaled(source.survey, scales), play));
  auto survey = std::make_shared<overlap::Survey>(source.survey->ranks().size());
  hypothesis::transform::RankOrder order;
  order.begin(*survey);
  need(play(chain.begin(order), false));
  chain.finish();
  order.finish();
  return survey;
}

std::vector<double> scaled_times(const OverlapOptions& options, const OverlapSource& source,
                                 const std::shared_ptr<const overlap::Scales>& scales,
                                 const std::vector<std::size_t>& chains) {
  const auto survey =
      survey_scaled(source, scales, play_recording(options.replay.source, options.replay.most_rows));
  std::vector<OverlapCase> cases;
  const auto add = [&](std::shared_ptr<const Plan> plan) {
    OverlapCase& c = cases.emplace_back();
    c.what = ReplayOf::kPlan;
    c.plan = std::move(plan);
    c.scales = scales;
    c.scaled = survey;
  };
  add(nullptr);
  for (const std::size_t chain : chains) {
    auto plan = std::make_shared<Plan>(overlap::plan_of(
        *survey, *source.analysis, overlap::with_parts(*source.analysis, chain), Variant::kGrouped));
    add(plan->empty() ? nullptr : std::move(plan));
  }
  const auto replays = need(processes::in_children(cases.size(), {.jobs = jobs_of(options.replay)},
                                                   replays_of(options, source, cases)));
  std::vector<double> times;
  for (const OverlapReplay& replay : replays) times.push_back(replay.times.makespan_s);
  return times;
}

}  // namespace

Result<overlap::Results> find_overlap(const OverlapOptions& options, const OverlapSource& source,
                                      const Progress& progress) {
  return attempt([&] { return results_of(options, source, progress); });
}

Result<std::vector<double>> replay_scaled(const OverlapOptions& options, const OverlapSource& source,
                                          const std::shared_ptr<const overlap::Scales>& scales,
                                          const std::vector<std::size_t>& chains) {
  return attempt([&] { return scaled_times(options, source, scales, chains); });
}

Result<std::string> overlap_document(const std::string& path) {
  return attempt([&]() -> std::string {
    const auto reader = need(events::recording::Reader::open(path));
    if (!has_accesses(reader)) return {};
    OverlapOptions options;
    const OverlapSource source = need(survey_overlap(path, options.replay.most_rows));
    options.replay.source = path;
    options.most = 4;  // it is waited for after a run
    return overlap::overlap_json(need(find_overlap(options, source)), *source.survey, *source.analysis);
  });
}

}  // namespace nplus1::analyses
