// Messages that share links, in closed forms: latency, then bytes at the share that each moment gives.
#include "netmodel/flows/link_flows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

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
  network->lookahead = [] { return kLatency; };
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
  flows.start(3, RankId{0}, RankId{1}, bytes(2'000'000), kTimeZero, 0);
  const auto done = rest_of(flows);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].id, 3U);
  EXPECT_EQ(done[0].at, Time{from_seconds(kLatency + 2e-3)});
}

TEST(LinkFlows, AreSlowedByTheFactorsOfTheirSize) {
  LinkFlows flows{star()};
  flows.start(0, RankId{0}, RankId{1}, bytes(1'000'000), kTimeZero, 0);
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(2 * kLatency + 2e-3)});
}

TEST(LinkFlows, ShareALinkWhileTheyMeet) {
  LinkFlows flows{star()};
  flows.start(0, RankId{0}, RankId{2}, bytes(2'000'000), kTimeZero, 0);
  flows.start(1, RankId{1}, RankId{2}, bytes(2'000'000), Time{from_seconds(1e-3)}, 0);
  const auto done = rest_of(flows);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].at, Time{from_seconds(kLatency + 3e-3)});  // half of it alone, half at half the rate
  EXPECT_EQ(done[1].at, Time{from_seconds(kLatency + 4e-3)});
}

TEST(LinkFlows, WithoutLinksAreThereAtOnce) {
  LinkFlows flows{star()};
  flows.start(0, RankId{1}, RankId{1}, bytes(1 << 30), Time{from_seconds(1e-3)}, 0);
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(1e-3)});
  EXPECT_EQ(flows.now(), Time{from_seconds(1e-3)});
}

TEST(LinkFlows, StopWhereTheEngineAllows) {
  LinkFlows flows{star()};
  flows.start(0, RankId{0}, RankId{1}, bytes(2'000'000), kTimeZero, 0);
  std::vector<Flows::Completion> done;
  flows.advance(Time{from_seconds(1e-3)}, done);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(flows.now(), Time{from_seconds(1e-3)});
  flows.start(1, RankId{2}, RankId{1}, bytes(2'000'000), kTimeZero, 0);  // behind: now
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
                bytes(20'000 + 1000 * from), at, 0);
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

/// Ranks that send to whomever, themselves included, each message some time after the one before has arrived; and the
/// engine stops now and then where all that starts before has been started.
class Talk {
 public:
  Talk(std::uint32_t seed, bool look_ahead) : random_{seed} {
    if (look_ahead) flows_.look_ahead();
    for (Chain& chain : chains_)
      for (Message& m : chain.messages)
        m = {below<kRanks>(), bytes(1 + below<40'000>()), Duration{500'000} * below<40>()};
  }

  std::vector<Time> ends(std::uint32_t stops) {
    std::mt19937 random{stops};
    for (std::uint32_t r = 0; r < kRanks; ++r) start(r, kTimeZero);
    std::vector<Flows::Completion> done;
    for (; ends_.size() < kRanks * kMessages; done.clear()) {
      // The ranks that compute before their next message have been heard of up to a moment.
      Time until = kNever;
      for (const Chain& chain : chains_)
        if (chain.computes) until = std::min(until, chain.next_at);
      if (until != kNever && random() % 2 == 0) until -= std::min(until - flows_.now(), Duration{777'777});
      flows_.advance(until, done);
      for (const Flows::Completion& c : done) {
        told_early_ += c.at > until ? 1 : 0;
        arrived(c.id, c.at);
      }
      if (done.empty()) start_earliest();
    }
    return ends_;
  }
  /// Ends that were told of before the ranks had been heard of so far.
  [[nodiscard]] int told_early() const { return told_early_; }

 private:
  static constexpr std::size_t kRanks = 6;
  static constexpr std::size_t kMessages = 40;
  struct Message {
    std::int32_t to;
    Bytes size;
    Duration after;
  };
  struct Chain {
    std::array<Message, kMessages> messages;
    std::size_t next = 0;
    bool computes = false;
    Time next_at{};
  };

  template <int kLimit>
  int below() {
    return static_cast<int>(random_() % kLimit);
  }
  void start(std::uint32_t rank, Time at) {
    Chain& chain = chains_[rank];
    const Message& m = chain.messages[chain.next++];
    flows_.start(rank, RankId{static_cast<std::int32_t>(rank)}, RankId{m.to}, m.size, at, 0);
  }
  void arrived(std::uint32_t rank, Time at) {
    ends_.push_back(at + Duration{rank});
    Chain& chain = chains_[rank];
    if (chain.next == kMessages) return;
    chain.computes = true;
    chain.next_at = at + chain.messages[chain.next].after;
  }
  void start_earliest() {
    Chain* earliest = nullptr;
    for (Chain& chain : chains_)
      if (chain.computes && (earliest == nullptr || chain.next_at < earliest->next_at)) earliest = &chain;
    EXPECT_GE(earliest->next_at, flows_.now());
    earliest->computes = false;
    start(static_cast<std::uint32_t>(earliest - chains_.data()), earliest->next_at);
  }

  std::mt19937 random_;
  LinkFlows flows_{star()};
  std::array<Chain, kRanks> chains_;
  std::vector<Time> ends_;
  int told_early_ = 0;
};

TEST(LinkFlows, EndWhenTheyEndWhetherOneLooksAheadOrNot) {
  int told_early = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    Talk plain{seed, false};
    Talk ahead{seed, true};
    std::vector<Time> expected = plain.ends(seed);
    std::vector<Time> found = ahead.ends(seed + 1);
    std::ranges::sort(expected);
    std::ranges::sort(found);
    ASSERT_EQ(found.size(), 240U);
    ASSERT_EQ(found, expected) << seed;
    ASSERT_EQ(plain.told_early(), 0);
    told_early += ahead.told_early();
  }
  EXPECT_GT(told_early, 1'000);
}

TEST(LinkFlows, AreToldOfAheadOfWhatCannotReachThemAnyMore) {
  const Time end{from_seconds(2 * kLatency + 2e-6)};  // 1000 bytes at half of the rate
  const Time before = end - from_seconds(kLatency) + Duration{2};
  for (const bool looks : {false, true}) {
    LinkFlows flows{star()};
    if (looks) flows.look_ahead();
    flows.start(0, RankId{0}, RankId{1}, bytes(1'000), kTimeZero, 0);
    std::vector<Flows::Completion> done;
    flows.advance(before, done);
    ASSERT_EQ(done.size(), looks ? 1U : 0U);
    // Another that leaves now comes too late to matter, and is no less exact.
    flows.start(1, RankId{2}, RankId{1}, bytes(1'000), flows.now(), 0);
    while (!flows.idle()) flows.advance(kNever, done);
    EXPECT_EQ(done[0].at, end);
    EXPECT_EQ(done[1].at, before + (end - kTimeZero));
  }
}

/// Nobody can start anything by himself; but who has its message now can, and that is earlier than the end that is known.
TEST(LinkFlows, LeaveTimeBeforeAnEndThatIsKnownToWhoGoesOnWithWhatHasCome) {
  LinkFlows flows{star()};
  flows.look_ahead();
  flows.start(0, RankId{0}, RankId{1}, bytes(1'000), kTimeZero, 0);
  std::vector<Flows::Completion> done;
  const Time now{from_seconds(1.5 * kLatency + 2e-6)};
  flows.advance(now, done);
  ASSERT_EQ(done.size(), 1U);
  ASSERT_GT(done[0].at, now);
  flows.start(1, RankId{2}, RankId{2}, bytes(1'000), now, 0);
  flows.advance(kNever, done);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[1].at, now);
  EXPECT_EQ(flows.now(), now);
}

TEST(LinkFlows, OfOneNumberMayFollowEachOther) {
  LinkFlows flows{star()};
  std::vector<Flows::Completion> done;
  for (int i = 0; i < 3; ++i) {
    flows.start(7, RankId{0}, RankId{1}, bytes(2'000'000), flows.now(), 0);
    done = rest_of(flows);
    ASSERT_EQ(done.size(), 1U);
  }
  EXPECT_EQ(done[0].at, Time{from_seconds(3 * (kLatency + 2e-3))});
}

/// star() with the links of its routes in order, so that they can be watched.
std::shared_ptr<const LinkNetwork> watched_star() {
  auto network = std::make_shared<LinkNetwork>(*star());
  network->route = [plain = network->route](RankId from, RankId to) {
    Route route = plain(from, to);
    for (const MaxMin::Use& use : route.uses) route.way.push_back(use.link);
    return route;
  };
  network->link = [](MaxMin::Link id) {
    return SharedLink{kBandwidth, MaxMin::Sharing::kShared, "link" + std::to_string(id)};
  };
  return network;
}

constexpr Duration kMillisecond{1'000'000'000};

TEST(WatchedLinks, TellWhoWasHeldUpWhereAndForHowLong) {
  LinkFlows flows{watched_star()};
  flows.watch_links();
  flows.start(0, RankId{0}, RankId{2}, bytes(2'000'000), kTimeZero, 7);
  flows.start(1, RankId{1}, RankId{2}, bytes(2'000'000), Time{kMillisecond}, 8);
  const auto done = rest_of(flows);
  // Each is alone for one millisecond, and has half of the link to rank 2 for two.
  EXPECT_EQ(done[0].held_up, kMillisecond);
  EXPECT_EQ(done[1].held_up, kMillisecond);
  const LinkUsage usage = *flows.link_usage();
  const LinkUsage::Link& shared = usage.links[5];
  EXPECT_EQ(shared.name, "link5");
  EXPECT_EQ(shared.messages, 2U);
  EXPECT_EQ(shared.bytes, 4'000'000U);
  EXPECT_EQ(shared.busy, 4 * kMillisecond);
  EXPECT_EQ(shared.full, 2 * kMillisecond);
  EXPECT_EQ(shared.held_up, 2 * kMillisecond);
  EXPECT_NEAR(shared.carried, 4e6, 1e-3);
  EXPECT_EQ(usage.links[0].held_up, Duration::zero());
  EXPECT_EQ(usage.messages, 2U);
  EXPECT_EQ(usage.met, 2U);
  EXPECT_EQ(usage.slowed, 2U);
  ASSERT_EQ(usage.streams.size(), 2U);
  EXPECT_EQ(usage.streams[1].cause, 8U);
  EXPECT_EQ(usage.streams[1].flowing, 3 * kMillisecond);
  ASSERT_EQ(usage.streams[1].by.size(), 1U);
  EXPECT_EQ(usage.streams[1].by[0], std::pair(LinkUsage::Number{5}, kMillisecond));
}

TEST(WatchedLinks, ShowLoadOverTime) {
  LinkFlows flows{watched_star()};
  flows.watch_links();
  flows.start(0, RankId{0}, RankId{1}, bytes(50'000'000), kTimeZero, 0);
  static_cast<void>(rest_of(flows));
  std::vector<Flows::Completion> none;
  flows.start(1, RankId{2}, RankId{2}, bytes(1), Time{100 * kMillisecond}, 0);
  static_cast<void>(rest_of(flows));
  const LinkUsage usage = *flows.link_usage();
  EXPECT_EQ(usage.end, 100 * kMillisecond);
  const std::vector<float>& load = usage.links[0].load;
  double carried = 0;
  for (const float share : load) carried += share * seconds(usage.bin) * kBandwidth;
  EXPECT_NEAR(carried, 50e6, 100);
  EXPECT_NEAR(load[static_cast<std::size_t>(25 * kMillisecond / usage.bin)], 1, 1e-4);
  EXPECT_EQ(load[static_cast<std::size_t>(75 * kMillisecond / usage.bin)], 0);
}

/// Many messages over few links, from many causes: what is told of links, of streams and of messages is one.
TEST(WatchedLinks, HaveExactSums) {
  LinkFlows flows{watched_star()};
  flows.watch_links();
  constexpr int kRanks = 7;
  std::uint64_t bytes_times_links = 0;
  for (int i = 0; i < 2000; ++i) {
    const int from = i * 5 % kRanks;
    const int to = i * 3 % 4 == 0 ? i % kRanks : (from + 1 + i % 3) % kRanks;
    const std::int64_t size = 1 + i * 7919 % 50'000;
    if (from != to) bytes_times_links += 2 * static_cast<std::uint64_t>(size);
    flows.start(static_cast<Flows::FlowId>(i), RankId{from}, RankId{to}, bytes(size),
                Time{Duration{i * 3'000'017LL}}, static_cast<std::uint32_t>(i % 3));
  }
  Duration held_up{};
  std::uint64_t slowed = 0;
  for (const Flows::Completion& c : rest_of(flows)) {
    held_up += c.held_up;
    slowed += c.held_up > Duration::zero() ? 1U : 0U;
  }
  const LinkUsage usage = *flows.link_usage();
  std::uint64_t carried = 0;
  Duration by_link{};
  Duration by_stream{};
  Duration by_stream_and_link{};
  for (const LinkUsage::Link& link : usage.links) {
    carried += link.bytes;
    by_link += link.held_up;
    EXPECT_LE(link.full, link.busy);
    for (const float share : link.load) EXPECT_LE(share, 1 + 1e-4);
  }
  for (const LinkUsage::Stream& stream : usage.streams) {
    by_stream += stream.held_up;
    for (const auto& [link, time] : stream.by) by_stream_and_link += time;
  }
  EXPECT_EQ(carried, bytes_times_links);
  EXPECT_GT(held_up, Duration::zero());
  EXPECT_EQ(by_link, held_up);
  EXPECT_EQ(by_stream, held_up);
  EXPECT_EQ(by_stream_and_link, held_up);
  EXPECT_EQ(usage.slowed, slowed);
  EXPECT_EQ(usage.messages, 2000U);
  EXPECT_GE(usage.met, usage.slowed);
}

TEST(WatchedLinks, ChangeNoTime) {
  std::vector<Time> ends[2];
  for (const bool watched : {false, true}) {
    LinkFlows flows{watched_star()};
    if (watched) flows.watch_links();
    for (int i = 0; i < 300; ++i)
      flows.start(static_cast<Flows::FlowId>(i), RankId{i % 5}, RankId{(i * 3 + 1) % 5}, bytes(10'000 + i),
                  Time{Duration{i * 1'000'003LL}}, 0);
    for (const Flows::Completion& c : rest_of(flows)) ends[watched ? 1 : 0].push_back(c.at);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(Links, AreNotToldOfUnlessWatched) {
  EXPECT_FALSE(LinkFlows{star()}.link_usage());
}

/// Rank 0's link out is quiet for 1 ms, then others take three quarters of it for 2 ms, and so on.
std::shared_ptr<const LinkNetwork> star_with_bursts() {
  auto network = std::make_shared<LinkNetwork>(*star());
  network->link = [](MaxMin::Link number) {
    SharedLink link{kBandwidth, MaxMin::Sharing::kShared};
    if (number == 0) {
      link.background = 0.75 * kBandwidth;
      link.phases = [](std::uint64_t phase) { return phase % 2 == 0 ? 1e-3 : 2e-3; };
    }
    return link;
  };
  network->factors = [](double) { return Factors{1, 1}; };
  return network;
}

TEST(LinkFlows, AreSlowedByBurstsOfOthersWhileTheyLast) {
  LinkFlows flows{star_with_bursts()};
  flows.start(0, RankId{0}, RankId{1}, bytes(2'000'000), kTimeZero, 0);
  // 990,000 bytes to 1 ms, 500,000 in the burst to 3 ms, the rest at full speed.
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(3e-3 + 510e-6)});
}

TEST(LinkFlows, MeetTheBurstsOfTheirTimeThoughNobodyWasThereBefore) {
  for (const bool early : {true, false}) {
    LinkFlows flows{star_with_bursts()};
    if (early) flows.start(1, RankId{0}, RankId{1}, bytes(1000), kTimeZero, 0);
    rest_of(flows);
    flows.start(0, RankId{0}, RankId{2}, bytes(1'000'000), Time{from_seconds(7.5e-3)}, 0);
    // The third burst is from 7 to 9 ms.
    EXPECT_EQ(rest_of(flows).back().at, Time{from_seconds(9e-3 + 1e-3 - (1.5e-3 - kLatency) / 4)});
  }
}

TEST(LinkFlows, OfOtherLinksAndAnEmptyNetworkKnowNothingOfBursts) {
  LinkFlows flows{star_with_bursts()};
  flows.start(0, RankId{1}, RankId{2}, bytes(2'000'000), kTimeZero, 0);
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(kLatency + 2e-3)});
  EXPECT_TRUE(flows.idle());
}

TEST(LinkFlows, ShareWhatBurstsLeave) {
  LinkFlows flows{star_with_bursts()};
  for (Flows::FlowId id : {0U, 1U})
    flows.start(id, RankId{0}, RankId{1 + static_cast<int>(id)}, bytes(700'000), kTimeZero, 0);
  // 495,000 bytes each to 1 ms, then an eighth of the link each.
  EXPECT_EQ(rest_of(flows)[0].at, Time{from_seconds(1e-3 + 205e-6 * 8)});
}

}  // namespace
}  // namespace nplus1::netmodel
