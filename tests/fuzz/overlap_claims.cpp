// A recording with accesses whose bytes are all sound, with claims of the fuzzer's: surveyed, and analysed for overlap; each
// variant is planned and replayed, and the results are written.
#include <array>
#include <filesystem>
#include <memory>

#include "events/recording/reader.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "hypothesis/replay/replay.hpp"
#include "hypothesis/transform/rank_order.hpp"
#include "overlap/efficiency.hpp"
#include "overlap/one_wait.hpp"
#include "overlap/phases.hpp"
#include "overlap/plan.hpp"
#include "overlap/rearrange.hpp"
#include "overlap/results.hpp"
#include "tests/fuzz/claimed_recording.hpp"

namespace nplus1::fuzz {
namespace {

using events::recording::Reader;
using hypothesis::transform::Chain;
using overlap::Variant;

constexpr std::array kNetworks = {"lsb:latency=1e-06,bandwidth=1e+09",
                                  "lsb:latency=1e-06,bandwidth=1e+09,eager=0"};

Result<hypothesis::transform::Done> play(const std::filesystem::path& recording, events::EventSink& sink) {
  auto reader = Reader::open(recording);
  if (!reader) return reader.error();
  const auto read = reader.value().read(sink);
  if (!read) return read.error();
  return hypothesis::transform::Done{};
}

void replay(const std::filesystem::path& recording, const std::shared_ptr<const overlap::Survey>& survey,
            overlap::Plan plan, std::uint8_t which) {
  const auto again = [&recording](events::EventSink& sink, bool) { return play(recording, sink); };
  auto chain = Chain::build({}, again, {});
  auto reader = Reader::open(recording);
  if (!chain || !reader || plan.empty()) return;
  if (!chain.value().add(overlap::rearranged(survey, std::make_shared<const overlap::Plan>(std::move(plan))),
                         again))
    return;
  const auto network = std::move(netmodel::parse(kNetworks[which % kNetworks.size()])).value();
  overlap::Efficiency efficiency{static_cast<std::size_t>(reader.value().header().ranks), *network};
  hypothesis::ReplayOptions options;
  options.network = network.get();
  options.hypothesis = &chain.value();
  options.decisions = hypothesis::Decisions::kAdapted;
  options.weak_progress = which % 4 < 2;
  options.sink = &efficiency;
  if (hypothesis::replay(reader.value(), options)) static_cast<void>(efficiency.result());
}

/// Whether the reader took it whole.
bool analyse(const std::filesystem::path& recording, std::uint8_t which) {
  const auto opened = Reader::open(recording);
  if (!opened) return false;
  auto survey = std::make_shared<overlap::Survey>(static_cast<std::size_t>(opened.value().header().ranks));
  hypothesis::transform::RankOrder order;
  order.begin(*survey);
  if (!play(recording, order)) return false;
  order.finish();
  const overlap::Analysis analysis = overlap::analyse(*survey);
  overlap::Results results;
  results.ranks = survey->ranks().size();
  results.accesses = true;
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < analysis.chains.size(); ++c) {
    all.push_back(c);
    overlap::ChainFinding& found = results.chains.emplace_back();
    found.chain = c;
    found.parts = overlap::with_parts(analysis, c);
    found.one_wait = overlap::one_wait_of(*survey, analysis, found.parts);
  }
  constexpr std::array kAll = {Variant::kGrouped, Variant::kMerged, Variant::kPerRequest, Variant::kOneWait};
  replay(recording, survey, overlap::plan_of(*survey, analysis, all, kAll[which / 4 % kAll.size()]), which);
  replay(recording, survey, overlap::waited_at_once(*survey), which);
  static_cast<void>(overlap::overlap_json(results, *survey, analysis));
  static_cast<void>(overlap::overlap_text(results, *survey, analysis));
  overlap::PhaseSums sums{*survey};
  if (play(recording, sums)) static_cast<void>(sums.phases());
  return true;
}

}  // namespace

bool run(Input input) {
  Choices choices{input};
  const std::uint8_t which = choices.byte();
  const auto ranks =
      static_cast<std::int32_t>(choices.once_in(200) ? 1 + choices.below(20'000) : 1 + choices.below(6));
  const events::recording::ScratchFolder folder{in_memory()};
  const std::filesystem::path recording = folder.path() / "recording";
  write_claims(recording, choices, ranks, 400, Accesses::kSome);
  return analyse(recording, which);
}

std::vector<std::string> seeds() {
  return seeds_of_claims(2500);
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz
