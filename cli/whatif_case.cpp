// One replay of `nplus1 whatif`, with its transformations.
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "cli/failure.hpp"
#include "cli/output_folder.hpp"
#include "cli/overlap.hpp"
#include "cli/patterns_source.hpp"
#include "cli/whatif.hpp"
#include "events/definitions_collector.hpp"
#include "hypothesis/clock/warm_clock.hpp"
#include "overlap/rearrange.hpp"
#include "patterns/patterns_json.hpp"
#include "report/files.hpp"

namespace nplus1::cli {
namespace {

namespace fs = std::filesystem;
using events::recording::Reader;
using hypothesis::Analysis;
using hypothesis::ReplayResult;
using hypothesis::transform::Chain;

/// Opens the recording, prepares the network, and calls `use(reader, options, recorded, prepared)`.
template <class Value, class Use>
Result<Value> with_replay(const WhatIfCase& c, Chain& chain, const Use& use) try {
  auto reader = Reader::open(c.replay.source);
  if (!reader) return reader.error();
  const auto recorded = hypothesis::recorded_settings(reader.value().properties());
  const auto prepared = prepare_replay(c.replay, recorded, reader.value().header().ranks);
  hypothesis::ReplayOptions options = prepared->options;
  options.hypothesis = &chain;
  options.decisions = c.deterministic ? hypothesis::Decisions::kRecorded : hypothesis::Decisions::kAdapted;
  return use(reader.value(), options, recorded, *prepared);
} catch (const Failure& failure) {
  return Error{failure.what(), failure.next()};
}

Result<std::uint32_t> free_communicator(const hypothesis::transform::Play& play) {
  events::DefinitionsCollector names;
  if (const auto played = play(names, true); !played) return played.error();
  return names.communicators().empty() ? 1 : names.communicators().rbegin()->first.value + 1;
}

/// Chains of `nplus1 overlap`, made non-blocking. They are known by their calls in the recording as it is, so nothing
/// may have changed before.
Result<hypothesis::transform::Done> defer_chains(const WhatIfCase& c, const Reader& reader,
                                                 const hypothesis::transform::Play& play, Chain& chain) {
  if (!c.steps.empty() || !c.by_hand.empty())
    return Error{"--overlap is about the recording as it is, and other changes are asked for too",
                 "try --overlap without them"};
  if (!has_accesses(reader))
    return Error{c.replay.source + " has no accesses to memory", "nplus1 run --record-accesses records them"};
  std::shared_ptr<const OverlapSource> source = c.overlap_source;
  if (!source) {
    auto surveyed = survey_overlap(c.replay.source);
    if (!surveyed) return surveyed.error();
    source = std::make_shared<OverlapSource>(std::move(surveyed).value());
  }
  auto plan = plan_of_chains(*source, c.overlap);
  if (!plan) return plan.error();
  return chain.add(
      overlap::rearranged(source->survey, std::make_shared<overlap::Plan>(std::move(plan).value())), play);
}

}  // namespace

hypothesis::transform::Play play_recording(const std::string& source) {
  return [source](events::EventSink& sink, bool definitions_only) -> Result<hypothesis::transform::Done> {
    auto reader = Reader::open(source);
    if (!reader) return reader.error();
    events::recording::Selection selection;
    selection.events = !definitions_only;
    const auto read = reader.value().read(sink, selection);
    if (!read) return read.error();
    return hypothesis::transform::Done{};
  };
}

Result<Chain> build_chain(const WhatIfCase& c) {
  const auto play = play_recording(c.replay.source);
  const auto reader = Reader::open(c.replay.source);
  if (!reader) return reader.error();
  const auto recorded = hypothesis::recorded_settings(reader.value().properties());
  std::unique_ptr<hypothesis::transform::Transform> clock;
  if (c.clock) {
    c.clock->replicate(c.replicate);
    clock = std::make_unique<hypothesis::clock::WarmClock>(c.clock,
                                                           hypothesis::clock::Stretches::Estimate::kBest);
  }
  auto chain = Chain::build(c.steps, play, recorded.call_interval, std::move(clock));
  if (!chain) return chain;
  if (!c.overlap.empty())
    if (const auto added = defer_chains(c, reader.value(), play, chain.value()); !added) return added.error();
  if (c.by_hand.empty()) return chain;
  const auto comm = free_communicator(play);
  if (!comm) return comm.error();
  const auto added =
      chain.value().add(hypothesis::transform::make_replacement(c.by_hand, comm.value()), play);
  if (!added) return added.error();
  return chain;
}

Result<Analysis> analyse_case(const WhatIfCase& c, Chain& chain, bool timeline) {
  return with_replay<Analysis>(
      c, chain,
      [&](Reader& reader, const hypothesis::ReplayOptions& options,
          const hypothesis::RecordedSettings& recorded, const PreparedReplay& prepared) {
        return hypothesis::analyse(reader,
                                   {options, recorded.application, prepared.network->describe(), timeline});
      });
}

Result<ReplayResult> replay_case(const WhatIfCase& c) {
  auto chain = build_chain(c);
  if (!chain) return chain.error();
  return replay_case(c, chain.value());
}

Result<ReplayResult> replay_case(const WhatIfCase& c, Chain& chain) {
  return with_replay<ReplayResult>(
      c, chain,
      [](Reader& reader, const hypothesis::ReplayOptions& options, const hypothesis::RecordedSettings&,
         const PreparedReplay&) { return hypothesis::replay(reader, options); });
}

void write_results(const ReplayWords& words, const char* file, const std::string& json,
                   report::html::Documents documents) {
  constexpr const char* kIncomplete = "the results are not complete";
  if (!words.json.empty()) or_fail(report::write_file(words.json, json), ExitCode::kCantCreate, kIncomplete);
  if (words.output.empty()) return;
  const PatternsSource source = load_patterns(words.source);
  const std::string patterns = patterns::patterns_json(source.patterns);
  documents.patterns = patterns;
  const OutputFolder folder = OutputFolder::at(words.output);
  or_fail(report::write_file(folder.path() / file, json), ExitCode::kCantCreate, kIncomplete);
  or_fail(report::html::write_report(folder.path() / report::html::kReportFile, source.patterns.application,
                                     documents),
          ExitCode::kCantCreate, kIncomplete);
}

void declare_results(CLI::App& verb, ReplayWords& words, const char* file) {
  verb.add_option("--jobs", words.jobs, "Replays at the same time [as many as cores]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  if (file != nullptr)
    verb.add_option("-o,--output", words.output, fmt::format("New folder for {} and report.html", file))
        ->type_name("DIR");
  verb.add_option("--json", words.json, "Write everything to this file (replaces it)")->type_name("FILE");
  verb.add_flag("-q,--quiet", words.quiet, "No progress on stderr");
}

std::size_t jobs_of(const ReplayWords& words) {
  return words.jobs > 0 ? static_cast<std::size_t>(words.jobs)
                        : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace nplus1::cli
