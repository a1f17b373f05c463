#include "analyses/compare.hpp"

#include <fmt/format.h>

#include "analyses/clock.hpp"
#include "analyses/collectives.hpp"
#include "analyses/trust.hpp"
#include "hypothesis/replay/sweep.hpp"
#include "netmodel/parameters.hpp"
#include "netmodel/quantity.hpp"
#include "report/json_object.hpp"
#include "support/processes/children.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using events::recording::Reader;
using hypothesis::transform::Chain;
using hypothesis::transform::Step;

constexpr const char* kWhatIfSchema = "nplus1-whatif/1";

/// The network with another eager threshold.
std::string with_eager(const std::string& network, const std::string& size) {
  const auto bytes = netmodel::parse_quantity(size, netmodel::Quantity::kSize);
  if (!bytes) throw Stopped{{"--eager: " + bytes.error().what, bytes.error().remedy, Fault::kUsage}};
  const auto* threshold = netmodel::parameter_of(network, netmodel::Role::kEagerThreshold);
  if (threshold == nullptr)
    throw Stopped{{"--eager: the network '" + network + "' has no such key",
                   "use --network lsb or loggops; for a platform, --simgrid smpi/async-small-thresh:SIZE",
                   Fault::kUsage}};
  return hypothesis::network_at(network, {{std::string{threshold->key}, {}}}, {bytes.value()});
}

struct Prepared {
  Case before, after;
  std::vector<std::string> hypothesis;  // in words
  std::string application;
};

/// Adds what was asked for of the detector's list.
void add_findings(const WhatIf& what, Prepared& p) {
  if (what.findings.empty()) return;
  CollectivesOptions search;
  search.source = with_warm_clock(what.replay.source);
  search.keep = detector::Keep::kAll;
  const auto found = need(find_collectives(search)).analysis.findings;
  for (const std::size_t place : what.findings) {
    if (place > found.size())
      throw Stopped{{fmt::format("--finding {}: {} hand-written collectives were found", place, found.size()),
                     "nplus1 collectives lists them; the first is 1", Fault::kUsage}};
    const ByHand instances = need(by_hand(found[place - 1]), Fault::kUsage);
    p.after.by_hand.insert(p.after.by_hand.end(), instances.begin(), instances.end());
    p.hypothesis.push_back(title(found[place - 1]));
  }
}

/// The settings of the side after.
ReplaySettings settings_after(const WhatIf& what, const hypothesis::RecordedSettings& recorded) {
  ReplaySettings settings = what.replay;
  const auto& wanted = what.hypothesis;
  settings.source = with_warm_clock(what.replay.source);
  settings.network = wanted.network.value_or(settings.network);
  settings.storage = wanted.storage.value_or(settings.storage);
  settings.collectives = wanted.collectives.value_or(settings.collectives);
  settings.platform.platform = wanted.platform.value_or(settings.platform.platform);
  settings.platform.map = wanted.map.value_or(settings.platform.map);
  if (wanted.eager)
    settings.network =
        with_eager(settings.network.empty() ? recorded.network : settings.network, *wanted.eager);
  return settings;
}

/// The settings of the side after, in words.
void add_words(const ReplaySettings& after, std::vector<std::string>& words) {
  const auto add = [&words](const char* what, const std::string& value) {
    if (!value.empty()) words.push_back(what + value);
  };
  add("network ", after.network);
  add("platform ", after.platform.platform);
  add("map ", after.platform.map);
  add("link ", after.platform.links);
  add("jitter ", after.platform.jitter);
  add("storage ", after.storage);
  add("collectives ", after.collectives);
}

Prepared prepare(const WhatIf& what) {
  Reader reader = need(Reader::open(what.replay.source));
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  const int ranks = reader.header().ranks;
  Prepared p;
  p.application = recorded.application;
  p.before.deterministic = p.after.deterministic = what.deterministic;
  p.before.replay.source = with_warm_clock(what.replay.source);
  p.before.replay.most_rows = what.replay.most_rows;
  p.after.replay = settings_after(what, recorded);
  p.after.steps = what.hypothesis.steps;
  // A recording that came from elsewhere says nothing of its network: then both are on the one named.
  if (recorded.network.empty()) p.before.replay = p.after.replay;
  for (const Case* c : {&p.before, &p.after}) check_network(c->replay, recorded, ranks);
  for (const Step& step : p.after.steps) p.hypothesis.push_back(step.text());
  add_findings(what, p);
  p.after.overlap = what.overlap;
  for (const std::string& chain : what.overlap) p.hypothesis.push_back("chain " + chain + " non-blocking");
  add_words(p.after.replay, p.hypothesis);
  if (p.hypothesis.empty() && p.after.replay.compute_scale == 1)
    throw Stopped{{"there is no hypothesis",
                   "say what should be different (nplus1 whatif --help), or use --sweep", Fault::kUsage}};
  return p;
}

std::string comparison_json(const WhatIf& what, const Comparison& c, const report::JsonObject& before,
                            const report::JsonObject& after) {
  report::JsonObject object;
  object.text("schema", kWhatIfSchema);
  object.text("recording", what.replay.source);
  object.text("application", c.application);
  object.list("hypothesis", c.hypothesis, report::JsonObject::quoted);
  object.real("saved_s", *c.before.metric("virtual_time_s") - *c.after.metric("virtual_time_s"));
  object.raw("before", before.document());
  object.raw("after", after.document());
  return object.document();
}

Comparison compared(const WhatIf& what) {
  Prepared p = prepare(what);
  Chain chain = need(build_chain(p.after), Fault::kUsage);
  Chain nothing;
  auto sides =
      need(processes::in_children(2, {.jobs = jobs_of(what.replay)}, [&](std::size_t i) -> Result<Side> {
        return side_of_case(i == 0 ? p.before : p.after, i == 0 ? nothing : chain, what.timelines);
      }));
  // What a replay of the recording as it is gets wrong, it gets wrong of the change, too.
  sides[1].trust.identity_error = sides[0].trust.identity_error;
  const hypothesis::RunTrust run = run_trust(what.replay.source);
  Comparison c;
  c.application = std::move(p.application);
  c.hypothesis = std::move(p.hypothesis);
  for (Side& side : sides)
    side.document.raw("trust", hypothesis::trust_json(side.trust, run, what.reenactment_deviation));
  c.before = need(hypothesis::parse_side(sides[0].document.document(), "before"), Fault::kBug);
  c.after = need(hypothesis::parse_side(sides[1].document.document(), "after"), Fault::kBug);
  add_interval(sides[0].document, what.replay.source);
  c.json = comparison_json(what, c, sides[0].document, sides[1].document);
  c.before_trust = std::move(sides[0].trust);
  c.after_trust = std::move(sides[1].trust);
  c.before_timeline = std::move(sides[0].timeline);
  c.after_timeline = std::move(sides[1].timeline);
  return c;
}

}  // namespace

Result<Comparison> compare(const WhatIf& what) {
  return attempt([&] { return compared(what); });
}

}  // namespace nplus1::analyses
