// The result folder of a replay: what a run leaves, through the same code.
#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "analyses/output_folder.hpp"
#include "analyses/replay.hpp"
#include "analyses/trust.hpp"
#include "events/recording/writer.hpp"
#include "events/sink_list.hpp"
#include "patterns/message_statistics.hpp"
#include "patterns/observers.hpp"
#include "patterns/result_folder.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

using events::recording::Writer;
using hypothesis::ReplayResult;

constexpr const char* kRecordingFolder = "recording";

std::string compute_of(const PreparedReplay& prepared) {
  if (!prepared.compute.empty()) return prepared.compute;
  return prepared.options.compute_scale == 1
             ? std::string{"as recorded"}
             : fmt::format("as recorded, times {}", prepared.options.compute_scale);
}

std::unique_ptr<Writer> make_writer(const std::filesystem::path& folder, const PreparedReplay& prepared,
                                    const events::recording::Header& original) {
  events::recording::Header header = original;
  header.properties["network"] = prepared.network->describe();
  header.properties["storage"] = prepared.options.storage.describe();
  header.properties["collectives"] = prepared.collectives.describe();
  header.properties["compute"] = prepared.compute.empty()
                                     ? fmt::format("replayed, times {}", prepared.options.compute_scale)
                                     : "replayed, " + prepared.compute;
  header.properties.erase("warm-times");  // of the recorded clock
  return need(Writer::create(folder / kRecordingFolder, header), Fault::kOutput);
}

report::RunSummary summary(const patterns::MessageStatistics& statistics,
                           const hypothesis::RecordedSettings& recorded, const PreparedReplay& prepared,
                           const ReplayResult& result) {
  report::RunSummary s;
  statistics.fill(s);
  s.application = recorded.application;
  s.network = prepared.network->describe();
  s.storage = prepared.options.storage.describe();
  s.clock = recorded.clock.empty() ? "cpu" : recorded.clock;
  s.clock_reason = "as recorded";
  s.compute = compute_of(prepared);
  s.protocol = recorded.protocol.empty() ? "conservative" : recorded.protocol;
  s.transport = "replay";
  s.trust = hypothesis::trust_of(result);
  s.trust.cores = std::thread::hardware_concurrency();
  s.complete = result.state == simnode::engine::State::kFinished;
  if (!result.coverage.complete)
    s.notes.push_back("Replayed from a recording that is " + result.coverage.text());
  return s;
}

report::Recording recording_of(const Writer& writer) {
  report::Recording r;
  r.path = kRecordingFolder;
  r.bytes = r.expected_bytes = writer.bytes();
  r.events = writer.totals().events;
  r.dropped = writer.totals().dropped_events;
  return r;
}

}  // namespace

ReplayResult replay_into_folder(const ReplaySettings& settings, const ReplayFolder& wanted,
                                const hypothesis::RecordedSettings& recorded, PreparedReplay& prepared,
                                events::recording::Reader& reader) {
  const OutputFolder folder = need(OutputFolder::at(wanted.path));
  patterns::Observers observers{static_cast<std::size_t>(reader.header().ranks), prepared.network.get(),
                                &prepared.collectives};
  std::unique_ptr<Writer> writer;
  events::SinkList sinks;
  observers.add_to(sinks);
  if (wanted.record) sinks.add(*(writer = make_writer(folder.path(), prepared, reader.header())));
  prepared.options.sink = &sinks;
  prepared.options.watch_links = true;
  const auto begin = std::chrono::steady_clock::now();
  ReplayResult result = need(hypothesis::replay(reader, prepared.options));
  report::RunSummary s = summary(observers.statistics(), recorded, prepared, result);
  if (const std::string run = run_trust_text(run_trust(settings.source), "Of the recorded run: ");
      !run.empty())
    for (std::size_t at = 0; at < run.size(); at = run.find('\n', at) + 1)
      s.notes.push_back(run.substr(at, run.find('\n', at) - at));
  s.wall_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (writer) {
    if (const auto trouble = writer->close())
      s.notes.push_back(fmt::format("The recording is not complete: {}; {}", trouble->what, trouble->remedy));
    s.recording = recording_of(*writer);
  }
  if (wanted.complete) wanted.complete(result, s);
  need(patterns::write_result_folder(folder.path(), s,
                                     observers.observed(s.application, s.network, std::move(result.links))),
       Fault::kOutput);
  return result;
}

}  // namespace nplus1::analyses
