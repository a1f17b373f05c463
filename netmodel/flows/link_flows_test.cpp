// Messages that share links, in closed forms: latency, then bytes at the share that each moment gives.
#include "netmodel/flows/link_flows.hpp"

#include <gtest/gtest.h>

namespace nplus1::netmodel {
namespace {

constexpr double kBandwidth = 1e9;
constexpr double kLatency = 10e-6;

/// Every rank's messages leave over a link of its own and arrive over one of the receiver's; a rank reaches itself over
/// nothing at all.
std::shared_ptr<const LinkNetwork> star() {
  auto network = std::make_shared<LinkNetwork>();
  network->link = [](MaxMin::Link) { return SharedLink{kBandwidth, MaxMin::Sharing::kShared}; };
  network->route = [](RankId from, RankId to) {
    Route route;
    if (from == to) return route;
    route.latency = kLatency;
    route.weight = kLatency;
    route.bound = kBandwidth;
    route.uses = {{static_cast<MaxMin::Link>(2 * from.value), 1},
                  {static_cast<MaxMin::Link>(2 * to.value + 1), 1}};
    return route;
  };
  network->factors = [](double size) { return size > 1e6 ? Factors{1, 1} : Factors{2, 0.5}; };
  network->envelope = 0;
  return network;
}

std::vector<Flows::Completion> rest_of(Flows& flows) {
  std::vector<Flows::Completion> done;
  while (!flows.idle()) flows.advance(kNever, done);
  return done;
}

TEST(LinkFlows, TakeLatencyAndBytesAlone) {
  LinkFlows flows{star()};
  flows.start(3, RankId{0}, RankId{1}, bytes(2'000'000), kTimeZero);
  const auto done = rest_of(flows);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].id, 3U);
  EXPECT_EQ(done[0].at, Time{from_seconds(kLatency + 2e-3)});
}

TEST(LinkFlows, AreSlowedByTheFactorsOfTheirSize) {
  LinkFlows flows{star()};
  flows.start(0, RankId{0}, RankId{1}, bytes(1'000'000), kTimeZero);
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(2 * kLatency + 2e-3)});
}

TEST(LinkFlows, ShareALinkWhileTheyMeet) {
  LinkFlows flows{star()};
  flows.start(0, RankId{0}, RankId{2}, bytes(2'000'000), kTimeZero);
  flows.start(1, RankId{1}, RankId{2}, bytes(2'000'000), Time{from_seconds(1e-3)});
  const auto done = rest_of(flows);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].at, Time{from_seconds(kLatency + 3e-3)});  // half of it alone, half at half the rate
  EXPECT_EQ(done[1].at, Time{from_seconds(kLatency + 4e-3)});
}

TEST(LinkFlows, WithoutLinksAreThereAtOnce) {
  LinkFlows flows{star()};
  flows.start(0, RankId{1}, RankId{1}, bytes(1 << 30), Time{from_seconds(1e-3)});
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(1e-3)});
  EXPECT_EQ(flows.now(), Time{from_seconds(1e-3)});
}

TEST(LinkFlows, StopWhereTheEngineAllows) {
  LinkFlows flows{star()};
  flows.start(0, RankId{0}, RankId{1}, bytes(2'000'000), kTimeZero);
  std::vector<Flows::Completion> done;
  flows.advance(Time{from_seconds(1e-3)}, done);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(flows.now(), Time{from_seconds(1e-3)});
  flows.start(1, RankId{2}, RankId{1}, bytes(2'000'000), kTimeZero);  // behind: now
  flows.advance(Time{from_seconds(kLatency + 3e-3)}, done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].id, 0U);
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(kLatency + 4e-3)});
}

/// When each flow of a ring has arrived, if every flow starts the next one of its rank after some computing, and the
/// engine stops at each of `stops` on the way.
std::vector<Time> ring(const std::vector<Time>& stops) {
  constexpr int kRanks = 8;
  constexpr std::size_t kRounds = 50;
  LinkFlows flows{star()};
  const auto start = [&](std::size_t id, Time at) {
    const int from = static_cast<int>(id % kRanks);
    flows.start(static_cast<Flows::FlowId>(id), RankId{from}, RankId{(from * 3 + 1) % kRanks},
                bytes(20'000 + 1000 * from), at);
  };
  for (std::size_t r = 0; r < kRanks; ++r) start(r, kTimeZero);
  std::vector<Time> at(kRanks * kRounds);
  std::vector<Flows::Completion> done;
  for (std::size_t i = 0; !flows.idle(); done.clear()) {
    flows.advance(i < stops.size() ? stops[i] : kNever, done);
    if (done.empty()) ++i;
    for (const Flows::Completion& c : done) {
      at[c.id] = c.at;
      if (c.id + kRanks < at.size()) start(c.id + kRanks, c.at + Duration{100'000});
    }
  }
  return at;
}

/// Live, the engine stops wherever the ranks have been heard of; a replay never does.
TEST(LinkFlows, LeaveNoTraceOfWhereTheEngineStopped) {
  const std::vector<Time> unhindered = ring({});
  for (const std::int64_t shift : {-300, -1, 0, 1, 77'777}) {
    std::vector<Time> stops = unhindered;
    std::ranges::sort(stops);
    for (Time& stop : stops) stop += Duration{shift};
    EXPECT_EQ(ring(stops), unhindered) << shift;
  }
}

TEST(LinkFlows, OfOneNumberMayFollowEachOther) {
  LinkFlows flows{star()};
  std::vector<Flows::Completion> done;
  for (int i = 0; i < 3; ++i) {
    flows.start(7, RankId{0}, RankId{1}, bytes(2'000'000), flows.now());
    done = rest_of(flows);
    ASSERT_EQ(done.size(), 1U);
  }
  EXPECT_EQ(done[0].at, Time{from_seconds(3 * (kLatency + 2e-3))});
}

}  // namespace
}  // namespace nplus1::netmodel
