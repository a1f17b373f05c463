// Critical paths and delay costs of programs small enough to draw by hand, and sums that must hold for all.
#include <gtest/gtest.h>

#include <random>

#include "hypothesis/testing/wait_states_world.hpp"

namespace nplus1::hypothesis {
namespace {

const Activity* in_region(const WaitStateResults& results, const std::string& region) {
  for (const Activity& activity : results.activities)
    if (activity.region == region && activity.computing()) return &activity;
  return nullptr;
}

/// rank 0: |--region1 30--|send 1                    |--region5 5--|
/// rank 1: |-2 10-|recv        32|--region3 20--|send 2
/// rank 2: |----region4 40----|recv              54|--region6 6--|     ends last, at 60
TEST(CriticalPath, IsTheHandDrawnOne) {
  Program p{3};
  p.work(0, 1, 30);
  p.send(0, 1, 7, 1000);
  p.work(0, 5, 5);
  p.work(1, 2, 10);
  p.recv(1, 0, 7);
  p.work(1, 3, 20);
  p.send(1, 2, 7, 1000);
  p.work(2, 4, 40);
  p.recv(2, 1, 7);
  p.work(2, 6, 6);
  const auto r = p.end();
  EXPECT_EQ(r.virtual_time, us(60));
  EXPECT_EQ(r.last_rank, 2);
  EXPECT_EQ(in_region(r, "region1")->tally.on_critical_path, us(30));
  EXPECT_EQ(in_region(r, "region2")->tally.on_critical_path, us(0));
  EXPECT_EQ(in_region(r, "region3")->tally.on_critical_path, us(20));
  EXPECT_EQ(in_region(r, "region4")->tally.on_critical_path, us(0));
  EXPECT_EQ(in_region(r, "region5")->tally.on_critical_path, us(0));
  EXPECT_EQ(in_region(r, "region6")->tally.on_critical_path, us(6));
  EXPECT_EQ(r.ranks[0].on_critical_path, us(30));
  EXPECT_EQ(r.ranks[1].on_critical_path, us(22));
  EXPECT_EQ(r.ranks[2].on_critical_path, us(8));
  EXPECT_EQ(in_region(r, "region1")->critical_imbalance, us(20));  // 30 on the path, 10 on average
}

TEST(CriticalPath, ContinuesOnALateReceiver) {
  Program p{2};
  p.send(0, 1, 7, 1000, events::SendMode::kSynchronous);
  p.work(0, 1, 10);
  p.work(1, 2, 50);
  p.recv(1, 0, 7);
  const auto r = p.end();
  EXPECT_EQ(in_region(r, "region2")->tally.on_critical_path, us(50));
  EXPECT_EQ(in_region(r, "region1")->tally.on_critical_path, us(10));
  EXPECT_EQ(r.virtual_time, us(62));
}

TEST(CriticalPath, ContinuesOnTheLastAtABarrier) {
  Program p{2};
  for (const int rank : {0, 1}) p.work(rank, 1, rank == 1 ? 90 : 10);
  for (const int rank : {0, 1}) p.collective(rank, CollectiveKind::kBarrier, 0);  // 0 leaves at 91, 1 at 90
  const auto r = p.end();
  EXPECT_EQ(in_region(r, "region1")->tally.on_critical_path, us(90));
  EXPECT_EQ(r.ranks[1].on_critical_path, us(90));
  EXPECT_EQ(r.ranks[0].on_critical_path, us(1));
}

TEST(CriticalPath, GoesThroughTheSenderThatATestLoopWaitedFor) {
  Program p{2};
  p.irecv(1, 0, 7);
  p.after(5).test(1, {1});
  p.work(0, 1, 100);
  p.send(0, 1, 7, 1000);
  p.after(200).test(1, {1});
  p.finalize(0);
  p.engine().decide();
  p.finalize(1);
  const auto r = p.search().result();
  EXPECT_EQ(in_region(r, "region1")->tally.on_critical_path, us(100));
  EXPECT_EQ(r.total.on_critical_path, r.virtual_time);
}

TEST(DelayCosts, GoToWhatTheLateRankDidMoreOf) {
  Program p{2};
  p.work(0, 1, 60);  // both do region 1: 50 more than the receiver
  p.work(0, 2, 30);  // and 10 less of region 3
  p.send(0, 1, 7, 0);
  p.work(1, 1, 10);
  p.work(1, 3, 10);
  p.recv(1, 0, 7);  // waits 70
  const auto r = p.end();
  EXPECT_EQ(state(r.total, WaitState::kLateSender), us(70));
  EXPECT_EQ(caused(r, "region1", 0, &DelayCost::direct), 44);  // 70 * 50 / 80, rounded
  EXPECT_EQ(caused(r, "region2", 0, &DelayCost::direct), 26);  // 70 * 30 / 80
  EXPECT_EQ(caused(r, "region3", 1, &DelayCost::direct), 0);
  EXPECT_EQ(r.unattributed_delay, 0);
}

TEST(DelayCosts, OfWaitingThatWasPassedOnGoToWhereItCameFrom) {
  Program p{3};
  p.work(0, 1, 100);
  p.send(0, 1, 7, 0);
  p.recv(1, 0, 7);  // waits 100
  p.send(1, 2, 7, 0);
  p.recv(2, 1, 7);  // waits 101, of which rank 1 is hardly to blame
  const auto r = p.end();
  EXPECT_EQ(caused(r, "region1", 0, &DelayCost::direct), 100);
  EXPECT_EQ(caused(r, "region1", 0, &DelayCost::propagated), 100);
  EXPECT_NEAR(r.total.delay.total(), 201e-6, 1e-12);
}

TEST(DelayCosts, CountFromTheLastPointInCommon) {
  Program p{2};
  p.work(0, 1, 500);  // before the barrier: costs what the barrier waited, and nothing later
  p.collective(0, CollectiveKind::kBarrier, 0);
  p.collective(1, CollectiveKind::kBarrier, 0);
  p.work(1, 2, 20);
  p.send(1, 0, 7, 0);
  p.recv(0, 1, 7);
  const auto r = p.end();
  EXPECT_EQ(caused(r, "region1", 0, &DelayCost::direct), 500);
  EXPECT_EQ(caused(r, "region2", 1, &DelayCost::direct), 20);
}

/// A program of halo exchanges, collectives and uneven work; every rank's calls are random but alike.
void random_step(Program& p, int ranks, std::mt19937& random, std::vector<std::uint32_t>& last) {
  const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
  const int what = below(4);
  for (int me = 0; me < ranks; ++me) {
    if (what == 0) {
      p.after(below(50)).collective(me, CollectiveKind::kAllreduce, 8);
      continue;
    }
    if (what == 1) {
      p.after(below(50)).collective(me, CollectiveKind::kBcast, 4096, 2);
      continue;
    }
    const auto mode = what == 2 ? events::SendMode::kStandard : events::SendMode::kSynchronous;
    const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    auto& id = last[static_cast<std::size_t>(me)];
    p.after(below(50)).irecv(me, left, 7);
    p.isend(me, right, 7, 100 * below(90), mode);
    p.after(below(9)).wait(me, {id + 1, id + 2});
    id += 2;
  }
}

TEST(CriticalPath, SumsHoldForRandomPrograms) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const int ranks = 3 + static_cast<int>(seed % 6);
    Program p{ranks, seed % 2 == 0 ? "lsb:eager=4000" : "loggops:L=2us,o=1us,g=1us,S=5000"};
    std::mt19937 random{seed};
    std::vector<std::uint32_t> last(static_cast<std::size_t>(ranks));
    for (int step = 0; step < 200; ++step) random_step(p, ranks, random, last);
    const auto r = p.end();
    EXPECT_EQ(r.total.waiting, p.patterns().totals().waiting);
    EXPECT_EQ(r.total.computing, p.patterns().totals().compute);
    EXPECT_EQ(r.total.on_critical_path, r.virtual_time);
    EXPECT_EQ(p.search().under_way(), 0U);
    EXPECT_EQ(r.unresolved_calls, 0U);
    EXPECT_GE(r.total.transfer(), Duration::zero());
    const Duration late = r.total.in_states() - state(r.total, WaitState::kNxNCompletion);
    EXPECT_NEAR(r.total.delay.total() + r.unattributed_delay, seconds(late), 1e-9);
    EXPECT_LT(r.unattributed_delay, 0.01 * seconds(late));
  }
}

TEST(CriticalPath, MemoryDoesNotGrowWithTheLengthOfTheRun) {
  constexpr int kRanks = 8;
  Program p{kRanks};
  std::mt19937 random{1};
  std::vector<std::uint32_t> last(kRanks);
  for (int step = 0; step < 100; ++step) random_step(p, kRanks, random, last);
  const std::size_t early = p.search().path_nodes();
  std::size_t most = 0;
  for (int step = 0; step < 3000; ++step) {
    random_step(p, kRanks, random, last);
    most = std::max(most, p.search().path_nodes());
  }
  EXPECT_LT(most, 4 * early + 8 * kRanks) << "after 100 steps: " << early;
}

TEST(CriticalPath, MemoryDoesNotGrowWhereNobodyEverWaits) {
  Program p{2};
  for (int step = 0; step < 2000; ++step) {
    for (int i = 0; i < 5; ++i) p.after(1).send(0, 1, 7, 8);  // under way at a time: each keeps a path
    for (int i = 0; i < 5; ++i) p.after(5).recv(1, 0, 7);
  }
  EXPECT_LT(p.search().path_nodes(), 20U);
}

TEST(Efficiencies, MultiplyUpToTheParallelEfficiency) {
  Program p{2};
  p.work(0, 1, 40);
  p.work(1, 1, 20);
  p.collective(0, CollectiveKind::kBarrier, 0);  // 0 leaves at 40, 1 at 41
  p.collective(1, CollectiveKind::kBarrier, 0);
  p.work(1, 1, 9);
  const auto r = p.end();
  ASSERT_EQ(r.virtual_time, us(50));
  ASSERT_EQ(p.ideal_time(), Duration{us(49)});
  const Efficiencies e =
      efficiencies({r.ranks[0].computing, r.ranks[1].computing}, r.virtual_time, p.ideal_time());
  EXPECT_DOUBLE_EQ(e.parallel, 34.5 / 50);
  EXPECT_DOUBLE_EQ(e.load_balance, 34.5 / 40);
  EXPECT_DOUBLE_EQ(e.communication, 40. / 50);
  EXPECT_DOUBLE_EQ(*e.serialisation, 40. / 49);
  EXPECT_DOUBLE_EQ(*e.transfer, 49. / 50);
}

TEST(Efficiencies, IdealReplayNeedsNoTestsThatFail) {
  Program p{2};
  p.irecv(1, 0, 7);
  p.after(5).test(1, {1});
  p.after(100).send(0, 1, 7, 1000);
  p.after(200).test(1, {1});
  p.finalize(0);
  p.engine().decide();
  p.finalize(1);
  EXPECT_EQ(p.ideal_time(), Duration{us(205)});
}

}  // namespace
}  // namespace nplus1::hypothesis
