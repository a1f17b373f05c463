#include "analyses/clock.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analyses/replay.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/clock/warm_clock.hpp"
#include "hypothesis/transform/chain.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
using hypothesis::clock::Stretches;

std::shared_ptr<Stretches> fitted_stretches(const std::string& source) {
  const auto reader = need(events::recording::Reader::open(source));
  auto stretches = std::make_shared<Stretches>(need(hypothesis::clock::samples_of(reader.properties())));
  hypothesis::transform::Chain chain;
  need(chain.add(std::make_unique<hypothesis::clock::WarmClock>(stretches, Stretches::Estimate::kBest),
                 play_recording(source)));
  return stretches;
}

std::string clock_beside(const std::string& source) {
  const fs::path path = fs::weakly_canonical(source);
  std::error_code error;
  if (fs::exists(path / kClockFile, error)) return (path / kClockFile).string();
  for (const fs::path& folder : {path, path.parent_path()})  // DIR/warm, DIR/warm/recording
    if (folder.filename() == kWarmFolder && fs::exists(folder.parent_path() / kClockFile, error))
      return (folder.parent_path() / kClockFile).string();
  return {};
}

void add_interval(report::JsonObject& document, const std::string& source) {
  std::ifstream in{clock_beside(source)};
  const auto clock = nlohmann::json::parse(in, nullptr, false);
  const auto tells = [&](const char* key) { return clock.contains(key) && clock[key].is_number(); };
  if (!clock.is_object() || !tells("lowest_s") || !tells("from_s") || !tells("to_s") || !tells("measured_s"))
    return;
  nlohmann::ordered_json interval;
  interval["lowest_s"] = clock["lowest_s"];
  interval["from_s"] = clock["from_s"];
  interval["to_s"] = clock["to_s"];
  interval["highest_s"] = clock["measured_s"];
  interval["share"] = kShareOfInterval;
  document.raw("virtual_time_interval", interval.dump());
}

std::string with_warm_clock(const std::string& source) {
  const auto warm = std::filesystem::path{source} / kWarmFolder;
  std::error_code error;
  return std::filesystem::exists(warm / "recording", error) ? warm.string() : source;
}

}  // namespace nplus1::analyses
