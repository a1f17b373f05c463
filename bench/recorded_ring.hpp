// A recording for benchmarks: a ring of irecv, isend, waitall with some uneven compute between. Not part of
// the product.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/to_writer.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"
#include "netmodel/network_model.hpp"
#include "simnode/engine/replay.hpp"

namespace nplus1::hypothesis::bench {

using events::Event;
using events::EventKind;
namespace engine = simnode::engine;

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

inline void record_ring(const std::filesystem::path& folder, int ranks, std::uint64_t events,
                        const std::string& on) {
  auto writer = events::recording::Writer::create(folder, {ranks, {{"network", on}}}, {});
  const auto network = netmodel::parse(on);
  nplus1::bench::ToWriter listener{ranks, *writer.value()};
  engine::Options options;
  options.report_all_matches = true;
  engine::Engine engine{ranks, *network.value(), listener, options};
  Ring ring{ranks, events / 3 / static_cast<std::uint64_t>(ranks)};
  engine::replay(engine, ranks, ring);
  writer.value()->close();
}

}  // namespace nplus1::hypothesis::bench
