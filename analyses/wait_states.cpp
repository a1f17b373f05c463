#include "analyses/wait_states.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyses/clock.hpp"
#include "analyses/replay.hpp"
#include "analyses/trust.hpp"
#include "hypothesis/recorded/settings.hpp"
#include "hypothesis/waitstates/report.hpp"
#include "hypothesis/waitstates/search.hpp"
#include "netmodel/network_model.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

namespace fs = std::filesystem;
namespace recording = events::recording;

constexpr std::string_view kBefore = ":before";

/// The ideal replay is a second reading: its engine's memory and that of the search are not there together.
hypothesis::Efficiencies efficiencies(recording::Reader& reader, const hypothesis::WaitStateResults& results,
                                      bool replay) {
  std::optional<Duration> ideal;
  std::string note;
  if (!replay) {
    note = "Serialisation and transfer need the replay on an ideal network, which was left out.";
  } else if (!results.coverage.empty()) {
    note = "Serialisation and transfer need a whole recording: this one lacks something.";
  } else {
    hypothesis::IdealReplay sink{results.ranks.size(),
                                 replay_storage({}, hypothesis::recorded_settings(reader.properties()))};
    static_cast<void>(need(reader.read(sink)));
    ideal = sink.time();
    if (!ideal) note = "Serialisation and transfer are not known: the run did not end on the ideal network.";
  }
  hypothesis::Efficiencies e =
      hypothesis::efficiencies(results.thread_computing, results.virtual_time, ideal);
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
  const auto recorded = hypothesis::recorded_settings(header.properties);
  const std::string& network_text = recorded.network;
  const auto network = netmodel::parse(network_text);
  hypothesis::WaitStates sink{static_cast<std::size_t>(header.ranks),
                              network ? network.value().get() : nullptr};
  const recording::Coverage coverage = need(reader.read(sink));
  hypothesis::WaitStateResults results = sink.result();
  results.application = recorded.application;
  results.network = network_text;
  if (!coverage.complete) results.coverage = coverage.text();
  results.efficiencies = efficiencies(reader, results, ideal);
  return results;
}

Result<WaitStateSearch> find_wait_states(const std::string& source, bool ideal) {
  return attempt([&] {
    recording::Reader reader = need(recording::Reader::open(with_warm_clock(source)));
    WaitStateSearch search{search_wait_states(reader, ideal), run_trust(source), {}};
    report::JsonObject document = hypothesis::wait_states_object(search.results);
    document.raw("trust", hypothesis::trust_json(search.results, search.run));
    add_interval(document, source);
    search.json = document.document();
    return search;
  });
}

Result<std::optional<hypothesis::Side>> read_side(const std::string& path) {
  std::string name = path;
  const bool before = name.ends_with(kBefore);
  if (before) name.resize(name.size() - kBefore.size());
  const fs::path file = fs::is_directory(name) ? fs::path{name} / "whatif.json" : fs::path{name};
  if (file.extension() != ".json") return std::optional<hypothesis::Side>{};
  std::ifstream in{file};
  if (!in) return std::optional<hypothesis::Side>{};
  const auto document = nlohmann::json::parse(in, nullptr, false);
  if (document.is_discarded())
    return Error{file.string() + " is no JSON", "it may have been cut: write it again", Fault::kInput};
  const auto text = side_of(document, before);
  if (!text) return std::optional<hypothesis::Side>{};
  auto side = hypothesis::parse_side(*text, file.string());
  if (!side) return side.error();
  return std::optional{std::move(side).value()};
}

Result<hypothesis::Side> load_side(const std::string& path) {
  return attempt([&] {
    if (auto side = need(read_side(path))) return std::move(*side);
    recording::Reader reader = need(recording::Reader::open(path));
    const hypothesis::WaitStateResults states = search_wait_states(reader, true);
    report::JsonObject document = hypothesis::wait_states_object(states);
    document.raw("trust", hypothesis::trust_json(states, run_trust(path)));
    return need(hypothesis::parse_side(document.document(), path));
  });
}

}  // namespace nplus1::analyses
