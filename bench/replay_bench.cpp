// Events per second of `nplus1 replay`, reading included, on one core: a ring of irecv, isend, waitall with
// some compute between, recorded first. ring/RANKS/NETWORK: 0 the recorded one, 1 another (decisions
// repeated), 2 LogGOPS.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "bench/to_writer.hpp"
#include "events/recording/scratch_folder.hpp"
#include "events/recording/writer.hpp"
#include "hypothesis/replay.hpp"
#include "simnode/engine/replay.hpp"

namespace nplus1::hypothesis {
namespace {

using events::Event;
using events::EventKind;
namespace engine = simnode::engine;

constexpr std::uint64_t kEvents = 2'000'000;
constexpr const char* kNetworks[] = {"lsb:latency=1e-6,bandwidth=1e10", "lsb:latency=5e-6,bandwidth=1e9",
                                     "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-10"};

/// Three calls a step: irecv from the left, isend to the right, wait for both.
class Ring final : public engine::Streams {
 public:
  Ring(int ranks, std::uint64_t steps) : ranks_{ranks}, steps_{steps}, at_(static_cast<std::size_t>(ranks)) {}

  const Event* next(RankId rank, events::Extension& extension) override {
    const std::uint64_t n = at_[rank.index()]++;
    const std::uint64_t step = n / 3;
    event_ = {};
    extension = {};
    if (step > steps_) return nullptr;
    if (step == steps_) {
      event_.kind = n % 3 == 0 ? EventKind::kFinalize : EventKind::kNone;
      return n % 3 == 0 ? &event_ : nullptr;
    }
    const auto request = static_cast<std::uint32_t>(2 * step + 1);
    if (n % 3 < 2) {
      event_.kind = n % 3 == 0 ? EventKind::kIrecv : EventKind::kIsend;
      event_.peer = (rank.value + (n % 3 == 0 ? ranks_ - 1 : 1)) % ranks_;
      event_.size = 8192;
      event_.request = RequestId{request + static_cast<std::uint32_t>(n % 3)};
      event_.compute_ps = n % 3 == 0 ? 10'000'000 + static_cast<std::int64_t>(step * 7919 % 1000) * 1000 : 0;
    } else {
      event_.kind = EventKind::kWait;
      event_.aux = 2;
      words_ = {request, request + 1};
      extension.words = words_;
    }
    return &event_;
  }

 private:
  int ranks_;
  std::uint64_t steps_;
  std::vector<std::uint64_t> at_;
  Event event_;
  std::vector<std::uint32_t> words_;
};

void record(const std::filesystem::path& folder, int ranks) {
  auto writer = events::recording::Writer::create(folder, {ranks, {}}, {});
  const auto network = netmodel::parse(kNetworks[0]);
  bench::ToWriter listener{ranks, *writer.value()};
  engine::Options options;
  options.report_all_matches = true;
  engine::Engine engine{ranks, *network.value(), listener, options};
  Ring ring{ranks, kEvents / 3 / static_cast<std::uint64_t>(ranks)};
  engine::replay(engine, ranks, ring);
  writer.value()->close();
}

void ring(benchmark::State& state) {
  const events::recording::ScratchFolder folder;
  record(folder.path() / "recording", static_cast<int>(state.range(0)));
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
