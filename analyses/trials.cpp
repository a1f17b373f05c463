#include "analyses/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyses/clock.hpp"
#include "analyses/collectives.hpp"
#include "analyses/overlap.hpp"
#include "hypothesis/transform/exchanges.hpp"
#include "hypothesis/transform/steady.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using hypothesis::Candidate;
using hypothesis::RunMessages;
using hypothesis::transform::MessageCalls;

/// Findings of the same lines on several groups of ranks: a change of the program changes all of them.
using Lines = std::pair<detector::Finding const*, std::vector<std::size_t>>;  // the first, places from 1

bool same_lines(const detector::Finding& a, const detector::Finding& b) {
  return a.kind == b.kind && a.lines == b.lines && a.callers == b.callers;
}

std::vector<Lines> by_lines(const std::vector<detector::Finding>& findings) {
  std::vector<Lines> all;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].certainty == detector::Certainty::kPossible) continue;  // no advice, as yet
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const Lines& l) { return same_lines(*l.first, findings[i]); });
    if (known == all.end())
      all.push_back({&findings[i], {i + 1}});
    else
      known->second.push_back(i + 1);
  }
  return all;
}

/// The hand-written collectives, the detector's first ones.
std::vector<Trial> by_hand_trials(const FixOptions& options, std::vector<std::string>& notes) {
  constexpr std::size_t kMost = 16;
  CollectivesOptions search;
  search.source = options.replay.source;
  search.most_rows = options.replay.most_rows;
  search.keep = detector::Keep::kAll;
  const auto analysis = need(find_collectives(search)).analysis;
  if (analysis.messages > 0 && analysis.unknown.hashes == analysis.messages)
    notes.emplace_back(
        "no hand-written collectives can be found: the recording knows nothing of the messages' content "
        "(nplus1 run --hash)");
  std::vector<Trial> trials;
  for (const auto& [first, places] : by_lines(analysis.findings)) {
    if (trials.size() == kMost) break;
    Trial trial{{"by_hand", title(*first), "", {}, "", ""}, {}, {}, {}};
    for (const std::size_t place : places) {
      auto instances = by_hand(analysis.findings[place - 1]);
      if (!instances) continue;
      trial.candidate.flags += fmt::format("{}--finding {}", trial.candidate.flags.empty() ? "" : " ", place);
      std::ranges::move(instances.value(), std::back_inserter(trial.by_hand));
    }
    if (places.size() > 1) trial.candidate.what += fmt::format(", on {} groups of ranks", places.size());
    if (!trial.by_hand.empty()) trials.push_back(std::move(trial));
  }
  return trials;
}

/// Looks at each message once: whose contents are known, which calls make exchanges, and which send the
/// messages of what was found.
RunMessages look_at_messages(const hypothesis::transform::Play& play,
                             const hypothesis::RecordedSettings& recorded, std::vector<Trial>& found) {
  RunMessages messages;
  std::set<std::uint32_t> unknown, with_data;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::size_t> of_message;  // place in `found`
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const auto& instance : found[i].by_hand)
      for (const auto& m : instance.messages) of_message.emplace(std::pair{m.source, m.sent}, i);
  std::vector<std::set<std::uint32_t>> sites(found.size());
  hypothesis::transform::ExchangeSurvey survey{
      recorded.call_interval, [&](const MessageCalls& m) {
        (m.content == 0 ? unknown : messages.known).insert(m.send_site);
        (m.size == 0 ? messages.empty : with_data).insert(m.send_site);
        const auto by_hand = of_message.find({m.source, m.sent});
        if (by_hand == of_message.end()) return;
        sites[by_hand->second].insert(m.send_site);
        messages.combined.insert(m.send_site);
      }};
  need(play(survey, false));
  survey.finish();
  for (const std::uint32_t site : unknown) messages.known.erase(site);
  for (const std::uint32_t site : with_data) messages.empty.erase(site);
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i].candidate.sites.assign(sites[i].begin(), sites[i].end());
  messages.exchanges = survey.exchanges();
  return messages;
}

/// Which balances of single places are of ranks that differ every time. What no test can tell of counts as such.
void test_balances(const hypothesis::transform::Play& play, std::vector<Candidate>& candidates) {
  hypothesis::transform::SteadySurvey survey{hypothesis::transform::IntervalSelector{}};
  need(play(survey, false));
  const auto groups = survey.groups();
  for (Candidate& c : candidates) {
    if (c.before.empty()) continue;
    c.ranks_differ = std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
      return std::find(c.before.begin(), c.before.end(), group.before) != c.before.end() && group.time > 0 &&
             (!group.parts || group.parts->ranks_differ());
    });
  }
}

/// The chains of a recording with accesses, made non-blocking.
void add_overlap_trials(const FixOptions& options, std::vector<Trial>& trials) {
  constexpr std::size_t kMost = 8;
  const auto reader = need(events::recording::Reader::open(options.replay.source));
  if (!has_accesses(reader)) return;
  const auto source =
      std::make_shared<OverlapSource>(need(survey_overlap(options.replay.source, options.replay.most_rows)));
  const auto& chains = source->analysis->chains;
  for (std::size_t c = 0; c < std::min(kMost, chains.size()); ++c) {
    const std::string name = overlap::chain_name(chains[c]);
    const std::string title = overlap::title(*source->survey, chains[c].contexts);
    std::set<std::uint32_t> sites;
    for (const overlap::Context& context : chains[c].contexts) sites.insert(context.site);
    const auto add = [&](const std::string& id, const std::string& what) {
      Candidate candidate{"overlap", what, "--overlap " + id, {}, "", ""};
      candidate.sites.assign(sites.begin(), sites.end());
      trials.push_back({std::move(candidate), {}, {id}, source});
    };
    if (chains[c].blocks)
      add(name, "make " + title + " non-blocking, and wait for all before their data are used");
    add(name + ":per_request",
        "post each of " + title + " as early, and wait for it as late, as its data allow");
    if (chains[c].blocks) trials.back().candidate.refines = trials.size() - 2;
  }
}

}  // namespace

Trials trials_of(const FixOptions& options, const hypothesis::transform::Play& play, const std::string& side,
                 const hypothesis::RecordedSettings& recorded) {
  constexpr double kMostly =
      0.5;  // then what comes and goes is the program's: no host makes so much of a difference
  Trials trials;
  std::vector<Trial> found = by_hand_trials(options, trials.notes);
  const RunMessages messages = look_at_messages(play, recorded, found);
  const bool disturbed = !recorded.given_compute() && share_by_data(options.replay.source) < kMostly;
  std::vector<Candidate> candidates =
      hypothesis::candidates_of(need(hypothesis::parse_activities(side)), messages, recorded, disturbed);
  if (disturbed) test_balances(play, candidates);
  for (Candidate& c : candidates) trials.all.push_back({std::move(c), {}, {}, {}});
  std::ranges::move(found, std::back_inserter(trials.all));
  add_overlap_trials(options, trials.all);
  return trials;
}

}  // namespace nplus1::analyses
