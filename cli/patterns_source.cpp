#include "cli/patterns_source.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "cli/failure.hpp"
#include "cli/trust.hpp"
#include "events/recording/reader.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "patterns/message_statistics.hpp"
#include "patterns/patterns_json.hpp"
#include "report/trust.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

namespace recording = events::recording;

std::string property(const recording::Header& header, const char* key) {
  const auto found = header.properties.find(key);
  return found == header.properties.end() ? std::string{} : found->second;
}

/// The recording through the same sink that the simulator feeds.
PatternsSource from_recording(recording::Reader reader, const std::string& collectives) {
  PatternsSource source;
  const recording::Header& header = reader.header();
  const auto selection =
      netmodel::Selection::parse(collectives.empty() ? property(header, "collectives") : collectives);
  const std::string network_text = property(header, "network");
  // A network that this build does not know charges nothing; the note says so.
  auto network = netmodel::parse(network_text);
  patterns::MessageStatistics statistics{static_cast<std::size_t>(header.ranks),
                                         network ? network.value().get() : nullptr,
                                         selection ? &selection.value() : nullptr};
  const recording::Coverage coverage = or_fail(reader.read(statistics), ExitCode::kNoInput, kNothingShown);
  source.patterns = statistics.patterns();
  source.patterns.application = property(header, "application");
  source.patterns.network = network_text;
  if (!coverage.complete) source.note = "recording: " + coverage.text();
  if (!network && !network_text.empty())
    source.note += "; unknown network model: all time in blocking calls is waiting";
  return source;
}

bool has_elements(const patterns::Patterns& patterns) {
  return patterns.layers.front().elements.has_value();
}

}  // namespace

namespace {

PatternsSource load(const std::string& path, bool details, const std::string& collectives) {
  const fs::path given{path};
  std::error_code error;
  if (!fs::exists(given, error)) {
    throw Failure{ExitCode::kNoInput, fmt::format("there is no {}", path), kNothingShown,
                  "give the folder that nplus1 run made, or a recording"};
  }
  const bool is_json = given.extension() == ".json";
  if (!collectives.empty())
    return from_recording(or_fail(recording::Reader::open(given), ExitCode::kNoInput, kNothingShown),
                          collectives);
  const fs::path file = is_json ? given : given / patterns::kPatternsFile;
  if (is_json || fs::exists(file, error)) {
    PatternsSource source{or_fail(patterns::read_patterns(file), ExitCode::kNoInput, kNothingShown), {}};
    if (!details || has_elements(source.patterns)) return source;
    auto reader = recording::Reader::open(given);
    return reader.ok() ? from_recording(std::move(reader).value(), {}) : std::move(source);
  }
  return from_recording(or_fail(recording::Reader::open(given), ExitCode::kNoInput, kNothingShown), {});
}

}  // namespace

PatternsSource load_patterns(const std::string& path, bool details, const std::string& collectives) {
  PatternsSource source = load(path, details, collectives);
  const bool result = fs::path{path}.filename() == patterns::kPatternsFile;
  if (const auto run = run_trust(result ? fs::absolute(path).parent_path().string() : path).run)
    for (const std::string& doubt : report::doubts(*run))
      source.note += (source.note.empty() ? "the run: " : "\nthe run: ") + doubt;
  return source;
}

}  // namespace nplus1::cli
