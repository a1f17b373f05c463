// The replays of `nplus1 overlap`: as written, with each chain non-blocking, with all of them; with asynchronous and
// with weak progress.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/failure.hpp"
#include "cli/overlap.hpp"
#include "cli/whatif.hpp"
#include "hypothesis/children.hpp"
#include "hypothesis/transform/rank_order.hpp"
#include "overlap/efficiency.hpp"
#include "overlap/rearrange.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

using overlap::EfficiencyResult;
using overlap::Hidden;
using overlap::Plan;
using overlap::ProgressKind;
using overlap::Replayed;
using overlap::Variant;

constexpr const char* kNothingFound = "nothing was analysed, nothing is written";
constexpr const char* kAccessesProperty = "accesses";

enum class ReplayOf : std::uint8_t { kAsWritten, kWaitedAtOnce, kChains, kPlan };

/// One replay, and where its result goes. Plans are made where they are replayed: all together would not fit.
struct OverlapCase {
  ReplayOf what{};
  ProgressKind progress{};
  std::optional<Replayed>* into = nullptr;
  bool efficiency = false;                           // all of it, not the sum alone
  const std::vector<std::size_t>* chains = nullptr;  // kChains
  Variant variant{};                                 // kChains
  overlap::ChainFinding* finding = nullptr;  // of kOneWait: told where that is the same as its parts grouped
  std::shared_ptr<const Plan> plan{};        // kPlan; null: nothing is moved
  std::shared_ptr<const overlap::Scales> scales{};  // null: the phases as recorded
  std::shared_ptr<const overlap::Survey> scaled{};  // what the plan is of, with scales
};

constexpr const char* kChangesNothing = "nothing";
constexpr const char* kAsGrouped = "grouped";

/// What is moved in this case; null: nothing. A text: there is nothing to replay, and why.
Result<std::shared_ptr<const Plan>> plan_of_case(const OverlapSource& source, const OverlapCase& c) {
  if (c.what == ReplayOf::kAsWritten || c.what == ReplayOf::kPlan) return c.plan;
  Plan plan = c.what == ReplayOf::kWaitedAtOnce
                  ? overlap::waited_at_once(*source.survey)
                  : overlap::plan_of(*source.survey, *source.analysis, *c.chains, c.variant);
  if (c.finding != nullptr &&
      plan == overlap::plan_of(*source.survey, *source.analysis, c.finding->parts, Variant::kGrouped))
    return Error{kAsGrouped, {}};
  if (plan.empty()) return Error{kChangesNothing, {}};
  return std::make_shared<const Plan>(std::move(plan));
}

nlohmann::json pair_of(const Hidden& h) {
  return {h.transfer, h.hidden};
}
Hidden hidden_of(const nlohmann::json& json) {
  return {json.at(0).get<std::int64_t>(), json.at(1).get<std::int64_t>()};
}

std::string packed(const Replayed& r, const EfficiencyResult& e, bool whole) {
  nlohmann::json json{{"makespan", r.makespan_s}, {"communication", r.communication_s},
                      {"finished", r.finished},   {"whole", pair_of(e.whole)},
                      {"in_mpi", e.in_mpi},       {"events", e.events}};
  if (!whole) return json.dump();
  json["non_blocking"] = pair_of(e.non_blocking);
  for (const char* key : {"ranks", "sites", "regions"}) json[key] = nlohmann::json::array();
  for (const Hidden& h : e.ranks) json["ranks"].push_back(pair_of(h));
  for (const auto& [site, h] : e.sites) json["sites"].push_back({site, pair_of(h)});
  for (const auto& [region, h] : e.regions) json["regions"].push_back({region, pair_of(h)});
  return json.dump();
}

Replayed replayed_of(const nlohmann::json& json) {
  return {json.at("makespan").get<double>(), json.at("communication").get<double>(),
          hidden_of(json.at("whole")),       json.at("in_mpi").get<std::int64_t>(),
          json.at("finished").get<bool>(),   json.at("events").get<std::uint64_t>()};
}

EfficiencyResult efficiency_of(const nlohmann::json& json) {
  EfficiencyResult e;
  e.whole = hidden_of(json.at("whole"));
  e.non_blocking = hidden_of(json.at("non_blocking"));
  for (const auto& h : json.at("ranks")) e.ranks.push_back(hidden_of(h));
  for (const auto& s : json.at("sites")) e.sites[s.at(0).get<std::uint32_t>()] = hidden_of(s.at(1));
  for (const auto& r : json.at("regions")) e.regions[r.at(0).get<std::uint32_t>()] = hidden_of(r.at(1));
  return e;
}

/// In a child process.
Result<std::string> replay_overlap(const OverlapWords& words, const OverlapSource& source,
                                   const OverlapCase& c) try {
  const auto plan = plan_of_case(source, c);
  if (!plan) return nlohmann::json(plan.error().what).dump();
  auto reader = events::recording::Reader::open(words.replay.source);
  if (!reader) return reader.error();
  const auto recorded = hypothesis::recorded_settings(reader.value().properties());
  const auto prepared = prepare_replay(words.replay, recorded, reader.value().header().ranks);
  const auto play = play_recording(words.replay.source);
  auto chain = hypothesis::transform::Chain::build({}, play, recorded.call_interval);
  if (!chain) return chain.error();
  if (c.scales)
    if (const auto added = chain.value().add(overlap::scaled(source.survey, c.scales), play); !added)
      return added.error();
  if (plan.value())
    if (const auto added =
            chain.value().add(overlap::rearranged(c.scaled ? c.scaled : source.survey, plan.value()), play);
        !added)
      return added.error();
  overlap::Efficiency sink{static_cast<std::size_t>(reader.value().header().ranks), *prepared->network};
  hypothesis::ReplayOptions options = prepared->options;
  options.hypothesis = &chain.value();
  options.decisions = hypothesis::Decisions::kAdapted;
  options.weak_progress = c.progress == ProgressKind::kWeak;
  options.sink = &sink;
  options.most_rows = source.left_out > 0 ? words.most_rows : 0;
  const auto result = hypothesis::replay(reader.value(), options);
  if (!result) return result.error();
  Replayed r;
  r.makespan_s = seconds(result.value().makespan().time_since_epoch());
  r.finished = result.value().state == simnode::engine::State::kFinished;
  for (const auto& rank : result.value().ranks)
    r.communication_s += seconds(rank.end.time_since_epoch() - rank.compute - rank.unexplained);
  const EfficiencyResult e = sink.result();
  r.whole = e.whole;
  return packed(r, e, c.efficiency);
} catch (const Failure& failure) {
  return Error{failure.what(), failure.next()};
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
  OverlapTrials(const OverlapWords& words, const OverlapSource& source, overlap::Results& results, bool weak)
      : words_{words}, source_{source}, results_{results}, weak_{weak} {}

  void plan_all() {
    for (const ProgressKind kind : kinds())
      add({ReplayOf::kAsWritten, kind, &results_.as_written[index(kind)]});
    cases_.front().efficiency = true;
    add({ReplayOf::kWaitedAtOnce, ProgressKind::kAsynchronous, &results_.at_once});
    if (!results_.accesses || words_.efficiency) return;
    const auto& chains = source_.analysis->chains;
    for (std::size_t c = 0; c < chains.size(); ++c) all_.push_back(c);
    if (chains.size() > 1) try_chains(all_, results_.all);
    const std::size_t most = std::min(words_.most.value_or(affordable()), chains.size());
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

  void run() {
    const auto texts = hypothesis::in_children(
        cases_.size(), jobs_of(words_.replay),
        [this](std::size_t i) { return replay_overlap(words_, source_, cases_[i]); },
        [this](std::size_t done) {
          static const bool terminal = isatty(STDERR_FILENO) != 0;
          if (!words_.replay.quiet && terminal)
            fmt::print(stderr, "\rnplus1: {} of {} replays{}", done, cases_.size(),
                       done == cases_.size() ? "\n" : "");
        });
    if (!texts) throw Failure{ExitCode::kNoInput, texts.error().what, kNothingFound, texts.error().remedy};
    for (std::size_t i = 0; i < cases_.size(); ++i) take(cases_[i], nlohmann::json::parse(texts.value()[i]));
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
    constexpr std::uint64_t kMostReplayed = 120'000'000;
    constexpr std::size_t kUsual = 12, kReplaysOfAChain = 4;
    const std::uint64_t replays = kMostReplayed / std::max<std::uint64_t>(1, source_.rows);
    const std::uint64_t others = cases_.size(), each = kReplaysOfAChain * kinds().size();
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(replays > others ? (replays - others) / each : 0, 1, kUsual));
  }
  void add(OverlapCase c) { cases_.push_back(std::move(c)); }
  void take(const OverlapCase& c, const nlohmann::json& json) {
    if (json.is_string()) {
      if (c.finding != nullptr) c.finding->waits_as_grouped = json.get<std::string>() == kAsGrouped;
      return;
    }
    Replayed replayed = replayed_of(json);
    if (source_.left_out > 0) replayed.finished = comes_as_far(c, replayed);
    *c.into = replayed;
    if (c.efficiency) results_.efficiency = efficiency_of(json);
  }
  /// No rank reaches its MPI_Finalize in a part of a recording. A change is compared where it comes as far as the
  /// program as written, but for what waits for calls behind the part's end.
  [[nodiscard]] bool comes_as_far(const OverlapCase& c, const Replayed& replayed) const {
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

  const OverlapWords& words_;
  const OverlapSource& source_;
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

void check_accesses(const events::recording::Reader& reader, const std::string& source,
                    const char* consequence) {
  if (has_accesses(reader)) return;
  throw Failure{
      ExitCode::kNoInput, source + " has no accesses to memory, so nobody knows when a message is used",
      consequence,
      fmt::format("record them: nplus1 run --record-accesses ...; or see how much is hidden already: "
                  "nplus1 overlap {} --efficiency",
                  quote(source))};
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

overlap::Results find_overlap(const OverlapWords& words, const OverlapSource& source) {
  const auto reader =
      or_fail(events::recording::Reader::open(words.replay.source), ExitCode::kNoInput, kNothingFound);
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  check_network(words.replay, recorded, reader.header().ranks);
  overlap::Results results;
  results.recording = words.replay.source;
  results.application = recorded.application;
  results.compute = recorded.compute;
  results.network = !words.replay.platform.platform.empty() ? "platform " + words.replay.platform.platform
                    : words.replay.network.empty()          ? recorded.network
                                                            : words.replay.network;
  results.ranks = static_cast<std::size_t>(reader.header().ranks);
  results.accesses = has_accesses(reader);
  results.access_method = property_of(reader, kAccessesProperty);
  results.access_cost = property_of(reader, "accesses-cost");
  results.at_least = words.at_least / 100;
  results.progress = words.progress == "weak" ? ProgressKind::kWeak : ProgressKind::kAsynchronous;
  results.coverage = source.coverage;
  results.events = source.rows;
  results.left_out = source.left_out;
  const std::string network = words.replay.platform.platform.empty() ? results.network : std::string{};
  OverlapTrials trials{words, source, results, may_wait(source, network)};
  trials.plan_all();
  trials.run();
  overlap::sort_by_saving(results);
  return results;
}

std::vector<double> replay_scaled(const OverlapWords& words, const OverlapSource& source,
                                  const std::shared_ptr<const overlap::Scales>& scales,
                                  const std::vector<std::size_t>& chains) {
  const auto play = play_recording(words.replay.source);
  // Where the calls are is known from the recording; how far apart, from the scaled one.
  auto chain = or_fail(hypothesis::transform::Chain::build({}, play, {}), ExitCode::kNoInput, kNothingFound);
  or_fail(chain.add(overlap::scaled(source.survey, scales), play), ExitCode::kNoInput, kNothingFound);
  auto survey = std::make_shared<overlap::Survey>(source.survey->ranks().size());
  hypothesis::transform::RankOrder order;
  order.begin(*survey);
  or_fail(play(chain.begin(order), false), ExitCode::kNoInput, kNothingFound);
  chain.finish();
  order.finish();
  std::vector<std::optional<Replayed>> results(chains.size() + 1);
  std::vector<OverlapCase> cases;
  const auto add = [&](std::shared_ptr<const Plan> plan, std::optional<Replayed>& into) {
    OverlapCase& c = cases.emplace_back();
    c.what = ReplayOf::kPlan;
    c.into = &into;
    c.plan = std::move(plan);
    c.scales = scales;
    c.scaled = survey;
  };
  add(nullptr, results.front());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    auto plan = std::make_shared<Plan>(overlap::plan_of(
        *survey, *source.analysis, overlap::with_parts(*source.analysis, chains[i]), Variant::kGrouped));
    add(plan->empty() ? nullptr : std::move(plan), results[i + 1]);
  }
  const auto texts = hypothesis::in_children(
      cases.size(), jobs_of(words.replay),
      [&](std::size_t i) { return replay_overlap(words, source, cases[i]); }, [](std::size_t) {});
  if (!texts) throw Failure{ExitCode::kNoInput, texts.error().what, kNothingFound, texts.error().remedy};
  std::vector<double> times;
  for (const std::string& text : texts.value())
    times.push_back(replayed_of(nlohmann::json::parse(text)).makespan_s);
  return times;
}

std::string overlap_document(const std::string& path) {
  const auto reader = or_fail(events::recording::Reader::open(path), ExitCode::kNoInput, kNothingFound);
  if (!has_accesses(reader)) return {};
  OverlapWords words;
  const OverlapSource source =
      or_fail(survey_overlap(path, words.most_rows), ExitCode::kNoInput, kNothingFound);
  words.replay.source = path;
  words.replay.quiet = true;
  words.most = 4;  // it is waited for after a run
  return overlap::overlap_json(find_overlap(words, source), *source.survey, *source.analysis);
}

}  // namespace nplus1::cli
