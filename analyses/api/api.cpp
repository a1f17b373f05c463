// The installed header's functions, by those of analyses/: what is in libnplus1.so.
#include "nplus1/analyses.hpp"

#include "analyses/collectives.hpp"
#include "analyses/compare.hpp"
#include "analyses/fixes.hpp"
#include "analyses/replay.hpp"
#include "analyses/wait_states.hpp"
#include "detector/findings.hpp"
#include "support/stopped.hpp"

namespace nplus1::api {
namespace {

/// What `work` returns, or why not. Broken invariants throw inside; nobody outside is to see that.
template <class Work>
auto outcome(const Work& work) -> Outcome<std::invoke_result_t<Work>> {
  try {
    return work();
  } catch (const Stopped& stopped) {
    return Error{stopped.error().what, stopped.error().remedy};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return Error{error.what(), "this is a bug of nplus1: please report it"};
  }
}

analyses::ReplaySettings settings_of(const std::string& recording, const Where& where) {
  analyses::ReplaySettings settings;
  settings.source = recording;
  settings.network = where.network;
  settings.platform.platform = where.platform;
  settings.platform.map = where.map;
  settings.collectives = where.collectives;
  settings.compute_scale = where.compute_scale;
  settings.jobs = where.jobs;
  return settings;
}

Metrics metrics_of(const hypothesis::Side& side) {
  return {side.metrics.begin(), side.metrics.end()};
}

Change change_of(const hypothesis::Fix& fix) {
  return {fix.kind,    fix.what,  fix.flags, seconds(fix.makespan), fix.saved_s, fix.systematic_s,
          fix.problem, fix.leads, fix.bound, fix.finished};
}

}  // namespace

Outcome<Replayed> replay(const std::string& recording, const Where& where) {
  return outcome([&] {
    const analyses::Replayed r = need(analyses::replay(settings_of(recording, where)));
    Replayed replayed;
    replayed.application = r.recorded.application;
    replayed.network = r.network;
    replayed.virtual_time_s = seconds(r.result.makespan().time_since_epoch());
    replayed.recorded_virtual_time_s = seconds(r.result.recorded_makespan().time_since_epoch());
    for (const auto& rank : r.result.ranks)
      replayed.rank_end_s.push_back(seconds(rank.end.time_since_epoch()));
    replayed.compute_share = r.result.compute_share();
    replayed.communication_share = r.result.communication_share();
    replayed.identity = r.identity;
    replayed.finished = r.result.state == simnode::engine::State::kFinished;
    return replayed;
  });
}

Outcome<WaitStates> find_wait_states(const std::string& recording) {
  return outcome([&] {
    analyses::WaitStateSearch search = need(analyses::find_wait_states(recording, true));
    const auto side = need(hypothesis::parse_side(search.json, recording));
    return WaitStates{search.results.application, search.results.ranks.size(), metrics_of(side),
                      std::move(search.json)};
  });
}

Outcome<Fixes> find_fixes(const std::string& recording, std::size_t jobs) {
  return outcome([&] {
    analyses::FixOptions options;
    options.replay.source = recording;
    options.replay.jobs = jobs;
    analyses::Fixes found = need(analyses::find_fixes(options));
    Fixes fixes;
    fixes.virtual_time_s = found.virtual_time_s();
    for (const hypothesis::Fix& fix : found.all) fixes.changes.push_back(change_of(fix));
    fixes.json = std::move(found.json);
    return fixes;
  });
}

Outcome<Comparison> compare(const std::string& recording,
                            const std::vector<std::pair<std::string, std::string>>& changes,
                            const Where& where) {
  return outcome([&] {
    analyses::WhatIf what;
    what.replay = settings_of(recording, where);
    for (const auto& [verb, settings] : changes)
      what.hypothesis.steps.push_back(need(hypothesis::transform::parse_step(verb, settings, verb)));
    analyses::Comparison compared = need(analyses::compare(what));
    return Comparison{std::move(compared.hypothesis), metrics_of(compared.before), metrics_of(compared.after),
                      std::move(compared.json)};
  });
}

Outcome<Collectives> find_collectives(const std::string& recording, bool price, const Where& where) {
  return outcome([&] {
    analyses::CollectivesOptions options;
    options.source = recording;
    options.keep = price ? detector::Keep::kAll : detector::Keep::kFirst;
    options.of_recording = price;
    auto findings = need(analyses::find_collectives(options)).analysis.findings;
    if (price) findings = need(analyses::price(std::move(findings), settings_of(recording, where)));
    Collectives collectives;
    for (const detector::Finding& f : findings)
      collectives.all.push_back(
          {detector::name(f.kind), detector::name(f.certainty), f.lines, f.count, f.saving_s});
    collectives.json = detector::collectives_json(findings);
    return collectives;
  });
}

}  // namespace nplus1::api
