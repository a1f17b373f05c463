#include "analyses/patterns.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "analyses/trust.hpp"
#include "events/recording/reader.hpp"
#include "events/source/source_lines.hpp"
#include "events/statistics/pages.hpp"
#include "hypothesis/recorded/settings.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "patterns/counted.hpp"
#include "patterns/message_statistics.hpp"
#include "patterns/patterns_json.hpp"
#include "report/trust.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

namespace recording = events::recording;

/// The recording through the same sink that the simulator feeds.
PatternsSource from_recording(recording::Reader reader, const std::string& collectives) {
  PatternsSource source;
  const recording::Header& header = reader.header();
  const auto recorded = hypothesis::recorded_settings(header.properties);
  const auto selection = netmodel::Selection::parse(collectives.empty() ? recorded.collectives : collectives);
  const std::string& network_text = recorded.network;
  // A network that this build does not know charges nothing; the note says so.
  auto network = netmodel::parse(network_text);
  patterns::MessageStatistics statistics{static_cast<std::size_t>(header.ranks),
                                         network ? network.value().get() : nullptr,
                                         selection ? &selection.value() : nullptr};
  const recording::Coverage coverage = need(reader.read(statistics));
  source.patterns = statistics.patterns();
  source.patterns.application = recorded.application;
  source.patterns.network = network_text;
  if (!coverage.complete) source.note = "recording: " + coverage.text();
  if (!network && !network_text.empty())
    source.note += "; unknown network model: all time in blocking calls is waiting";
  return source;
}

/// With source lines, where the program is still the one that ran.
std::vector<patterns::SiteFrame> with_lines(const std::vector<patterns::SiteFrame>& frames,
                                            events::source::SourceLines& lines) {
  std::vector<patterns::SiteFrame> resolved;
  for (const patterns::SiteFrame& frame : frames) {
    const events::Frame asked{frame.module, {}, frame.offset, frame.function, frame.file, frame.line};
    for (const events::Frame& f : lines.resolve(asked))
      resolved.push_back({f.function, f.file, f.line, f.module, f.offset});
  }
  return resolved;
}

PatternsSource from_statistics(const fs::path& given) {
  const auto pages = need(events::statistics::read_pages(given));
  PatternsSource source{need(patterns::counted_patterns(pages)),
                        "times are real times of a run without simulation"};
  events::source::SourceLines lines;
  for (patterns::CallSiteUse& site : source.patterns.call_sites) site.frames = with_lines(site.frames, lines);
  std::uint64_t lost = 0;
  for (const auto& page : pages) lost += page.header.lost;
  if (lost > 0) source.note += fmt::format("; {} counts found no room, and are missing", lost);
  const std::size_t ranks = source.patterns.ranks();
  if (pages.size() < ranks)
    source.note += fmt::format("; only {} of {} ranks have left any", pages.size(), ranks);
  return source;
}

bool has_elements(const patterns::Patterns& patterns) {
  return patterns.layers.front().elements.has_value();
}

PatternsSource load(const std::string& path, bool details, const std::string& collectives) {
  const fs::path given{path};
  std::error_code error;
  if (!fs::exists(given, error)) {
    throw Stopped{{fmt::format("there is no {}", path),
                   "give the folder that nplus1 run made, or a recording", Fault::kInput}};
  }
  if (events::statistics::is_statistics(given)) return from_statistics(given);
  const bool is_json = given.extension() == ".json";
  if (!collectives.empty()) return from_recording(need(recording::Reader::open(given)), collectives);
  const fs::path file = is_json ? given : given / patterns::kPatternsFile;
  if (is_json || fs::exists(file, error)) {
    PatternsSource source{need(patterns::read_patterns(file)), {}};
    if (!details || has_elements(source.patterns)) return source;
    auto reader = recording::Reader::open(given);
    return reader.ok() ? from_recording(std::move(reader).value(), {}) : std::move(source);
  }
  return from_recording(need(recording::Reader::open(given)), {});
}

}  // namespace

Result<PatternsSource> load_patterns(const std::string& path, bool details, const std::string& collectives) {
  auto loaded = attempt([&] { return load(path, details, collectives); });
  if (!loaded) return loaded;
  PatternsSource source = std::move(loaded).value();
  const bool result = fs::path{path}.filename() == patterns::kPatternsFile;
  if (const auto run = run_trust(result ? fs::absolute(path).parent_path().string() : path).run)
    for (const std::string& doubt : report::doubts(*run))
      source.note += (source.note.empty() ? "the run: " : "\nthe run: ") + doubt;
  return source;
}

}  // namespace nplus1::analyses
