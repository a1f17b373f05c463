// Events per second of a side of `nplus1 whatif` on one core: reading, transformations, replay, wait states
// with critical path and delays, ideal replay. analyse/RANKS/HYPOTHESIS: 0 none, 1 computing scaled, 2 also
// messages resized (a survey pairs all of them first). Memory: the most that was in use, file and recording
// aside.
#include <benchmark/benchmark.h>

#include "bench/recorded_ring.hpp"
#include "hypothesis/transform/chain.hpp"
#include "hypothesis/whatif/analysis.hpp"

namespace nplus1::hypothesis {
namespace {

constexpr std::uint64_t kEvents = 10'000'000;
constexpr const char* kNetwork = "lsb:latency=1e-6,bandwidth=1e10";

std::vector<transform::Step> steps(std::int64_t hypothesis) {
  std::vector<transform::Step> all;
  if (hypothesis > 0) all.push_back(transform::parse_step("scale", "factor=0.5", "").value());
  if (hypothesis > 1) all.push_back(transform::parse_step("resize", "factor=2", "").value());
  return all;
}

void analyse_ring(benchmark::State& state) {
  const events::recording::ScratchFolder folder;
  const auto recording = folder.path() / "recording";
  bench::record_ring(recording, static_cast<int>(state.range(0)), kEvents, kNetwork);
  const auto network = netmodel::parse(kNetwork);
  const transform::Play play = [&](events::EventSink& sink, bool) -> Result<transform::Done> {
    auto reader = events::recording::Reader::open(recording);
    const auto read = reader.value().read(sink);
    return transform::Done{};
  };
  std::uint64_t events = 0;
  for (auto _ : state) {
    auto chain = transform::Chain::build(steps(state.range(1)), play);
    auto reader = events::recording::Reader::open(recording);
    AnalysisOptions options;
    options.replay.network = network.value().get();
    options.replay.hypothesis = &chain.value();
    const auto analysis = analyse(reader.value(), options);
    events += analysis.value().replay.coverage.events;
  }
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK(analyse_ring)->ArgsProduct({{16, 1024}, {0, 1, 2}})->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace nplus1::hypothesis
