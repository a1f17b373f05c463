// Writes a recording with accesses of a given size and shape, for overlap_curve.py: overlap_recordings SHAPE EVENTS
// FOLDER [RANKS].
//   halo      MPI_Sendrecv each way, computing, both buffers used: few chains, each seen often
//   untouched the same, but nobody uses the data: one chain for each rank, as long as the run
//   window    64 MPI_Irecv and MPI_Isend, one MPI_Waitall, the data used: requests that are non-blocking already
//   lines     blocking messages from one of 10000 call sites, used behind 1 to 32 of them: chains that hardly come twice
//   polling   MPI_Irecv, tests that fail, one that succeeds, as threads do that wait for each other
//   elsewhere MPI_Sendrecv from memory that is never the same and that nobody touches in between
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "events/mpi_call.hpp"
#include "events/recording/writer.hpp"
#include "netmodel/network_model.hpp"
#include "simnode/engine/replay.hpp"

namespace {

using namespace nplus1;
using events::Access;
using events::Event;
using events::EventKind;
using events::MpiCall;
namespace engine = simnode::engine;

constexpr const char* kNetwork = "lsb:latency=20us,bandwidth=1GBps,eager=20000";
constexpr std::int64_t kUs = 1'000'000;  // ps
constexpr std::uint32_t kSites = 10000;
constexpr std::int64_t kMessage = 4096;

struct Made {
  Event event;
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;
  std::uint64_t buffer = 0;
};

/// One rank's stream, made a step at a time.
class Rank {
 public:
  Rank(std::string shape, std::int32_t rank, std::int32_t ranks, std::uint64_t events)
      : shape_{std::move(shape)}, rank_{rank}, ranks_{ranks}, events_{events} {}

  /// Null: the end.
  const Made* next() {
    if (at_ == made_.size() && !ended_) {
      made_.clear();
      at_ = 0;
      if (ordinal_ + 1 < events_) {
        step();
      } else {
        Event end;
        end.kind = EventKind::kFinalize;
        add(end, 99);
        ended_ = true;
      }
    }
    return at_ < made_.size() ? &made_[at_++] : nullptr;
  }

 private:
  std::uint64_t add(Event event, std::uint32_t site, std::vector<std::uint32_t> words = {},
                    std::vector<std::int64_t> sizes = {}, std::uint64_t buffer = 0) {
    event.site = CallSiteId{site};
    event.compute_ps += pending_;
    pending_ = 0;
    event.extension = static_cast<std::uint32_t>((sizes.size() + 7) / 8 + (words.size() + 15) / 16);
    made_.push_back({event, std::move(words), std::move(sizes), buffer});
    return ordinal_++;
  }
  std::uint64_t post(EventKind kind, MpiCall call, std::int32_t peer, std::uint32_t site,
                     std::uint64_t buffer, std::uint32_t request = 0) {
    Event e;
    e.kind = kind;
    e.call = static_cast<std::uint16_t>(call);
    e.peer = peer;
    e.size = kMessage;
    e.request = RequestId{request};
    return add(e, site, {}, {}, buffer);
  }
  void wait(MpiCall call, std::uint32_t site, std::vector<std::uint32_t> requests) {
    Event e;
    e.kind = EventKind::kWait;
    e.call = static_cast<std::uint16_t>(call);
    e.aux = requests.size();
    add(e, site, std::move(requests));
  }
  void touch(std::uint64_t call, Access access, std::uint32_t site) {
    Event e;
    e.kind = EventKind::kLocal;
    e.operation = static_cast<std::uint8_t>(access);
    e.aux = call;
    std::vector<std::int64_t> sizes;
    if (access == Access::kLastTouch) sizes = {0};
    add(e, site, {}, std::move(sizes));
  }
  [[nodiscard]] std::int32_t right() const { return (rank_ + 1) % ranks_; }
  [[nodiscard]] std::int32_t left() const { return (rank_ + ranks_ - 1) % ranks_; }

  /// Both halves, and the ordinals of both.
  std::pair<std::uint64_t, std::uint64_t> exchange(std::int32_t to, std::int32_t from, std::uint32_t site,
                                                   std::uint64_t memory) {
    const std::uint64_t sent = post(EventKind::kIsend, MpiCall::MPI_Sendrecv, to, site, memory, ++request_);
    const std::uint64_t received =
        post(EventKind::kIrecv, MpiCall::MPI_Sendrecv, from, site, memory + kMessage, ++request_);
    wait(MpiCall::MPI_Sendrecv, site, {request_ - 1, request_});
    return {sent, received};
  }

  void step() {
    ++steps_;
    pending_ = 30 * kUs;
    if (shape_ == "halo" || shape_ == "untouched") {
      const auto a = exchange(right(), left(), 1, 0x100000);
      const auto b = exchange(left(), right(), 2, 0x200000);
      if (shape_ == "untouched") return;
      pending_ = 20 * kUs;
      for (const std::uint64_t received : {a.second, b.second}) touch(received, Access::kFirstTouch, 3);
      for (const std::uint64_t sent : {a.first, b.first}) touch(sent, Access::kFirstWrite, 4);
      for (std::uint64_t i = 0; i < 4; ++i)
        touch(ordinal_ + 4 - i + (i < 2 ? i : i + 1), Access::kLastTouch, 4);
    } else if (shape_ == "elsewhere") {
      exchange(right(), left(), 1, 0x100000 + 2 * kMessage * steps_);
    } else if (shape_ == "window") {
      std::vector<std::uint32_t> all;
      const std::uint64_t first = ordinal_;
      for (std::uint64_t i = 0; i < 64; ++i) {
        post(EventKind::kIrecv, MpiCall::MPI_Irecv, left(), 1, 0x100000 + 2 * kMessage * i, ++request_);
        all.push_back(request_);
        post(EventKind::kIsend, MpiCall::MPI_Isend, right(), 2, 0x101000 + 2 * kMessage * i, ++request_);
        all.push_back(request_);
      }
      wait(MpiCall::MPI_Waitall, 3, std::move(all));
      for (std::uint64_t i = 0; i < 64; ++i) touch(first + 2 * i, Access::kFirstTouch, 4);
    } else if (shape_ == "lines") {
      // The same on all ranks.
      random_ = random_ * 6364136223846793005U + 1442695040888963407U;
      const std::uint64_t messages = 1 + (random_ >> 33U) % 32;
      std::vector<std::uint64_t> received;
      for (std::uint64_t i = 0; i < messages; ++i) {
        random_ = random_ * 6364136223846793005U + 1442695040888963407U;
        const auto site = static_cast<std::uint32_t>(100 + (random_ >> 33U) % kSites);
        received.push_back(exchange(right(), left(), site, 0x100000 + 2 * kMessage * i).second);
      }
      pending_ = 20 * kUs;
      for (const std::uint64_t r : received) touch(r, Access::kFirstTouch, 4);
    } else if (shape_ == "polling") {
      const std::uint64_t received =
          post(EventKind::kIrecv, MpiCall::MPI_Irecv, left(), 1, 0x100000, ++request_);
      for (int i = 0; i < 20; ++i) {
        Event e;
        e.kind = EventKind::kTest;
        e.call = static_cast<std::uint16_t>(MpiCall::MPI_Test);
        e.aux = 1;
        e.compute_ps = kUs;
        if (i == 10) post(EventKind::kSend, MpiCall::MPI_Send, right(), 2, 0x200000);
        add(e, 3, {request_});
      }
      wait(MpiCall::MPI_Wait, 4, {request_});
      touch(received, Access::kFirstTouch, 5);
    } else {
      fmt::print(stderr, "overlap_recordings: there is no shape '{}'\n", shape_);
      std::exit(2);
    }
  }

  std::string shape_;
  std::int32_t rank_, ranks_;
  std::uint64_t events_;
  std::uint64_t ordinal_ = 0, steps_ = 0, random_ = 1;
  std::uint32_t request_ = 0;
  std::int64_t pending_ = 0;
  std::vector<Made> made_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

class AllRanks final : public engine::Streams {
 public:
  AllRanks(const std::string& shape, std::int32_t ranks, std::uint64_t events)
      : buffers_(static_cast<std::size_t>(ranks)) {
    for (std::int32_t r = 0; r < ranks; ++r)
      ranks_.emplace_back(shape, r, ranks, events / static_cast<std::uint64_t>(ranks));
  }
  const Event* next(RankId rank, events::Extension& extension) override {
    made_ = ranks_[rank.index()].next();
    if (made_ == nullptr) return nullptr;
    extension.words = made_->words;
    extension.sizes = made_->sizes;
    buffers_[rank.index()].push_back(made_->buffer);
    return &made_->event;
  }
  std::uint64_t take_buffer(RankId rank) {
    auto& of_rank = buffers_[rank.index()];
    const std::uint64_t buffer = of_rank.front();
    of_rank.pop_front();
    return buffer;
  }

 private:
  std::vector<Rank> ranks_;
  std::vector<std::deque<std::uint64_t>> buffers_;  // of events that are not finished yet
  const Made* made_ = nullptr;
};

class ToWriter final : public engine::Listener {
 public:
  ToWriter(std::int32_t ranks, AllRanks& streams, events::EventSink& sink)
      : streams_{streams}, sink_{sink}, ordinals_(static_cast<std::size_t>(ranks)) {}
  void on_exit(const events::TimedEvent& event) override {
    events::Detail detail;
    detail.buffer = streams_.take_buffer(event.rank);
    events::TimedEvent numbered = event;
    numbered.ordinal = ordinals_[event.rank.index()]++;
    numbered.detail = &detail;
    sink_.on_event(numbered);
  }
  void on_match(RankId receiver, const events::Answer& match) override { sink_.on_match(receiver, match); }

 private:
  AllRanks& streams_;
  events::EventSink& sink_;
  std::vector<std::uint64_t> ordinals_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "overlap_recordings SHAPE EVENTS FOLDER [RANKS]\n");
    return 2;
  }
  const std::int32_t ranks = argc > 4 ? std::atoi(argv[4]) : 4;
  auto writer = events::recording::Writer::create(
      argv[3], {ranks, {{"network", kNetwork}, {"accesses", "mprotect"}, {"application", argv[1]}}}, {});
  if (!writer) {
    fmt::print(stderr, "overlap_recordings: {}\n", writer.error().what);
    return 1;
  }
  for (std::uint32_t s = 1; s < 100 + kSites; ++s)
    writer.value()->on_call_path({CallSiteId{s}, {{"/bin/program", "", s, "step", "/src/program.c", s}}});
  const auto network = netmodel::parse(kNetwork);
  AllRanks streams{argv[1], ranks, std::strtoull(argv[2], nullptr, 10)};
  ToWriter listener{ranks, streams, *writer.value()};
  engine::Options options;
  options.report_all_matches = true;
  engine::Engine engine{ranks, *network.value(), listener, options};
  const engine::State state = engine::replay(engine, ranks, streams);
  const auto trouble = writer.value()->close();
  if (trouble || state != engine::State::kFinished) {
    fmt::print(stderr, "overlap_recordings: {}\n", trouble ? trouble->what : "the program does not end");
    return 1;
  }
  return 0;
}
