// How many events per second the patterns are counted at, on one core: sends with their receives and waits,
// as in a halo exchange with four neighbours, and all ranks with random partners (the worst for caches).
// Counter: events per second. Run: patterns_bench --benchmark_counters_tabular=true
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "patterns/message_statistics.hpp"

namespace nplus1::patterns {
namespace {

using events::Event;
using events::EventKind;

struct Call {
  RankId rank;
  Event event;
  Time exit;
};

/// One step of every rank: 4 irecv, 4 isend, waitall; 3 us of computing before.
std::vector<Call> stream(std::int32_t ranks, bool random, int steps) {
  std::mt19937 generator{7};
  std::vector<Call> calls;
  std::int64_t now = 0;
  const auto add = [&](std::int32_t rank, EventKind kind, std::int32_t peer, std::uint32_t site) {
    Event event;
    event.kind = kind;
    event.peer = peer;
    event.site = CallSiteId{site};
    event.call = static_cast<std::uint16_t>(site + 1);
    event.size = kind == EventKind::kIsend ? 8192 + 8 * (peer % 3) : 0;
    event.entry_ps = now;
    event.compute_ps = kind == EventKind::kIrecv ? 750'000 : 0;
    calls.push_back({RankId{rank}, event, Time{Duration{now + (kind == EventKind::kWait ? 2'000'000 : 0)}}});
  };
  for (int step = 0; step < steps; ++step, now += 5'000'000) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      for (std::int32_t n = 0; n < 8; ++n) {
        const std::int32_t near = (rank + (n % 2 == 0 ? 1 : ranks - 1) * (n % 4 < 2 ? 1 : 8)) % ranks;
        const auto far = static_cast<std::int32_t>(generator() % static_cast<unsigned>(ranks));
        add(rank, n < 4 ? EventKind::kIrecv : EventKind::kIsend, random ? far : near,
            static_cast<std::uint32_t>(n));
      }
      add(rank, EventKind::kWait, 0, 9);
    }
  }
  return calls;
}

void count(benchmark::State& state, bool random) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  const auto calls = stream(ranks, random, 4'000'000 / (9 * ranks) / 4 + 1);
  for (auto _ : state) {
    MessageStatistics statistics{static_cast<std::size_t>(ranks)};
    for (const Call& call : calls) statistics.on_event({call.rank, call.event, {}, call.exit});
    benchmark::DoNotOptimize(statistics);
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(calls.size()), benchmark::Counter::kIsIterationInvariantRate);
}

void halo(benchmark::State& state) {
  count(state, false);
}
void random_partners(benchmark::State& state) {
  count(state, true);
}

BENCHMARK(halo)->Arg(64)->Arg(1024)->Arg(16384)->Unit(benchmark::kMillisecond)->MinTime(0.3);
BENCHMARK(random_partners)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond)->MinTime(0.3);

}  // namespace
}  // namespace nplus1::patterns
