// What variants save, in closed form: a message takes 1 us and a nanosecond for each byte; those above 10000 bytes wait
// for their receive.
#include <cmath>

#include "overlap/one_wait.hpp"
#include "overlap/results.hpp"
#include "overlap/testing/program.hpp"

namespace nplus1::overlap {
namespace {

/// Two exchanges with the neighbours on a ring, each iteration, then `compute` us that need what came after `apart`.
OverlapProgram ring(std::int64_t bytes, std::int64_t compute, std::int64_t apart, bool by_hand = false,
                    std::int64_t charge = 0) {
  constexpr std::int32_t kRanks = 4;
  OverlapProgram p{kRanks};
  p.charge_calls(charge);
  for (int i = 0; i < 5; ++i)
    for (std::int32_t r = 0; r < kRanks; ++r) {
      const std::int32_t left = (r + kRanks - 1) % kRanks, right = (r + 1) % kRanks;
      p.compute(r, compute);
      if (by_hand) {
        const std::uint32_t a = p.isend(r, left, bytes);
        const std::uint32_t b = p.ireceive(r, right);
        const std::uint32_t c = p.isend(r, right, bytes);
        const std::uint32_t d = p.ireceive(r, left);
        p.compute(r, apart);
        p.wait(r, {a, b, c, d});
        continue;
      }
      const auto a = p.exchange(r, left, right, bytes);
      p.exchange(r, right, left, bytes);
      p.compute(r, apart);
      p.touch(r, a.received);
    }
  p.record();
  if (!by_hand) p.survey();
  return p;
}

TEST(Savings, ThePapersGroupingIsWhatWritingItByHandGives) {
  for (const std::int64_t bytes : {100, 5000, 20000, 80000})
    for (const std::int64_t apart : {0, 7, 30}) {
      const OverlapProgram p = ring(bytes, 20, apart);
      EXPECT_EQ(p.with(Variant::kGrouped), ring(bytes, 20, apart, true).with(Plan{}))
          << bytes << ' ' << apart;
    }
}

TEST(Savings, UnderGivenComputeTimesTheCallsThatArePutInAreCharged) {
  EXPECT_EQ(ring(5000, 20, 0, false, 2).with(Variant::kGrouped), ring(5000, 20, 0, true, 2).with(Plan{}));
}

TEST(Savings, WithoutLatencyAndWithEndlessBandwidthThereIsNone) {
  const OverlapProgram p = ring(5000, 20, 10);
  const std::string ideal = "lsb:latency=0,bandwidth=1e18";
  for (const Variant v : {Variant::kGrouped, Variant::kPerRequest})
    EXPECT_NEAR(p.makespan(Plan{}, ideal), p.makespan(v, ideal), 1e-3);
}

TEST(Savings, TwiceTheLatencySavesTwiceAsMuch) {
  const OverlapProgram p = ring(8, 50, 0);
  const auto saved = [&](const std::string& network) {
    return p.makespan(Plan{}, network) - p.makespan(Variant::kGrouped, network);
  };
  const double once = saved("lsb:latency=5us,bandwidth=1GBps");
  EXPECT_GT(once, 20);  // one latency in each of five iterations
  EXPECT_NEAR(saved("lsb:latency=10us,bandwidth=1GBps"), 2 * once, 0.02 * once);
}

/// 20 us of transfer behind 100 us of computing between the exchange and its use.
TEST(Savings, OfARendezvousMessageAsynchronousProgressSavesMoreThanWeak) {
  const OverlapProgram p = ring(19000, 20, 100);
  const auto saved = [&](bool weak) {
    return p.makespan(Plan{}, kTestNetwork, weak) - p.makespan(Variant::kGrouped, kTestNetwork, weak);
  };
  EXPECT_GT(saved(false), saved(true) + 50);
  EXPECT_GE(saved(true), 0);
  // What is short needs nobody.
  const OverlapProgram shorter = ring(1000, 20, 100);
  EXPECT_EQ(shorter.with(Variant::kGrouped, kTestNetwork, true), shorter.with(Variant::kGrouped));
}

/// Sent at 50 us and used at 200: received meanwhile, if it is posted before its computing.
TEST(Savings, EachRequestIsPostedAsEarlyAndWaitedForAsLateAsIsLegal) {
  OverlapProgram p{2};
  p.compute(0, 50);
  p.send(0, 1, 20000);
  p.compute(0, 100);
  p.compute(1, 70);
  p.untouched_for(1, p.next_ordinal(1) + 1, 40);
  const std::uint64_t received = p.next_ordinal(1);
  p.receive(1, 0);
  p.compute(1, 30);
  p.touch(1, received);
  p.compute(1, 10);
  p.record();
  p.survey();
  EXPECT_EQ(p.with(Plan{}), (Ends{191, 131}));
  // Posted at 30 us: the transfer of 21 us begins at 50 us. Neither waits for the other any more.
  EXPECT_EQ(p.with(Variant::kPerRequest), (Ends{150, 110}));
  EXPECT_EQ(p.with(Variant::kGrouped), (Ends{150, 110}));
}

TEST(Savings, PostsToTheSamePeerKeepTheirOrder) {
  OverlapProgram p{2};
  p.compute(0, 10);
  p.send(0, 1, 100);
  p.send(0, 1, 5000);
  p.compute(1, 40);
  p.receive(1, 0);  // its buffer is used up to the call
  p.untouched_for(1, p.next_ordinal(1) + 1, 40);
  p.receive(1, 0);
  p.record();
  p.survey();
  const Plan plan = plan_of(p.surveyed(), p.analysis(), p.all_chains(), Variant::kPerRequest);
  ASSERT_EQ(plan.size(), 2U);
  ASSERT_EQ(plan[1].size(), 2U);
  EXPECT_GE(plan[1][1].post, plan[1][0].post);
}

TEST(Savings, AMessageThatStaysIsNotOvertakenByOneThatIsPostedEarlier) {
  OverlapProgram p{2};
  p.compute(0, 10);
  p.send(0, 1, 100);
  p.send(0, 1, 5000);
  p.compute(1, 40);
  const std::uint64_t first = p.next_ordinal(1);
  p.receive(1, 0);
  p.called(1, MpiCall::MPI_Recv);
  p.touch(1, first);
  p.untouched_for(1, p.next_ordinal(1) + 1, 40);
  const std::uint64_t second = p.next_ordinal(1);
  const std::uint32_t request = p.ireceive(1, 0);
  p.called(1, MpiCall::MPI_Irecv);
  p.wait(1, {request});
  p.compute(1, 5);
  p.touch(1, second);
  p.record();
  p.survey();
  bool looked_at = false;
  for (const std::size_t c : p.all_chains()) {
    const Plan plan = plan_of(p.surveyed(), p.analysis(), {c}, Variant::kPerRequest);
    if (plan.empty() || plan[1].size() != 1 || p.surveyed().ranks()[1].ends[plan[1][0].end].ordinal != second)
      continue;
    looked_at = true;
    EXPECT_GE(plan[1][0].post, (Position{first + 1, 0})) << "behind the first, which is not in the plan";
    EXPECT_EQ(p.with(plan).size(), 2U) << "it ends";
  }
  EXPECT_TRUE(looked_at);
  // Both in the plan: the first is waited for later, but posted where it was.
  const Plan both = plan_of(p.surveyed(), p.analysis(), p.all_chains(), Variant::kPerRequest);
  ASSERT_EQ(both[1].size(), 2U);
  EXPECT_GE(both[1][1].post, (Position{first + 1, 0}));
}

/// 6 us of transfer before 7 us of computing, and what uses the data is in another function (here each line is one).
TEST(Savings, OneWaitInTheSourceStandsBehindTheCallsIfAnotherFunctionUsesTheData) {
  OverlapProgram p{4};
  for (int i = 0; i < 5; ++i)
    for (std::int32_t r = 0; r < 4; ++r) {
      p.line(r, 10);
      p.compute(r, 20);
      const auto left = p.exchange(r, (r + 3) % 4, (r + 1) % 4, 5000);
      const auto right = p.exchange(r, (r + 1) % 4, (r + 3) % 4, 5000);
      p.compute(r, 7);
      p.touch(r, left.received, Access::kFirstTouch, 20);
      p.touch(r, right.received, Access::kFirstTouch, 30);
    }
  p.record();
  p.survey();
  EXPECT_EQ(one_wait_of(p.surveyed(), p.analysis(), {0}).where, WaitsAt::kAfterCalls);
  for (const double end : p.with(Plan{})) EXPECT_DOUBLE_EQ(end, 5 * (20 + 6 + 6 + 7));
  for (const double end : p.with(Variant::kOneWait)) EXPECT_DOUBLE_EQ(end, 5 * (20 + 6 + 7));
  for (const double end : p.with(Variant::kGrouped)) EXPECT_DOUBLE_EQ(end, 5 * (20 + 7));
}

/// The receive is used in the middle of the computing: the wait may not move behind that.
TEST(Savings, NothingIsWaitedForBehindItsUse) {
  const OverlapProgram p = ring(5000, 20, 7);
  for (const auto& bounds : p.analysis().bounds)
    for (const Bounds& b : bounds) EXPECT_TRUE(b.deferrable);
  const Ends grouped = p.with(Variant::kGrouped);
  // In each iteration 20 us, then 6 us of transfer behind 7 us.
  for (const double end : grouped) EXPECT_DOUBLE_EQ(end, 5 * 27);
}

/// Efficiency of a run.
EfficiencyResult efficiency(const OverlapProgram& p, const Plan& plan = {}) {
  const auto network = netmodel::parse(kTestNetwork);
  Efficiency sink{p.ranks(), *network.value()};
  p.replay_into(plan, sink);
  return sink.result();
}

/// Halo by hand: 6 us of transfer behind `compute` us, then 10 us more.
OverlapProgram halo(std::int64_t bytes, std::int64_t compute) {
  OverlapProgram p{4};
  for (int i = 0; i < 10; ++i)
    for (std::int32_t r = 0; r < 4; ++r) {
      const std::uint32_t a = p.ireceive(r, (r + 3) % 4);
      const std::uint32_t b = p.isend(r, (r + 1) % 4, bytes);
      p.compute(r, compute);
      p.wait(r, {a, b});
      p.compute(r, 10);
    }
  p.record();
  p.survey();
  return p;
}

TEST(OverlapEfficiency, IsTheShareOfTheTransferThatComputingHides) {
  EXPECT_DOUBLE_EQ(efficiency(halo(5000, 3)).whole.share(), 0.5);
  EXPECT_DOUBLE_EQ(efficiency(halo(5000, 6)).whole.share(), 1);
  EXPECT_DOUBLE_EQ(efficiency(halo(5000, 0)).whole.share(), 0);
  EXPECT_DOUBLE_EQ(efficiency(ring(5000, 10, 5)).whole.share(), 0);  // blocking
}

/// As it is, and with each call waited for at once.
TEST(OverlapEfficiency, AgreesWithTwoReplays) {
  for (const std::int64_t bytes : {1000, 5000, 30000})
    for (const std::int64_t compute : {1, 3, 20}) {
      const OverlapProgram p = halo(bytes, compute);
      const EfficiencyResult here = efficiency(p);
      const Plan at_once = waited_at_once(p.surveyed());
      const Ends as_is = p.with(Plan{}), once = p.with(at_once);
      double hidden = 0;
      for (std::size_t r = 0; r < as_is.size(); ++r) hidden += once[r] - as_is[r];
      const double transfer = static_cast<double>(efficiency(p, at_once).whole.transfer) / kUs;
      EXPECT_NEAR(here.whole.share(), hidden / transfer, 0.02) << bytes << ' ' << compute;
      EXPECT_EQ(efficiency(p, at_once).whole.hidden, 0);
    }
}

/// Exchanges with two neighbours, 0.5 us of computing behind them before the wait, and work that differs by rank and step,
/// as in programs whose computing is measured: ranks wait for each other, and little is hidden.
OverlapProgram uneven(std::uint32_t seed) {
  OverlapProgram p{6};
  std::uint32_t state = seed;
  const auto below = [&state](std::uint32_t n) {
    return (state = state * 1664525U + 1013904223U) / 65536U % n;
  };
  for (int i = 0; i < 40; ++i)
    for (std::int32_t r = 0; r < 6; ++r) {
      p.compute(r, below(30));
      const std::uint32_t a = p.ireceive(r, (r + 5) % 6);
      const std::uint32_t b = p.ireceive(r, (r + 1) % 6);
      const std::uint32_t c = p.isend(r, (r + 1) % 6, 3000);
      const std::uint32_t d = p.isend(r, (r + 5) % 6, 6000);
      p.compute(r, below(10) == 0 ? 1 : 0);
      p.wait(r, {a, b, c, d});
    }
  p.record();
  p.survey();
  return p;
}

/// Two replays of a program of which little is hidden: their hidden transfer over their time in transfer is the
/// efficiency, while their visible times differ by more that messages overlap each other than that computing hides them.
TEST(OverlapEfficiency, IsWhatTwoReplaysSayWithinTwoPerCentWhereLittleIsHidden) {
  double worst_visible = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const OverlapProgram p = uneven(seed);
    const Hidden as_is = efficiency(p).whole, at_once = efficiency(p, waited_at_once(p.surveyed())).whole;
    ASSERT_GT(as_is.share(), 0.0005) << seed;
    ASSERT_LT(as_is.share(), 0.05) << seed;
    Results results;
    results.as_written[0] = Replayed{1, 0, as_is, 0, true};
    results.at_once = Replayed{1, 0, at_once, 0, true};
    const auto two = results.two_replays();
    ASSERT_TRUE(two);
    EXPECT_NEAR(two->share / as_is.share(), 1, 0.02) << seed;
    EXPECT_DOUBLE_EQ(two->share * two->ratio, as_is.share());
    worst_visible = std::max(worst_visible, std::abs(two->visible_share / as_is.share() - 1));
  }
  EXPECT_GT(worst_visible, 0.02);
}

TEST(OverlapEfficiency, IsKnownByRankSiteAndRegion) {
  OverlapProgram p{2};
  for (std::int32_t r = 0; r < 2; ++r) {
    p.begin_region(r, 1);
    p.line(r, 4);
    const std::uint32_t a = p.ireceive(r, 1 - r);
    p.line(r, 5);
    const std::uint32_t b = p.isend(r, 1 - r, 5000);
    p.compute(r, r == 0 ? 3 : 20);
    p.wait(r, {a, b});
    p.end_region(r, 1);
  }
  p.record();
  p.survey();
  const EfficiencyResult e = efficiency(p);
  EXPECT_DOUBLE_EQ(e.ranks[0].share(), 0.5);
  EXPECT_DOUBLE_EQ(e.ranks[1].share(), 1);
  EXPECT_DOUBLE_EQ(e.sites.at(4).share(), 0.75);
  EXPECT_DOUBLE_EQ(e.regions.at(1).share(), 0.75);
  EXPECT_EQ(e.regions.size(), 1U);
}

}  // namespace
}  // namespace nplus1::overlap
