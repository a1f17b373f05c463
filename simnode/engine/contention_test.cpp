// The engine on a network where messages meet: one pipe of 1 GB/s that all flows share equally, without
// latency. So n messages of 1000 bytes at once take n microseconds, whoever sends them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "netmodel/collectives/selection.hpp"
#include "netmodel/flow_protocol/flow_protocol.hpp"
#include "simnode/engine/replay.hpp"
#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {
namespace {

using netmodel::Flows;

class Pipe final : public Flows {
 public:
  /// Source and destination of each flow of the last network.
  static inline std::vector<std::pair<int, int>> started;
  Pipe() { started.clear(); }

  void start(FlowId id, RankId from, RankId to, Bytes size, Time at, std::uint32_t /*cause*/) override {
    started.emplace_back(from.value, to.value);
    waiting_.emplace(std::max(at, now_), std::pair{id, static_cast<double>(count(size))});
  }
  void advance(Time until, std::vector<Completion>& done) override {
    while (done.empty()) {
      for (; !waiting_.empty() && waiting_.begin()->first <= now_; waiting_.erase(waiting_.begin()))
        left_.insert(waiting_.begin()->second);
      if (now_ >= until || idle()) return;
      Time next = until;
      if (!waiting_.empty()) next = std::min(next, waiting_.begin()->first);
      if (!left_.empty()) next = std::min(next, now_ + Duration{std::llround(least() * share())});
      const double served = static_cast<double>((next - now_).count()) / share();
      now_ = next;
      for (auto it = left_.begin(); it != left_.end();) {
        it->second -= served;
        if (it->second > 1e-3) {
          ++it;
          continue;
        }
        done.push_back({it->first, now_, {}});
        it = left_.erase(it);
      }
    }
  }
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] bool idle() const override { return left_.empty() && waiting_.empty(); }

 private:
  /// Picoseconds per byte of one flow.
  [[nodiscard]] double share() const {
    return 1000.0 * static_cast<double>(std::max<std::size_t>(1, left_.size()));
  }
  [[nodiscard]] double least() const {
    double least = 1e18;
    for (const auto& [id, bytes_left] : left_) least = std::min(least, bytes_left);
    return least;
  }
  Time now_{};
  std::multimap<Time, std::pair<FlowId, double>> waiting_;
  std::map<FlowId, double> left_;
};

class PipeNetwork final : public netmodel::FlowProtocol {
 public:
  using FlowProtocol::FlowProtocol;
  [[nodiscard]] std::unique_ptr<Flows> flows() const override { return std::make_unique<Pipe>(); }
};

/// Messages below 100 bytes travel unasked, below 5000 they free their sender.
std::unique_ptr<netmodel::NetworkModel> pipe() {
  netmodel::FlowProtocol::Parameters p;
  p.eager = 5000;
  p.unasked = 100;
  return std::make_unique<PipeNetwork>(p);
}

World world(int ranks) {
  return World{ranks, pipe()};
}

/// The latest end of a collective that all enter at time zero.
Time end_of(CollectiveKind kind, std::int64_t size, const char* collectives, int ranks) {
  const auto selection = netmodel::Selection::parse(collectives);
  World w{ranks, pipe(), {{}, true, &selection.value()}};
  for (int r = 0; r < ranks; ++r) {
    w.collective(r, kind, size, 0);
    w.finalize(r);
  }
  w.engine().decide();
  EXPECT_EQ(w.engine().state(), State::kFinished);
  Time last = kTimeZero;
  for (int r = 0; r < ranks; ++r) last = std::max(last, w.exit(r));
  return last;
}

// Below 100 bytes a message travels unasked, from 5000 on its sender waits: a copy comes with it in each
// case.
TEST(Contention, AMulticastCrossesThePipeOnce) {
  for (const std::int64_t size : {90, 1000, 8000}) {
    EXPECT_EQ(end_of(CollectiveKind::kBcast, size, "bcast=linear", 5), ns(4 * static_cast<double>(size)));
    EXPECT_EQ(end_of(CollectiveKind::kBcast, size, "bcast=hardware", 5), ns(static_cast<double>(size)));
  }
}

TEST(Contention, SignalsWithinTheNetworkTakeNoTime) {
  EXPECT_EQ(end_of(CollectiveKind::kAllreduce, 1000, "allreduce=hardware", 5), ns(5 * 1000));
  EXPECT_EQ(end_of(CollectiveKind::kBarrier, 0, "barrier=hardware", 5), ns(0));
}

// Each host's link carries one vector: what a combining network does. 90 bytes travel unasked, 8000 by
// rendezvous.
TEST(Contention, AReductionByTheNetworkLoadsEachLinkOnce) {
  for (const std::int64_t size : {90, 1000, 8000}) {
    EXPECT_EQ(end_of(CollectiveKind::kReduce, size, "reduce=hardware", 5), ns(4 * static_cast<double>(size)));
    std::sort(Pipe::started.begin(), Pipe::started.end());
    EXPECT_EQ(Pipe::started, (std::vector<std::pair<int, int>>{{1, 2}, {2, 3}, {3, 4}, {4, 0}}));
  }
}

TEST(Contention, SharesThePipe) {
  World w = world(4);
  w.recv(1, 0, 0);
  w.recv(3, 2, 0);
  w.send(0, 1, 0, 1000);
  w.send(2, 3, 0, 1000);
  w.finalize(0);
  w.finalize(2);
  w.engine().decide();
  EXPECT_EQ(w.exit(1), ns(2000));
  EXPECT_EQ(w.exit(3), ns(2000));
}

TEST(Contention, HoldsAnArrivalBackWhileARankMayStillSend) {
  World w = world(4);
  w.recv(1, 0, 0);
  w.recv(3, 2, 0);
  w.send(0, 1, 0, 1000);
  w.engine().decide();
  EXPECT_TRUE(w.returned(1, 0));  // rank 2 may send at time zero
  EXPECT_EQ(w.engine().state(), State::kWaiting);
  w.compute(500).send(2, 3, 0, 1000);
  w.finalize(0);
  w.finalize(2);
  w.engine().decide();
  EXPECT_EQ(w.exit(1), ns(1500));  // half of it shared
  w.finalize(1);
  w.engine().decide();
  EXPECT_EQ(w.exit(3), ns(2000));
}

TEST(Contention, StartsADetachedMessageAtItsReceiveAndAnUnaskedOneAtItsSend) {
  for (const auto& [size, end] : {std::pair{1000, 6000}, std::pair{90, 5000}}) {
    World w = world(2);
    w.send(0, 1, 0, size);
    EXPECT_EQ(w.exit(0), ns(0));
    w.finalize(0);
    w.compute(5000).recv(1, 0, 0);
    w.engine().decide();
    EXPECT_EQ(w.exit(1), ns(end)) << size;
  }
}

TEST(Contention, KeepsARendezvousSenderUntilTheEnd) {
  World w = world(2);
  w.send(0, 1, 0, 5000);
  w.compute(1000).recv(1, 0, 0);
  w.engine().decide();
  EXPECT_EQ(w.exit(0), ns(6000));
  EXPECT_EQ(w.exit(1), ns(6000));
}

TEST(Contention, GivesAnySourceTheFirstSent) {
  World w = world(3);
  w.recv(0, kAny, kAny);
  w.compute(200).send(1, 0, 0, 1000);
  w.compute(100).send(2, 0, 0, 4000);
  w.finalize(1);
  w.finalize(2);
  w.engine().decide();
  EXPECT_EQ(w.last(0).answer.source, 2);
  EXPECT_EQ(w.exit(0), ns(4100));
}

TEST(Contention, LetsWaitanyTakeTheFirstToArrive) {
  World w = world(3);
  const std::uint32_t large = w.irecv(0, 1, 0);
  const std::uint32_t small = w.irecv(0, 2, 0);
  w.wait(0, {large, small}, events::CompletionMode::kAny);
  w.send(1, 0, 0, 4000);
  w.send(2, 0, 0, 1000);
  w.finalize(1);
  w.finalize(2);
  w.engine().decide();
  EXPECT_EQ(w.last(0).answer.index, 1);
  EXPECT_EQ(w.exit(0), ns(2000));
}

TEST(Contention, LetsCollectivesMeetMessages) {
  World w = world(4);
  w.engine().define_communicator(CommId{1}, {RankId{0}, RankId{1}});
  w.collective(0, CollectiveKind::kBcast, 1000, 0, 1);
  w.collective(1, CollectiveKind::kBcast, 1000, 0, 1);
  w.recv(3, 2, 0);
  w.send(2, 3, 0, 1000);
  w.finalize(0);
  w.finalize(2);
  w.engine().decide();
  EXPECT_EQ(w.exit(1), ns(2000));
  EXPECT_EQ(w.exit(3), ns(2000));
}

TEST(Contention, ReleasesSendsThatOnlyTheProtocolHoldsBack) {
  World w = world(2);
  for (const int r : {0, 1}) w.send(r, 1 - r, 0, 5000);
  w.engine().decide();
  ASSERT_EQ(w.engine().state(), State::kAllBlocked);
  EXPECT_TRUE(w.engine().release_rendezvous());
  w.recv(0, 1, 0);
  w.engine().decide();
  w.recv(1, 0, 0);
  w.finalize(0);
  w.engine().decide();
  EXPECT_EQ(w.engine().counters().relies_on_buffering, 1U);
  EXPECT_EQ(w.exit(1), ns(10000));  // two transfers, one after the other
}

/// Each rank's program: a few rounds of receives from and sends to random partners, and an Allreduce.
struct Rounds final : Streams {
  explicit Rounds(int ranks, unsigned seed)
      : streams(static_cast<std::size_t>(ranks)), next_(streams.size()) {
    std::mt19937 random{seed};
    std::vector<std::uint32_t> requests(streams.size());
    for (int round = 0; round < 5; ++round) {
      std::vector<int> order(streams.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto me = static_cast<std::size_t>(order[i]);
        const int to = order[(i + 1) % order.size()];
        const int from = order[(i + order.size() - 1) % order.size()];
        add(me, World::transfer(events::EventKind::kIrecv, random() % 3 == 0 ? kAny : from, round, 0),
            ++requests[me]);
        add(me,
            World::transfer(events::EventKind::kSend, to, round, std::array{50, 2000, 4999}[random() % 3]),
            0);
        events::Event wait;
        wait.kind = events::EventKind::kWait;
        wait.aux = 1;
        wait.compute_ps = static_cast<std::int64_t>(random() % 1'000'000);
        add(me, wait, requests[me]);
        add(me,
            World::collective_event(events::EventKind::kCollective, CollectiveKind::kAllreduce, 800, -1, 0),
            0);
      }
    }
    for (auto& stream : streams) {
      events::Event end;
      end.kind = events::EventKind::kFinalize;
      stream.push_back({end, 0});
    }
  }
  void add(std::size_t rank, events::Event event, std::uint32_t request) {
    if (event.kind != events::EventKind::kWait) event.request = RequestId{request};
    streams[rank].push_back({event, request});
  }
  const events::Event* next(RankId rank, events::Extension& extension) override {
    auto& at = next_[rank.index()];
    if (at == streams[rank.index()].size()) return nullptr;
    const auto& [event, request] = streams[rank.index()][at++];
    extension = {};
    if (event.kind == events::EventKind::kWait) extension.words = {&request, 1};
    return &event;
  }

  std::vector<std::vector<std::pair<events::Event, std::uint32_t>>> streams;

 private:
  std::vector<std::size_t> next_;
};

std::vector<Time> ends(World& w, int ranks) {
  std::vector<Time> times;
  for (int r = 0; r < ranks; ++r) times.push_back(w.engine().clock(RankId{r}));
  return times;
}

TEST(Contention, GivesTheSameTimesLiveInAnyOrderAndReplayed) {
  constexpr int kRanks = 6;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    World replayed = world(kRanks);
    Rounds whole{kRanks, seed};
    ASSERT_EQ(replay(replayed.engine(), kRanks, whole), State::kFinished);
    std::mt19937 random{seed * 77};
    World live = world(kRanks);
    Rounds program{kRanks, seed};
    for (bool moved = true; moved;) {  // a rank that is free makes its next call; who, is chance
      moved = false;
      std::vector<int> order{0, 1, 2, 3, 4, 5};
      std::shuffle(order.begin(), order.end(), random);
      for (const int r : order) {
        events::Extension extension;
        if (random() % 2 == 0 || !live.engine().ready(RankId{r})) continue;
        if (const auto* event = program.next(RankId{r}, extension))
          live.engine().push(RankId{r}, *event, extension);
        live.engine().decide();
      }
      for (int r = 0; r < kRanks; ++r) moved = moved || live.engine().ready(RankId{r});
    }
    EXPECT_EQ(live.engine().state(), State::kFinished);
    EXPECT_EQ(live.engine().counters().order_inversions, 0U);
    EXPECT_EQ(ends(live, kRanks), ends(replayed, kRanks)) << seed;
  }
}

}  // namespace
}  // namespace nplus1::simnode::engine
