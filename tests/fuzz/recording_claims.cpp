// A recording whose bytes are all sound, with claims of the fuzzer's: read, and given to every analysis. What the reader
// lets through must hurt none of them.
#include <filesystem>

#include "detector/findings.hpp"
#include "detector/paper_method.hpp"
#include "detector/transfers.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "hypothesis/replay/replay.hpp"
#include "hypothesis/waitstates/report.hpp"
#include "hypothesis/waitstates/search.hpp"
#include "patterns/message_statistics.hpp"
#include "patterns/patterns_json.hpp"
#include "patterns/timeline.hpp"
#include "tests/fuzz/claimed_recording.hpp"

namespace nplus1::fuzz {
namespace {

using events::recording::Reader;

/// Whether the analysis took it whole.
bool analyse(const std::filesystem::path& recording, std::uint8_t which) {
  Result<Reader> reader = Reader::open(recording);
  if (!reader) return false;
  const auto ranks = reader.value().header().ranks;
  static const auto network = std::move(netmodel::parse("lsb:latency=1e-06,bandwidth=1e+09").value());
  static const netmodel::Selection selection;
  if (which % 4 == 0) {
    patterns::MessageStatistics statistics{static_cast<std::size_t>(ranks), network.get(), &selection};
    if (!reader.value().read(statistics)) return false;
    static_cast<void>(patterns::patterns_json(statistics.patterns()));
    patterns::Timeline timeline{static_cast<std::size_t>(ranks), {.intervals = which % 8 < 4 ? 20U : 2000U}};
    if (!reader.value().read(timeline)) return false;
    static_cast<void>(timeline.json());
    return true;
  }
  if (which % 4 == 1) {
    detector::TransferCollector collector{ranks, 0};
    const bool whole = reader.value().read(collector).ok();
    const detector::Transfers transfers = collector.take();
    const auto findings = which % 8 < 4
                              ? detector::find_collectives(transfers, collector, detector::Keep::kFirst)
                              : detector::find_as_in_paper(transfers, collector);
    static_cast<void>(detector::collectives_text(findings));
    return whole;
  }
  if (which % 4 == 2) {
    hypothesis::WaitStates states{static_cast<std::size_t>(ranks), network.get()};
    const bool whole = reader.value().read(states).ok();
    static_cast<void>(hypothesis::wait_states_json(states.result()));
    return whole;
  }
  hypothesis::ReplayOptions options;
  options.network = network.get();
  options.decisions = static_cast<hypothesis::Decisions>(which / 4 % 3);
  return hypothesis::replay(reader.value(), options).ok();
}

}  // namespace

bool run(Input input) {
  Choices choices{input};
  const std::uint8_t which = choices.byte();
  const auto ranks =
      static_cast<std::int32_t>(choices.once_in(200) ? 1 + choices.below(200'000) : 1 + choices.below(8));
  const events::recording::ScratchFolder folder{in_memory()};
  const std::filesystem::path recording = folder.path() / "recording";
  write_claims(recording, choices, ranks, 300, Accesses::kNone);
  return analyse(recording, which);
}

std::vector<std::string> seeds() {
  return seeds_of_claims(1500);
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz
