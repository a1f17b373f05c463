// How many operations per second the engine carries out from memory, with L+s/B and full MPI semantics, on
// one core. An operation is an isend and an irecv with their share of the compute before and of the waitall
// after. Counters: ops per second, and what the heap grew by between the first quarter of the stream and its
// end: flat memory shows as zero. Run: engine_bench --benchmark_counters_tabular=true
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "netmodel/simgrid/load.hpp"
#include "simnode/engine/replay.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::Event;
using events::EventKind;

/// Repeats one step of a communication pattern: compute, irecv from each source, isend to each destination,
/// waitall.
class Pattern : public Streams {
 public:
  struct Peers {
    std::vector<std::int32_t> sources;
    std::vector<std::int32_t> destinations;
  };

  Pattern(std::vector<Peers> peers, int steps)
      : peers_{std::move(peers)}, steps_{steps}, cursors_(peers_.size()) {}

  std::size_t heap_after_a_quarter = 0;  // of rank 0's stream, in bytes

  const Event* next(RankId rank, events::Extension& extension) override {
    const Peers& peers = peers_[rank.index()];
    Cursor& c = cursors_[rank.index()];
    if (c.step == steps_) return nullptr;
    event_ = Event{};
    const std::size_t receives = peers.sources.size();
    if (c.position < receives) {
      event_.kind = EventKind::kIrecv;
      event_.peer = peers.sources[c.position];
      if (c.position == 0) event_.compute_ps = 10'000'000;
      event_.request = new_request(c);
    } else if (c.position < receives + peers.destinations.size()) {
      event_.kind = EventKind::kIsend;
      event_.peer = peers.destinations[c.position - receives];
      event_.size = 8192;
      event_.request = new_request(c);
    } else {
      finish_step(rank, c, receives + peers.destinations.size(), extension);
      return &event_;
    }
    ++c.position;
    return &event_;
  }

 private:
  struct Cursor {
    int step = 0;
    std::size_t position = 0;
    std::uint32_t request = 0;
  };

  static RequestId new_request(Cursor& c) { return RequestId{++c.request}; }

  void finish_step(RankId rank, Cursor& c, std::size_t requests, events::Extension& extension) {
    event_.kind = EventKind::kWait;
    event_.aux = requests;
    words_.clear();
    for (std::size_t i = 0; i < requests; ++i)
      words_.push_back(c.request - static_cast<std::uint32_t>(requests - 1 - i));
    extension.words = words_;
    c.position = 0;
    ++c.step;
    if (rank.value == 0 && c.step == steps_ / 4) heap_after_a_quarter = mallinfo2().uordblks;
  }

  std::vector<Peers> peers_;
  int steps_;
  std::vector<Cursor> cursors_;
  Event event_;
  std::vector<std::uint32_t> words_;
};

std::vector<Pattern::Peers> halo(int ranks) {  // a torus as square as it gets
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  const int columns = ranks / rows;
  std::vector<Pattern::Peers> peers;
  for (int r = 0; r < ranks; ++r) {
    const int y = r / columns;
    const int x = r % columns;
    const auto at = [&](int dy, int dx) {
      return (y + dy + rows) % rows * columns + (x + dx + columns) % columns;
    };
    const std::vector<std::int32_t> neighbours{at(-1, 0), at(1, 0), at(0, -1), at(0, 1)};
    peers.push_back({neighbours, neighbours});
  }
  return peers;
}

std::vector<Pattern::Peers> ring(int ranks) {
  std::vector<Pattern::Peers> peers;
  for (int r = 0; r < ranks; ++r) peers.push_back({{(r + ranks - 1) % ranks}, {(r + 1) % ranks}});
  return peers;
}

std::vector<Pattern::Peers> random_pairs(int ranks) {  // four random pairings
  std::mt19937 random{7};
  std::vector<Pattern::Peers> peers(static_cast<std::size_t>(ranks));
  std::vector<std::int32_t> order(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  for (int pairing = 0; pairing < 4; ++pairing) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      for (const auto& [a, b] : {std::pair{order[i], order[i + 1]}, std::pair{order[i + 1], order[i]}}) {
        peers[static_cast<std::size_t>(a)].sources.push_back(b);
        peers[static_cast<std::size_t>(a)].destinations.push_back(b);
      }
    }
  }
  return peers;
}

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
