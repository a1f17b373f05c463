#include "hypothesis/whatif/analysis.hpp"

#include <fmt/format.h>

#include "events/sink_list.hpp"
#include "hypothesis/waitstates/efficiencies.hpp"
#include "hypothesis/waitstates/report.hpp"
#include "hypothesis/waitstates/search.hpp"
#include "patterns/timeline.hpp"
#include "report/exact_time.hpp"
#include "report/json_object.hpp"

namespace nplus1::hypothesis {
namespace {

using Object = report::JsonObject;

Efficiencies efficiencies_of(const WaitStateResults& states, IdealReplay& ideal, bool finished) {
  const auto ideal_time = finished ? ideal.time() : std::nullopt;
  Efficiencies e = efficiencies(states.thread_computing, states.virtual_time, ideal_time);
  if (!ideal_time)
    e.note = "Serialisation and transfer are not known: the run did not end on the ideal network.";
  return e;
}

void add_run(Object& object, const std::optional<report::Trust>& run) {
  const auto add = [&](const char* name, std::uint64_t report::Trust::*which) {
    object.raw(name, run ? std::to_string((*run).*which) : "null");
  };
  add("order_inversions", &report::Trust::order_inversions);
  add("forced_decisions", &report::Trust::forced_decisions);
  add("clock_mismatches", &report::Trust::clock_mismatches);
  object.raw("cores", run ? std::to_string(run->cores) : "null");
}

}  // namespace

Result<Analysis> analyse(events::recording::Reader& reader, const AnalysisOptions& options) {
  const auto ranks = static_cast<std::size_t>(reader.header().ranks);
  WaitStates states{ranks, options.replay.network};
  IdealReplay ideal{ranks, options.replay.storage};
  patterns::Timeline timeline{ranks};
  events::SinkList sinks;
  sinks.add(states);
  sinks.add(ideal);
  if (options.timeline) sinks.add(timeline);
  ReplayOptions with_sinks = options.replay;
  with_sinks.sink = &sinks;
  auto replayed = replay(reader, with_sinks);
  if (!replayed) return replayed.error();
  Analysis analysis{std::move(replayed).value(), states.result(), options.timeline ? timeline.json() : ""};
  const bool finished = analysis.replay.state == simnode::engine::State::kFinished;
  analysis.states.application = options.application;
  analysis.states.network = options.network;
  if (!analysis.replay.coverage.complete) analysis.states.coverage = analysis.replay.coverage.text();
  analysis.states.efficiencies = efficiencies_of(analysis.states, ideal, finished);
  return analysis;
}

ReplayTrust replay_trust(const Analysis& analysis) {
  const ReplayResult& replay = analysis.replay;
  ReplayTrust trust;
  trust.model = analysis.states.network;
  trust.identity_error = replay.largest_difference();
  trust.unmodelled_share = replay.unexplained_share();
  trust.ranks = replay.ranks.size();
  trust.order_inversions = replay.counters.order_inversions;
  trust.forced_decisions = replay.counters.forced_decisions;
  trust.missing = replay.gaps;
  trust.adaptation = replay.adaptation;
  trust.relies_on_buffering = replay.counters.relies_on_buffering > 0;
  trust.finished = replay.state == simnode::engine::State::kFinished || replay.of_part();
  trust.calls_ended = replay.ended;
  trust.rows = replay.coverage.events + replay.coverage.matches;
  trust.left_out = replay.coverage.left_out;
  trust.blocked = replay.blocked;
  return trust;
}

std::string trust_json(const ReplayTrust& replay, const RunTrust& run,
                       std::optional<double> reenactment_deviation) {
  Object object;
  object.text("model", replay.model);
  object.raw("identity_error_s", report::exact_seconds(replay.identity_error));
  object.real("unmodelled_share", replay.unmodelled_share);
  add_run(object, run.run);
  object.raw("given_compute", run.compute.empty() ? "null" : Object::quoted(run.compute));
  object.number("ranks", replay.ranks);
  object.number("replay_order_inversions", replay.order_inversions);
  object.number("replay_forced_decisions", replay.forced_decisions);
  object.number("missing", replay.missing);
  const AdaptationCounts& adapted = replay.adaptation;
  object.number("decided_otherwise",
                adapted.swapped + adapted.predrawn + adapted.waited_tests + adapted.other_message);
  object.truth("relies_on_buffering", replay.relies_on_buffering);
  const auto deviation = reenactment_deviation ? reenactment_deviation : run.reenactment_deviation;
  object.raw("reenactment_deviation", deviation ? fmt::format("{}", *deviation) : "null");
  object.number("swapped_completions", adapted.swapped);
  object.number("early_completions", adapted.predrawn);
  object.number("other_messages", adapted.other_message);
  object.number("tests_that_waited", adapted.waited_tests);
  object.number("recorded_tests", adapted.recorded_tests);
  object.number("tests", adapted.tests);
  object.number("gave_up", adapted.gave_up);
  object.number("threaded_ranks", adapted.threaded_ranks);
  object.truth("finished", replay.finished);
  object.number("calls_ended", replay.calls_ended);
  object.number("rows", replay.rows);
  object.number("left_out", replay.left_out);
  object.list("blocked_ranks", replay.blocked, [](RankId rank) { return std::to_string(rank.value); });
  return object.inner();
}

std::string trust_json(const WaitStateResults& states, const RunTrust& run) {
  Object object;
  object.text("model", states.network);
  add_run(object, run.run);
  object.number("ranks", states.ranks.size());
  return object.inner();
}

Object side_object(const Analysis& analysis) {
  Object side = wait_states_object(analysis.states);
  side.raw("wait_states", states_object(analysis.states.total));
  return side;
}

}  // namespace nplus1::hypothesis
