// `nplus1 waitstates`: where a recorded run waited, for whom, and why.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/wait_states.hpp"
#include "hypothesis/wait_states_report.hpp"
#include "netmodel/network_model.hpp"
#include "report/files.hpp"

namespace nplus1::cli {
namespace {

namespace recording = events::recording;

constexpr const char* kExamples =
    "  nplus1 waitstates nplus1-app-16-1            wait states, their causes, the critical path\n"
    "  nplus1 waitstates DIR --json waitstates.json  for other programs\n"
    "  nplus1 waitstates DIR --no-ideal              without the replay on an ideal network\n";

constexpr const char* kNothingShown = "nothing is shown";

struct Options {
  std::string source;
  std::string json;
  bool no_ideal = false;
};

template <class T>
T or_fail(Result<T> result, ExitCode code) {
  if (!result) throw Failure{code, result.error().what, kNothingShown, result.error().remedy};
  return std::move(result).value();
}

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
    static_cast<void>(or_fail(reader.read(sink), ExitCode::kNoInput));
    ideal = sink.time();
    if (!ideal) note = "Serialisation and transfer are not known: the run did not end on the ideal network.";
  }
  hypothesis::Efficiencies e = hypothesis::efficiencies(compute, results.virtual_time, ideal);
  e.note = note;
  return e;
}

hypothesis::WaitStateResults search(recording::Reader& reader, const Options& options) {
  const recording::Header& header = reader.header();
  const std::string network_text = property(header, "network");
  const auto network = netmodel::parse(network_text);
  hypothesis::WaitStates sink{static_cast<std::size_t>(header.ranks),
                              network ? network.value().get() : nullptr};
  const recording::Coverage coverage = or_fail(reader.read(sink), ExitCode::kNoInput);
  hypothesis::WaitStateResults results = sink.result();
  results.application = property(header, "application");
  results.network = network_text;
  if (!coverage.complete) results.coverage = coverage.text();
  results.efficiencies = efficiencies(reader, results, !options.no_ideal);
  return results;
}

int show(const Options& options) {
  recording::Reader reader = or_fail(recording::Reader::open(options.source), ExitCode::kNoInput);
  const hypothesis::WaitStateResults results = search(reader, options);
  if (!options.json.empty())
    or_fail(report::write_file(options.json, hypothesis::wait_states_json(results)), ExitCode::kCantCreate);
  fmt::print("{}", hypothesis::wait_states_text(results, {report::unicode_locale()}));
  if (!results.coverage.empty()) fmt::print("\nrecording: {}\n", results.coverage);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_waitstates(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "waitstates", "Show where a run waited, for whom, who caused it, and its critical path");
  set_manual(*verb, {"nplus1 waitstates DIR|RECORDING [options]", kExamples});
  const auto options = std::make_shared<Options>();
  verb->add_option("source", options->source, "Result folder of a run, or a recording")
      ->type_name("DIR|RECORDING")
      ->required();
  verb->add_option("--json", options->json, "Write everything to this file (replaces it)")->type_name("FILE");
  verb->add_flag("--no-ideal", options->no_ideal,
                 "Leave out the replay on an ideal network, and with it two of the efficiencies");
  verb->callback([registration, options] { registration.chosen = [options] { return show(*options); }; });
}

}  // namespace nplus1::cli
