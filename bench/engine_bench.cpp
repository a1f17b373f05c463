// How many operations per second the engine carries out from memory, with L+s/B and full MPI semantics, on
// one core. An operation is an isend and an irecv with their share of the compute before and of the waitall
// after. Counters: ops per second, and what the heap grew by between the first quarter of the stream and its
// end: flat memory shows as zero. Run: engine_bench --benchmark_counters_tabular=true
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bench/pattern.hpp"
#include "netmodel/simgrid/load.hpp"
#include "simnode/engine/replay.hpp"

namespace nplus1::simnode::engine {
namespace {

using bench::halo;
using bench::Pattern;
using bench::random_pairs;
using bench::ring;

class Counting : public Listener {
 public:
  void on_exit(const events::TimedEvent& event) override { last_ = std::max(last_, event.exit); }
  void on_match(RankId, const events::Answer&) override {}
  [[nodiscard]] Time last() const { return last_; }

 private:
  Time last_{};
};

/// A flat cluster as large as the world. SimGrid has one network per process: run one SimGrid benchmark at a
/// time, e.g. --benchmark_filter=halo_exchange_simgrid/64.
const netmodel::NetworkModel& cluster(int ranks) {
  static std::unique_ptr<netmodel::NetworkModel> network;
  if (network) return *network;
  netmodel::PlatformOptions options;
  options.file = "/tmp/nplus1_engine_bench_" + std::to_string(getpid()) + ".xml";
  options.ranks = ranks;
  std::ofstream{options.file}
      << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-"
      << ranks - 1
      << "\" speed=\"10Gf\" bw=\"1.25GBps\" lat=\"24us\" loopback_bw=\"5GBps\" "
         "loopback_lat=\"0.5us\"/></platform>\n";
  network = std::move(netmodel::load_platform(options).value());
  std::remove(options.file.c_str());
  return *network;
}

void run(benchmark::State& state, std::vector<Pattern::Peers> (*pattern)(int),
         const netmodel::NetworkModel& network, std::size_t messages) {
  const auto ranks = static_cast<int>(state.range(0));
  const std::vector<Pattern::Peers> peers = pattern(ranks);
  std::size_t per_step = 0;
  for (const Pattern::Peers& p : peers) per_step += p.destinations.size();
  const int steps = static_cast<int>(std::max<std::size_t>(4, messages / per_step));
  Options options;
  options.trust_entry = false;
  std::int64_t grown = 0;
  for (auto unused : state) {
    (void)unused;
    Counting listener;
    Pattern streams{peers, steps};
    Engine engine{ranks, network, listener, options};
    benchmark::DoNotOptimize(replay(engine, ranks, streams));
    benchmark::DoNotOptimize(listener.last());
    grown = static_cast<std::int64_t>(mallinfo2().uordblks) -
            static_cast<std::int64_t>(streams.heap_after_a_quarter);
  }
  const auto ops = static_cast<double>(per_step) * steps * static_cast<double>(state.iterations());
  state.counters["ops"] = benchmark::Counter(ops, benchmark::Counter::kIsRate);
  state.counters["heap_growth_per_rank"] = static_cast<double>(grown) / ranks;
}

void on_lsb(benchmark::State& state, std::vector<Pattern::Peers> (*pattern)(int)) {
  const auto network = std::move(netmodel::parse("lsb:latency=1e-06,bandwidth=1e+10").value());
  run(state, pattern, *network, 2'000'000);
}
void on_simgrid(benchmark::State& state, std::vector<Pattern::Peers> (*pattern)(int)) {
  run(state, pattern, cluster(static_cast<int>(state.range(0))), 100'000);
}

void halo_exchange(benchmark::State& state) {
  on_lsb(state, halo);
}
void ring_shift(benchmark::State& state) {
  on_lsb(state, ring);
}
void random_pairing(benchmark::State& state) {
  on_lsb(state, random_pairs);
}
void halo_exchange_simgrid(benchmark::State& state) {
  on_simgrid(state, halo);
}
void ring_shift_simgrid(benchmark::State& state) {
  on_simgrid(state, ring);
}
BENCHMARK(halo_exchange_simgrid)
    ->RangeMultiplier(4)
    ->Range(16, 1024)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK(ring_shift_simgrid)
    ->RangeMultiplier(4)
    ->Range(16, 1024)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

BENCHMARK(halo_exchange)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_shift)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);
BENCHMARK(random_pairing)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nplus1::simnode::engine
