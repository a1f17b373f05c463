// One replay of a what-if, with its transformations.
#include "analyses/case.hpp"

#include <utility>

#include "analyses/overlap.hpp"
#include "events/definitions_collector.hpp"
#include "hypothesis/clock/warm_clock.hpp"
#include "hypothesis/transform/replace.hpp"
#include "overlap/rearrange.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using events::recording::Reader;
using hypothesis::Analysis;
using hypothesis::ReplayResult;
using hypothesis::transform::Chain;

/// The case's recording.
Result<std::shared_ptr<Reader>> opened(const Case& c) {
  if (c.recording) return c.recording;
  auto reader = Reader::open(c.replay.source);
  if (!reader) return reader.error();
  return std::make_shared<Reader>(std::move(reader).value());
}

/// Opens the recording, prepares the network, and calls `use(reader, options, recorded, prepared)`.
template <class Value, class Use>
Result<Value> with_replay(const Case& c, Chain& chain, const Use& use) try {
  const auto reader = opened(c);
  if (!reader) return reader.error();
  const auto recorded = hypothesis::recorded_settings(reader.value()->properties());
  const auto prepared = prepare_replay(c.replay, recorded, reader.value()->header().ranks);
  hypothesis::ReplayOptions options = prepared->options;
  options.hypothesis = &chain;
  options.decisions = c.deterministic ? hypothesis::Decisions::kRecorded : hypothesis::Decisions::kAdapted;
  return use(*reader.value(), options, recorded, *prepared);
} catch (const Stopped& stopped) {
  return stopped.error();
}

Result<std::uint32_t> free_communicator(const hypothesis::transform::Play& play) {
  events::DefinitionsCollector names;
  if (const auto played = play(names, true); !played) return played.error();
  return names.communicators().empty() ? 1 : names.communicators().rbegin()->first.value + 1;
}

/// Chains of `nplus1 overlap`, made non-blocking. They are known by their calls in the recording as it is, so nothing
/// may have changed before.
Result<hypothesis::transform::Done> defer_chains(const Case& c, const Reader& reader,
                                                 const hypothesis::transform::Play& play, Chain& chain) {
  if (!c.steps.empty() || !c.by_hand.empty())
    return Error{"--overlap is about the recording as it is, and other changes are asked for too",
                 "try --overlap without them"};
  if (!has_accesses(reader))
    return Error{c.replay.source + " has no accesses to memory", "nplus1 run --record-accesses records them"};
  std::shared_ptr<const OverlapSource> source = c.overlap_source;
  if (!source) {
    auto surveyed = survey_overlap(c.replay.source, c.replay.most_rows);
    if (!surveyed) return surveyed.error();
    source = std::make_shared<OverlapSource>(std::move(surveyed).value());
  }
  auto plan = plan_of_chains(*source, c.overlap);
  if (!plan) return plan.error();
  return chain.add(
      overlap::rearranged(source->survey, std::make_shared<overlap::Plan>(std::move(plan).value())), play);
}

}  // namespace

Result<Chain> build_chain(const Case& c) {
  const auto reader = opened(c);
  if (!reader) return reader.error();
  const auto play = play_recording(reader.value(), c.replay.most_rows);
  const auto recorded = hypothesis::recorded_settings(reader.value()->properties());
  std::unique_ptr<hypothesis::transform::Transform> clock;
  if (c.clock) {
    c.clock->replicate(c.replicate);
    clock = std::make_unique<hypothesis::clock::WarmClock>(c.clock, hypothesis::clock::Estimate::kBest);
  }
  auto chain = Chain::build(c.steps, play, recorded.call_interval, std::move(clock));
  if (!chain) return chain;
  if (!c.overlap.empty())
    if (const auto added = defer_chains(c, *reader.value(), play, chain.value()); !added)
      return added.error();
  if (c.by_hand.empty()) return chain;
  const auto comm = free_communicator(play);
  if (!comm) return comm.error();
  const auto added =
      chain.value().add(hypothesis::transform::make_replacement(c.by_hand, comm.value()), play);
  if (!added) return added.error();
  return chain;
}

Result<Analysis> analyse_case(const Case& c, Chain& chain, bool timeline) {
  return with_replay<Analysis>(
      c, chain,
      [&](Reader& reader, const hypothesis::ReplayOptions& options,
          const hypothesis::RecordedSettings& recorded, const PreparedReplay& prepared) {
        return hypothesis::analyse(reader,
                                   {options, recorded.application, prepared.network->describe(), timeline});
      });
}

Result<ReplayResult> replay_case(const Case& c) {
  auto chain = build_chain(c);
  if (!chain) return chain.error();
  return replay_case(c, chain.value());
}

Result<ReplayResult> replay_case(const Case& c, Chain& chain) {
  return with_replay<ReplayResult>(
      c, chain,
      [](Reader& reader, const hypothesis::ReplayOptions& options, const hypothesis::RecordedSettings&,
         const PreparedReplay&) { return hypothesis::replay(reader, options); });
}

Result<Side> side_of_case(const Case& c, Chain& chain, bool timeline) {
  auto analysis = analyse_case(c, chain, timeline);
  if (!analysis) return analysis.error();
  return Side{hypothesis::side_object(analysis.value()), hypothesis::replay_trust(analysis.value()),
              std::move(analysis.value().timeline)};
}

}  // namespace nplus1::analyses
