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

// ---- how the work grows with what is outstanding ---------------------------------------------------------
// Two ranks; range(0) messages, receives or communicators at once. "each" is nanoseconds for one of them: flat where
// the work is proportional.

events::Event call(events::EventKind kind, std::int32_t peer, std::int32_t tag, std::uint32_t request = 0) {
  events::Event event;
  event.kind = kind;
  event.peer = peer;
  event.tag = tag;
  event.request = RequestId{request};
  event.size = 8;
  return event;
}

/// `traffic(engine, n)` gives the engine what n outstanding things make it do.
template <class Traffic>
void outstanding(benchmark::State& state, Traffic traffic) {
  const auto network = std::move(netmodel::parse("lsb:latency=1e-06,bandwidth=1e+10").value());
  const auto n = static_cast<std::uint32_t>(state.range(0));
  Options options;
  options.trust_entry = false;
  for (auto unused : state) {
    (void)unused;
    Counting listener;
    Engine engine{2, *network, listener, options};
    traffic(engine, n);
    for (const int rank : {0, 1}) engine.push(RankId{rank}, call(events::EventKind::kFinalize, 0, 0), {});
    engine.decide();
    benchmark::DoNotOptimize(listener.last());
  }
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(n) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void send_all(Engine& engine, std::uint32_t n, std::int32_t tags) {
  for (std::uint32_t i = 0; i < n; ++i)
    engine.push(RankId{1}, call(events::EventKind::kSend, 0, static_cast<std::int32_t>(i) % tags), {});
}

/// All requests 1..n, by one wait for all or by waits for some.
void wait_for(Engine& engine, std::uint32_t n, events::CompletionMode mode) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i) ids[i] = i + 1;
  events::Event wait = call(events::EventKind::kWait, 0, 0);
  wait.operation = static_cast<std::uint8_t>(mode);
  wait.aux = n;
  engine.push(RankId{0}, wait, {ids, {}});
}

void receives_from_anybody(benchmark::State& state) {
  outstanding(state, [](Engine& engine, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i)
      engine.push(RankId{0}, call(events::EventKind::kIrecv, kAnySource.value, kAnyTag, i + 1), {});
    wait_for(engine, n, events::CompletionMode::kAll);
    send_all(engine, n, 100);
    engine.decide();
  });
}
void receives_from_anybody_of_a_tag_each(benchmark::State& state) {
  outstanding(state, [](Engine& engine, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i)
      engine.push(
          RankId{0},
          call(events::EventKind::kIrecv, kAnySource.value, static_cast<std::int32_t>(n - i - 1), i + 1), {});
    wait_for(engine, n, events::CompletionMode::kAll);
    send_all(engine, n, 1 << 30);
    engine.decide();
  });
}
void receives_waited_for_by_waitsome(benchmark::State& state) {
  outstanding(state, [](Engine& engine, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i)
      engine.push(RankId{0}, call(events::EventKind::kIrecv, 1, 0, i + 1), {});
    wait_for(engine, n, events::CompletionMode::kSome);
    send_all(engine, n, 1);
    engine.decide();
  });
}
void flood_of_messages_to_any_tag(benchmark::State& state) {
  outstanding(state, [](Engine& engine, std::uint32_t n) {
    send_all(engine, n, 100);
    for (std::uint32_t i = 0; i < n; ++i)
      engine.push(RankId{0}, call(events::EventKind::kRecv, i % 2 == 0 ? 1 : kAnySource.value, kAnyTag), {});
    engine.decide();
  });
}
void flood_of_messages_of_a_tag_each(benchmark::State& state) {
  outstanding(state, [](Engine& engine, std::uint32_t n) {
    send_all(engine, n, 1 << 30);
    for (std::uint32_t i = n; i-- > 0;)
      engine.push(RankId{0}, call(events::EventKind::kRecv, 1, static_cast<std::int32_t>(i)), {});
    engine.decide();
  });
}
void communicators_defined_and_forgotten(benchmark::State& state) {
  outstanding(state, [](Engine& engine, std::uint32_t n) {
    events::Event barrier = call(events::EventKind::kCollective, -1, 0);
    barrier.operation = static_cast<std::uint8_t>(CollectiveKind::kBarrier);
    barrier.size = 0;
    for (std::uint32_t i = 1; i <= n; ++i) {
      barrier.comm = CommId{i};
      engine.define_communicator(barrier.comm, {RankId{0}, RankId{1}});
      for (const int rank : {0, 1}) engine.push(RankId{rank}, barrier, {});
      engine.forget_communicator(barrier.comm);
    }
  });
}
#define NPLUS1_CURVE(name) \
  BENCHMARK(name)->RangeMultiplier(10)->Range(1'000, 100'000)->Unit(benchmark::kMillisecond)
NPLUS1_CURVE(receives_from_anybody);
NPLUS1_CURVE(receives_from_anybody_of_a_tag_each);
NPLUS1_CURVE(receives_waited_for_by_waitsome);
NPLUS1_CURVE(flood_of_messages_to_any_tag);
NPLUS1_CURVE(flood_of_messages_of_a_tag_each);
NPLUS1_CURVE(communicators_defined_and_forgotten);
#undef NPLUS1_CURVE

BENCHMARK(halo_exchange)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_shift)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);
BENCHMARK(random_pairing)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nplus1::simnode::engine
