// overlap.json: docs/formats/overlap.md.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "overlap/place_json.hpp"
#include "overlap/results.hpp"

namespace nplus1::overlap {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOverlapSchema = "nplus1-overlap/1";
constexpr double kSecond = 1e-12;
/// Of a chain's calls: nobody reads more, and a chain that nothing ends is as long as the run.
constexpr std::size_t kMostListed = 256;

double seconds_of(std::int64_t ps) {
  return kSecond * static_cast<double>(ps);
}

const char* name(Toucher by) {
  switch (by) {
    case Toucher::kProgram:
      return "program";
    case Toucher::kMpiCall:
      return "mpi";
    case Toucher::kSystemCall:
      return "system";
    case Toucher::kRelease:
      return "free";
    case Toucher::kEnd:
      return "end";
  }
  return "";
}

Json json_of(const Survey& survey, const Touch& touch) {
  if (!touch.known()) return nullptr;
  Json json = json_of(place_of_site(survey, touch.site));
  json["offset"] = touch.offset;
  json["by"] = name(touch.by);
  json["access"] = touch.write ? "write" : "read";
  json["inexact"] = touch.inexact;
  return json;
}

Json contexts(const Survey& survey, const std::vector<Context>& all) {
  Json json = Json::array();
  for (std::size_t i = 0; i < std::min(kMostListed, all.size()); ++i) {
    const Context& c = all[i];
    json.push_back(json_of(place_of_call(survey, c)));
    const auto caller = caller_of(survey, c);
    json.back()["called_from"] = caller ? json_of(*caller) : Json(nullptr);
  }
  return json;
}

Json share_of(const Hidden& hidden) {
  return {{"share", hidden.transfer > 0 ? Json(hidden.share()) : Json(nullptr)},
          {"transfer_s", seconds_of(hidden.transfer)},
          {"hidden_s", seconds_of(hidden.hidden)}};
}

Json savings(const Results& results, const Replays& replays) {
  Json json = Json::object();
  for (const Variant v : {Variant::kGrouped, Variant::kMerged, Variant::kPerRequest, Variant::kOneWait}) {
    Json of;
    for (const ProgressKind kind : {ProgressKind::kAsynchronous, ProgressKind::kWeak})
      if (const auto saved = results.saved_s(replays, v, kind)) of[fmt::format("{}_s", name(kind))] = *saved;
    if (!of.is_null()) json[name(v)] = of;
  }
  return json;
}

std::int64_t time_of(const SurveyedRank& rank, const Position& position) {
  const Moment* m = rank.moment(position.ordinal);
  return m == nullptr ? 0 : m->entry_ps - m->compute_ps + position.offset_ps;
}

/// One time around the chain, for its drawing: times of the recording.
Json instance(const Survey& survey, const Analysis& analysis, const ChainInstance& instance) {
  const SurveyedRank& rank = survey.ranks()[static_cast<std::size_t>(instance.rank)];
  Json requests = Json::array();
  for (const std::uint32_t i : instance.members) {
    const MessageEnd& end = rank.ends[i];
    if (end.to_nobody()) continue;
    if (requests.size() == kMostListed) break;
    const Bounds& bounds = analysis.bounds[static_cast<std::size_t>(instance.rank)][i];
    const Moment* post = rank.moment(end.ordinal);
    const Moment* done = rank.moment(end.completed);
    Json json = json_of(place_of_call(survey, {end.event.call, end.event.site.value}));
    json["kind"] = end.receives() ? "receive" : "send";
    json["peer"] = end.receives() && end.answer.source >= 0 ? end.answer.source : end.event.peer;
    json["bytes"] = end.receives() ? end.answer.size : end.event.size;
    json["earliest_s"] = seconds_of(time_of(rank, bounds.earliest));
    json["post_s"] = seconds_of(post->entry_ps);
    json["wait_s"] = seconds_of(done->kind == events::EventKind::kWait ? done->entry_ps : post->entry_ps);
    json["end_s"] = seconds_of(end.end_ps);
    json["latest_s"] = seconds_of(time_of(rank, bounds.latest));
    json["ended_by"] = name(bounds.ended_by);
    json["touch"] = json_of(survey, end.first);
    if (end.first.known()) json["touch"]["at_s"] = seconds_of(end.first.at_ps);
    requests.push_back(std::move(json));
  }
  const Moment* ends = rank.moment(instance.end);
  return {{"rank", instance.rank},
          {"end_s", ends == nullptr ? Json(nullptr) : Json(seconds_of(ends->entry_ps))},
          {"requests", std::move(requests)}};
}

Json json_of(const std::optional<OneWait>& wait) {
  if (!wait) return nullptr;
  const bool line = wait->where == WaitsAt::kBeforeLine;
  return {{"where", name(wait->where)},
          {"file", line ? Json(wait->line.file) : Json(nullptr)},
          {"line", line ? Json(wait->line.line) : Json(nullptr)}};
}

Json json_of(const Results& results, const ChainFinding& finding, const Survey& survey,
             const Analysis& analysis) {
  const Chain& chain = analysis.chains[finding.chain];
  const double saving = results.saving_s(finding);
  Json json;
  json["id"] = chain_name(chain);
  json["contexts"] = contexts(survey, chain.contexts);
  json["contexts_in_all"] = chain.contexts.size();
  json["parts"] = Json::array();
  for (const std::size_t c : finding.parts)
    if (c != finding.chain && json["parts"].size() < kMostListed)
      json["parts"].push_back(chain_name(analysis.chains[c]));
  json["count"] = chain.instances.size();
  json["ranks"] = chain.ranks;
  json["requests"] = chain.requests;
  json["blocking"] = chain.blocks;
  json["in_calls_s"] = seconds_of(chain.in_calls_ps);
  json["ended_by"] = name(chain.ends());
  json["ended_by_count"] = Json::object();
  for (const auto& [end, count] : chain.ended_by) json["ended_by_count"][name(end)] = count;
  json["ending"] = json_of(place_of_site(survey, chain.ending_site));
  json["touch"] = json_of(survey, chain.touch);
  json["merges"] = contexts(survey, chain.merges);
  json["saving_s"] = saving;
  json["saving_share"] = results.share(saving);
  const auto best = results.best(finding);
  json["saving_variant"] = best ? Json(name(*best)) : Json(nullptr);
  json["finding"] = results.is_finding(finding);
  json["savings"] = savings(results, finding.alone);
  json["one_wait"] = json_of(finding.one_wait);
  json["patch"] = finding.patch.empty() ? Json(nullptr) : Json(finding.patch);
  json["not_patched"] = finding.not_patched.empty() ? Json(nullptr) : Json(finding.not_patched);
  json["measured"] = finding.measured.empty() ? Json(nullptr) : Json(finding.measured);
  json["instance"] = instance(survey, analysis, chain.instances[chain.instances.size() / 2]);
  return json;
}

Json json_of(const std::optional<Replayed>& replayed) {
  if (!replayed) return nullptr;
  return {{"virtual_time_s", replayed->makespan_s},
          {"communication_s", replayed->communication_s},
          {"finished", replayed->finished}};
}

Json efficiency(const Results& results, const Survey& survey) {
  Json json;
  json["whole"] = share_of(results.efficiency.whole);
  json["non_blocking"] = share_of(results.efficiency.non_blocking);
  const auto replays = results.two_replays();
  json["two_replays"] = replays ? Json(replays->share) : Json(nullptr);
  json["two_replays_ratio"] = replays ? Json(replays->ratio) : Json(nullptr);
  json["two_replays_visible"] = replays ? Json(replays->visible_share) : Json(nullptr);
  if (replays) {
    const auto part = [](std::int64_t ps) { return seconds(Duration{ps}); };
    json["two_replays_parts"] = {{"added_s", part(replays->added)},
                                 {"transfer_s", part(replays->transfer)},
                                 {"longer_s", part(replays->longer)},
                                 {"partners_s", part(replays->partners)}};
  }
  Json bound;
  constexpr auto kAll = static_cast<std::size_t>(Variant::kPerRequest);
  for (const ProgressKind kind : {ProgressKind::kAsynchronous, ProgressKind::kWeak})
    if (const auto& replayed = results.all[kAll][static_cast<std::size_t>(kind)];
        replayed && replayed->finished) {
      const auto share = results.bound(kind);
      bound[name(kind)] = share ? Json(*share) : Json(nullptr);
    }
  json["bound"] = bound;
  json["ranks"] = Json::array();
  for (const Hidden& h : results.efficiency.ranks) json["ranks"].push_back(share_of(h));
  json["sites"] = Json::array();
  std::vector<std::pair<std::uint32_t, Hidden>> sites{results.efficiency.sites.begin(),
                                                      results.efficiency.sites.end()};
  std::stable_sort(sites.begin(), sites.end(),
                   [](const auto& a, const auto& b) { return a.second.transfer > b.second.transfer; });
  for (const auto& [site, hidden] : sites) {
    Json row = json_of(place_of_site(survey, site));
    row.update(share_of(hidden));
    json["sites"].push_back(std::move(row));
  }
  json["regions"] = Json::array();
  for (const auto& [region, hidden] : results.efficiency.regions) {
    const events::Region* known = survey.names().region(RegionId{region});
    Json row{{"region", region == 0 || known == nullptr ? Json(nullptr) : Json(known->name)}};
    row.update(share_of(hidden));
    json["regions"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

std::string overlap_json(const Results& results, const Survey& survey, const Analysis& analysis) {
  Json json;
  json["schema"] = kOverlapSchema;
  json["recording"] = results.recording;
  json["application"] = results.application;
  json["ranks"] = results.ranks;
  json["network"] = results.network;
  json["compute"] = results.compute;
  json["progress"] = name(results.progress);
  json["at_least"] = results.at_least;
  json["virtual_time_s"] = results.run_s();
  json["accesses"] = results.accesses ? Json{{"method", results.access_method}, {"cost", results.access_cost}}
                                      : Json(nullptr);
  Json written;
  for (const ProgressKind kind : {ProgressKind::kAsynchronous, ProgressKind::kWeak})
    written[name(kind)] = json_of(results.as_written[static_cast<std::size_t>(kind)]);
  json["as_written"] = written;
  json["all_chains"] = savings(results, results.all);
  json["chains"] = Json::array();
  for (const ChainFinding& f : results.chains)
    json["chains"].push_back(json_of(results, f, survey, analysis));
  json["not_priced"] = results.not_priced;
  json["races"] = Json::array();
  for (const Race& race : analysis.races) {
    Json row = json_of(survey, race.touch);
    const Place request = place_of_call(survey, race.request);
    row["request_function"] = request.function;
    row["request_file"] = request.file.empty() ? Json(nullptr) : Json(request.file);
    row["request_line"] = request.line == 0 ? Json(nullptr) : Json(request.line);
    row["of"] = race.receive ? "receive" : "send";
    row["certain"] = !race.touch.inexact;
    row["count"] = race.count;
    json["races"].push_back(std::move(row));
  }
  json["not_deferrable"] = Json::array();
  for (const NotDeferrableLine& n : not_deferrable_lines(survey, analysis)) {
    Json row = json_of(n.place);
    row["reason"] = n.reason;
    row["count"] = n.count;
    json["not_deferrable"].push_back(std::move(row));
  }
  json["efficiency"] = efficiency(results, survey);
  json["events"] = results.events;
  json["left_out"] = results.left_out;
  if (!results.coverage.empty()) json["coverage"] = results.coverage;
  if (!results.trust.empty()) json["trust"] = Json::parse(results.trust, nullptr, false);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nplus1::overlap
