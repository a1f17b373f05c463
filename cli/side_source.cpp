#include "cli/side_source.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/failure.hpp"
#include "cli/trust.hpp"
#include "hypothesis/wait_states.hpp"
#include "hypothesis/wait_states_report.hpp"
#include "netmodel/network_model.hpp"

namespace nplus1::cli {
namespace {

namespace fs = std::filesystem;
namespace recording = events::recording;

constexpr std::string_view kBefore = ":before";

std::string property(const recording::Header& header, const char* key) {
  const auto found = header.properties.find(key);
  return found == header.properties.end() ? std::string{} : found->second;
}

/// The ideal replay is a second reading: its engine's memory and that of the search are not there together.
hypothesis::Efficiencies efficiencies(recording::Reader& reader, const hypothesis::WaitStateResults& results,
                                      bool replay) {
  std::vector<Duration> compute;
  for (const hypothesis::Tally& tally : results.ranks) compute.push_back(tally.computing);
  std::optional<Duration> ideal;
  std::string note;
  if (!replay) {
    note = "Serialisation and transfer need the replay on an ideal network, which was left out.";
  } else if (!results.coverage.empty()) {
    note = "Serialisation and transfer need a whole recording: this one lacks something.";
  } else {
    hypothesis::IdealReplay sink{compute.size()};
    static_cast<void>(or_fail(reader.read(sink), ExitCode::kNoInput, kNothingShown));
    ideal = sink.time();
    if (!ideal) note = "Serialisation and transfer are not known: the run did not end on the ideal network.";
  }
  hypothesis::Efficiencies e = hypothesis::efficiencies(compute, results.virtual_time, ideal);
  e.note = note;
  return e;
}

/// The document's side: itself, or one of the two of whatif.json.
std::optional<std::string> side_of(const nlohmann::json& document, bool before) {
  const bool named = document.is_object() && document.contains("schema") && document["schema"].is_string();
  const std::string schema = named ? document["schema"].get<std::string>() : "";
  if (schema.rfind("nplus1-waitstates/", 0) == 0) return document.dump();
  if (schema.rfind("nplus1-whatif", 0) != 0) return std::nullopt;
  const char* key = before || !document.contains("after") ? "before" : "after";
  return document.value(key, nlohmann::json::object()).dump();
}

}  // namespace

hypothesis::WaitStateResults search_wait_states(recording::Reader& reader, bool ideal) {
  const recording::Header& header = reader.header();
  const std::string network_text = property(header, "network");
  const auto network = netmodel::parse(network_text);
  hypothesis::WaitStates sink{static_cast<std::size_t>(header.ranks),
                              network ? network.value().get() : nullptr};
  const recording::Coverage coverage = or_fail(reader.read(sink), ExitCode::kNoInput, kNothingShown);
  hypothesis::WaitStateResults results = sink.result();
  results.application = property(header, "application");
  results.network = network_text;
  if (!coverage.complete) results.coverage = coverage.text();
  results.efficiencies = efficiencies(reader, results, ideal);
  return results;
}

std::optional<hypothesis::Side> read_side(const std::string& path) {
  std::string name = path;
  const bool before =
      name.size() > kBefore.size() && name.compare(name.size() - kBefore.size(), kBefore.npos, kBefore) == 0;
  if (before) name.resize(name.size() - kBefore.size());
  const fs::path file = fs::is_directory(name) ? fs::path{name} / "whatif.json" : fs::path{name};
  if (file.extension() != ".json") return std::nullopt;
  std::ifstream in{file};
  if (!in) return std::nullopt;
  const auto document = nlohmann::json::parse(in, nullptr, false);
  if (document.is_discarded())
    throw Failure{ExitCode::kNoInput, file.string() + " is no JSON", kNothingShown,
                  "it may have been cut: write it again"};
  const auto side = side_of(document, before);
  if (!side) return std::nullopt;
  return or_fail(hypothesis::parse_side(*side, file.string()), ExitCode::kNoInput, kNothingShown);
}

hypothesis::Side load_side(const std::string& path) {
  if (auto side = read_side(path)) return std::move(*side);
  recording::Reader reader = or_fail(recording::Reader::open(path), ExitCode::kNoInput, kNothingShown);
  const hypothesis::WaitStateResults states = search_wait_states(reader, true);
  return or_fail(
      hypothesis::parse_side(hypothesis::with_member(hypothesis::wait_states_json(states), "trust",
                                                     hypothesis::trust_json(states, run_trust(path))),
                             path),
      ExitCode::kNoInput, kNothingShown);
}

}  // namespace nplus1::cli
