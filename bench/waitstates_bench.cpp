// How many events per second the search for wait states takes in, on one core, with critical paths and delay
// costs. The streams come out of the engine: a halo exchange with four neighbours (4 irecv, 4 isend, waitall)
// and uneven computing, so that every step waits; and the same with an Allreduce behind each step. Counter:
// events per second; nodes: of critical paths, at the end. Run: waitstates_bench
// --benchmark_counters_tabular=true
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "hypothesis/waitstates/search.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::hypothesis {
namespace {

using events::Event;
using events::EventKind;

/// What the engine told, to be told again.
class Tape : public simnode::engine::Listener {
 public:
  void on_exit(const events::TimedEvent& e) override {
    const auto& words = e.extension.words;
    entries_.push_back({e.rank, e.event, e.answer, e.exit, lists_.size(), words.size(), false});
    lists_.insert(lists_.end(), words.begin(), words.end());
    ++events;
  }
  void on_match(RankId receiver, const events::Answer& match) override {
    entries_.push_back({receiver, {}, match, {}, 0, 0, true});
  }
  void play(events::EventSink& sink) const {
    for (const Entry& e : entries_) {
      if (e.is_match)
        sink.on_match(e.rank, e.answer);
      else
        sink.on_event({e.rank, e.event, {{lists_.data() + e.list, e.length}, {}}, e.exit, e.answer});
    }
  }
  std::uint64_t events = 0;

 private:
  struct Entry {
    RankId rank;
    Event event;
    events::Answer answer;
    Time exit;
    std::size_t list;
    std::size_t length;
    bool is_match;
  };
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> lists_;
};

Event call(EventKind kind, std::int32_t peer, std::uint32_t request, std::uint32_t site) {
  Event event;
  event.kind = kind;
  event.peer = peer;
  event.request = RequestId{request};
  event.site = CallSiteId{site};
  event.call = static_cast<std::uint16_t>(site);
  event.size = kind == EventKind::kIsend ? 8192 : 0;
  return event;
}

void push_step(simnode::engine::Engine& engine, std::int32_t ranks, std::uint32_t first, bool allreduce,
               std::mt19937& random) {
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::int32_t peers[] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks, (rank + 8) % ranks,
                                  (rank + ranks - 8) % ranks};
    std::vector<std::uint32_t> ids;
    for (std::uint32_t n = 0; n < 8; ++n) {
      ids.push_back(first + n);
      Event event = call(n < 4 ? EventKind::kIrecv : EventKind::kIsend, peers[n % 4], first + n, n + 1);
      event.compute_ps = n == 4 ? 1000 * static_cast<std::int64_t>(random() % 50'000) : 100'000;
      engine.push(RankId{rank}, event);
    }
    Event wait = call(EventKind::kWait, 0, 0, 9);
    wait.aux = ids.size();
    engine.push(RankId{rank}, wait, {ids, {}});
    if (!allreduce) continue;
    Event sum = call(EventKind::kCollective, -1, 0, 10);
    sum.operation = static_cast<std::uint8_t>(CollectiveKind::kAllreduce);
    sum.size = 8;
    engine.push(RankId{rank}, sum);
  }
}

Tape record(std::int32_t ranks, bool allreduce) {
  Tape tape;
  const auto network = netmodel::parse("lsb").value().release();
  simnode::engine::Options options;
  options.trust_entry = false;
  options.report_all_matches = true;
  simnode::engine::Engine engine{ranks, *network, tape, options};
  std::mt19937 random{7};
  const std::uint32_t steps = 1'000'000 / (9 * static_cast<std::uint32_t>(ranks)) + 1;
  for (std::uint32_t step = 0; step < steps; ++step)
    push_step(engine, ranks, 8 * step + 1, allreduce, random);
  delete network;
  return tape;
}

void search(benchmark::State& state, bool allreduce) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  const Tape tape = record(ranks, allreduce);
  const auto network = netmodel::parse("lsb").value();
  std::size_t nodes = 0;
  for (auto _ : state) {
    WaitStates sink{static_cast<std::size_t>(ranks), network.get()};
    tape.play(sink);
    nodes = sink.path_nodes();
    benchmark::DoNotOptimize(sink.result());
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(tape.events), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["nodes"] = static_cast<double>(nodes);
}

void halo(benchmark::State& state) {
  search(state, false);
}
void halo_and_allreduce(benchmark::State& state) {
  search(state, true);
}

BENCHMARK(halo)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond)->MinTime(0.3);
BENCHMARK(halo_and_allreduce)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond)->MinTime(0.3);

}  // namespace
}  // namespace nplus1::hypothesis
