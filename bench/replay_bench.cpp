// Events per second of `nplus1 replay`, reading included, on one core: a ring of irecv, isend, waitall with
// some compute between, recorded first. ring/RANKS/NETWORK: 0 the recorded one, 1 another (decisions
// repeated), 2 LogGOPS.
#include <benchmark/benchmark.h>

#include "bench/recorded_ring.hpp"
#include "hypothesis/replay/replay.hpp"

namespace nplus1::hypothesis {
namespace {

constexpr std::uint64_t kEvents = 2'000'000;
constexpr const char* kNetworks[] = {"lsb:latency=1e-6,bandwidth=1e10", "lsb:latency=5e-6,bandwidth=1e9",
                                     "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-10"};

void ring(benchmark::State& state) {
  const events::recording::ScratchFolder folder;
  bench::record_ring(folder.path() / "recording", static_cast<int>(state.range(0)), kEvents, kNetworks[0]);
  const auto network = netmodel::parse(kNetworks[state.range(1)]);
  ReplayOptions options;
  options.network = network.value().get();
  options.decisions = state.range(1) == 0 ? Decisions::kSimulated : Decisions::kRecorded;
  std::uint64_t events = 0;
  double error = 0;
  for (auto _ : state) {
    auto reader = events::recording::Reader::open(folder.path() / "recording");
    const auto result = replay(reader.value(), options);
    events += result.value().coverage.events;
    error = seconds(result.value().largest_difference());
  }
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  if (state.range(1) == 0) state.counters["identity_error_s"] = error;
}
BENCHMARK(ring)->ArgsProduct({{16, 256, 1024}, {0, 1, 2}})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nplus1::hypothesis
