#include "analyses/trust.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "events/recording/reader.hpp"
#include "hypothesis/recorded/settings.hpp"
#include "report/trust.hpp"

namespace nplus1::analyses {
namespace {

namespace fs = std::filesystem;

nlohmann::json document(const fs::path& file) {
  std::ifstream in{file};
  return in ? nlohmann::json::parse(in, nullptr, false) : nlohmann::json{};
}

std::uint64_t count(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

/// What `nplus1 replay --reenact` has left in a run's folder.
std::optional<double> reenactment_deviation(const fs::path& folder) {
  const nlohmann::json found = document(folder / "reenact.json");
  if (!found.is_object() || !found.contains("deviation_percent") || !found["deviation_percent"].is_number())
    return std::nullopt;
  return found["deviation_percent"].get<double>() / 100;
}

/// Whether the run whose summary is in `folder` recorded what `source` names: the folder, the recording's folder
/// in it, or its file.
bool is_of(const nlohmann::json& summary, const fs::path& folder, const fs::path& source) {
  std::error_code error;
  if (fs::equivalent(folder, source, error)) return true;
  const auto recording = summary.find("recording");
  if (recording == summary.end() || !recording->is_object()) return false;
  const auto path = recording->find("path");
  if (path == recording->end() || !path->is_string()) return false;
  const fs::path recorded = folder / path->get<std::string>();
  return fs::equivalent(recorded, source, error) || fs::equivalent(recorded, source.parent_path(), error);
}

report::Trust trust_in(const nlohmann::json& said) {
  report::Trust trust;
  trust.active_ranks = count(said, "active_ranks");
  trust.events = count(said, "events");
  trust.clock_mismatches = count(said, "clock_mismatches");
  trust.order_inversions = count(said, "order_inversions");
  trust.forced_decisions = count(said, "forced_decisions");
  trust.cores = static_cast<std::uint32_t>(count(said, "cores"));
  const auto buffering = said.find("relies_on_buffering");
  trust.relies_on_buffering = buffering != said.end() && buffering->is_boolean() && buffering->get<bool>();
  return trust;
}

}  // namespace

hypothesis::RunTrust run_trust(const std::string& source) {
  hypothesis::RunTrust trust;
  if (const auto reader = events::recording::Reader::open(source)) {
    const auto recorded = hypothesis::recorded_settings(reader.value().properties());
    if (recorded.given_compute()) trust.compute = recorded.compute;
  }
  std::error_code error;
  const fs::path given = fs::absolute(source, error).lexically_normal();
  fs::path folder = given.has_filename() ? given : given.parent_path();
  constexpr int kLevels = 3;  // the file, its folder, the result folder
  for (int level = 0; level < kLevels; ++level, folder = folder.parent_path()) {
    const nlohmann::json summary = document(folder / "summary.json");
    if (!summary.is_object() || !summary.contains("trust") || !summary["trust"].is_object()) continue;
    if (!is_of(summary, folder, given)) continue;
    trust.run = trust_in(summary["trust"]);
    trust.reenactment_deviation = reenactment_deviation(folder);
    break;
  }
  return trust;
}

std::string run_trust_text(const hypothesis::RunTrust& trust, const std::string& label) {
  if (trust.run) return report::doubts_text(*trust.run, label);
  return label + "how far it can be believed is not known: its summary.json is not beside the recording\n";
}

}  // namespace nplus1::analyses
