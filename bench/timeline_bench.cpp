// What the timeline costs the simulator's thread per event: a ring of 64 ranks, each event a send, a receive
// posted before it, or the wait for that.
#include <benchmark/benchmark.h>

#include "patterns/timeline.hpp"

namespace nplus1::patterns {
namespace {

constexpr std::int32_t kRanks = 64;

struct Ring {
  Timeline timeline{kRanks};
  std::int64_t now = 0;
  std::uint64_t sequence = 0;

  void feed(std::int32_t rank, events::EventKind kind, std::int64_t length) {
    events::Event event;
    event.kind = kind;
    event.peer = (rank + 1) % kRanks;
    event.size = 1000;
    event.entry_ps = now;
    events::Answer answer;
    answer.kind = events::AnswerKind::kExit;
    answer.sequence = sequence;
    timeline.on_event({RankId{rank}, event, {}, kTimeZero + Duration{now + length}, answer});
  }
  /// 3 events and a match for each rank.
  void step() {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      feed(rank, events::EventKind::kIrecv, 0);
      feed(rank, events::EventKind::kSend, 1000);
      events::Answer match;
      match.source = rank;
      match.sequence = sequence;
      match.exit_ps = now + 500'000;
      timeline.on_match(RankId{(rank + 1) % kRanks}, match);
      feed(rank, events::EventKind::kWait, 400'000);
    }
    now += 1'000'000;
    ++sequence;
  }
};

/// The first steps fit the budget, all later ones go into bins and the sample.
void BM_Timeline(benchmark::State& state) {
  Ring ring;
  for (std::int64_t i = 0; i < state.range(0); ++i) ring.step();
  for (auto _ : state) ring.step();
  state.SetItemsProcessed(state.iterations() * 3 * kRanks);
}
BENCHMARK(BM_Timeline)->ArgName("steps_before")->Arg(0)->Arg(20000);

}  // namespace
}  // namespace nplus1::patterns
