#include "analyses/replay.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "analyses/trust.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using events::recording::Reader;
using hypothesis::Axis;
using hypothesis::Decisions;
using hypothesis::Point;
using hypothesis::PointResult;

netmodel::Selection collectives_of(const std::string& text) {
  auto selection = netmodel::Selection::parse(text);
  if (!selection)
    throw Stopped{{"--collectives: " + selection.error().what, selection.error().remedy, Fault::kUsage}};
  return std::move(selection).value();
}

/// One replay, in a process of its own: with a reader of its own, too.
Result<PointResult> replay_point(const ReplaySettings& settings, const Sweep& sweep, const Point& point) {
  ReplaySettings here = settings;
  here.network = hypothesis::network_at(sweep.network, sweep.axes, point);
  here.compute_scale = hypothesis::compute_scale_at(sweep.axes, point, settings.compute_scale);
  auto reader = need(Reader::open(settings.source));
  const auto prepared = prepare_replay(here, sweep.recorded, reader.header().ranks);
  return hypothesis::point_of(need(hypothesis::replay(reader, prepared->options)));
}

}  // namespace

std::size_t jobs_of(const ReplaySettings& settings) {
  return settings.jobs > 0 ? settings.jobs : std::max(1U, std::thread::hardware_concurrency());
}

std::unique_ptr<PreparedReplay> prepare_replay(const ReplaySettings& settings,
                                               const hypothesis::RecordedSettings& recorded, int ranks) {
  auto prepared = std::make_unique<PreparedReplay>();
  prepared->network = replay_network(settings, recorded, ranks);
  prepared->collectives =
      collectives_of(settings.collectives.empty() ? recorded.collectives : settings.collectives);
  const auto algorithms = netmodel::Selection::parse(recorded.collectives);
  const netmodel::StorageModel storage = replay_storage(settings, recorded);
  const auto recorded_storage = netmodel::parse_storage(recorded.storage);
  prepared->identity = settings.compute_scale == 1 && settings.platform.host_speed.empty() && algorithms &&
                       recorded_storage && recorded_storage.value() == storage &&
                       recorded.network == prepared->network->describe() &&
                       algorithms.value() == prepared->collectives;
  hypothesis::ReplayOptions& options = prepared->options;
  options.network = prepared->network.get();
  options.collectives = &prepared->collectives;
  options.storage = storage;
  options.compute_scale = settings.compute_scale;
  options.most_rows = settings.most_rows;
  options.poll_cost = recorded.poll_cost;
  options.decisions =
      settings.decisions.value_or(prepared->identity ? Decisions::kSimulated : Decisions::kRecorded);
  return prepared;
}

Result<Replayed> replay(const ReplaySettings& settings, const std::optional<ReplayFolder>& folder) {
  return attempt([&] {
    Reader reader = need(Reader::open(settings.source));
    Replayed replayed;
    replayed.recorded = hypothesis::recorded_settings(reader.properties());
    const auto prepared = prepare_replay(settings, replayed.recorded, reader.header().ranks);
    replayed.network = prepared->network->describe();
    replayed.decisions = prepared->options.decisions;
    replayed.identity = prepared->identity;
    replayed.result = folder ? replay_into_folder(settings, *folder, replayed.recorded, *prepared, reader)
                             : need(hypothesis::replay(reader, prepared->options));
    replayed.run = run_trust(settings.source);
    return replayed;
  });
}

Result<Sweep> sweep(const ReplaySettings& settings, const std::string& axes, const Progress& progress) {
  return attempt([&] {
    const Reader reader = need(Reader::open(settings.source));
    Sweep sweep;
    sweep.recorded = hypothesis::recorded_settings(reader.properties());
    sweep.network = prepare_replay(settings, sweep.recorded, reader.header().ranks)->network->describe();
    sweep.axes = need(hypothesis::parse_sweep(axes, sweep.network), Fault::kUsage);
    sweep.points = hypothesis::points_of(sweep.axes);
    for (const Point& point : sweep.points)
      need(netmodel::parse(hypothesis::network_at(sweep.network, sweep.axes, point)), Fault::kUsage);
    const std::size_t all = sweep.points.size();
    sweep.results = need(hypothesis::run_points(
        all, jobs_of(settings), [&](std::size_t i) { return replay_point(settings, sweep, sweep.points[i]); },
        [&](std::size_t done) {
          if (progress) progress(done, all);
        }));
    sweep.run = run_trust(settings.source);
    return sweep;
  });
}

hypothesis::transform::Play play_recording(const std::string& source, std::uint64_t most_rows) {
  return [source, most_rows](events::EventSink& sink,
                             bool definitions_only) -> Result<hypothesis::transform::Done> {
    auto reader = Reader::open(source);
    if (!reader) return reader.error();
    return play_recording(std::make_shared<Reader>(std::move(reader).value()), most_rows)(sink,
                                                                                          definitions_only);
  };
}

hypothesis::transform::Play play_recording(std::shared_ptr<Reader> recording, std::uint64_t most_rows) {
  return [recording = std::move(recording), most_rows](
             events::EventSink& sink, bool definitions_only) -> Result<hypothesis::transform::Done> {
    events::recording::Selection selection;
    selection.events = !definitions_only;
    if (!definitions_only) selection.most_rows = most_rows;
    const auto read = recording->read(sink, selection);
    if (!read) return read.error();
    return hypothesis::transform::Done{};
  };
}

}  // namespace nplus1::analyses
