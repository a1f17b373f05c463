// One-sided communication against closed forms. L = 1000 ns, 1 byte/ns (docs/one_sided.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "simnode/engine/testing/window_calls.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::Event;
using events::EventKind;
using events::OneSidedOperation;
using events::WindowSync;
using List = World::List;

TEST(OneSided, APutIsThereWhenAMessageWouldBeAndItsOriginDoesNotWait) {
  World world{2};
  put(world, 0, 1, 1000);
  EXPECT_EQ(world.exit(0), ns(0));
  sync(world, 0, WindowSync::kFlush, 1);
  sync(world, 1, WindowSync::kFlush, 0);
  world.engine().decide();
  EXPECT_FALSE(world.returned(0, 2));  // rank 1 may still act before
  world.finalize(1);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(2000 + 1000));  // there, and the acknowledgement
}

TEST(OneSided, AGetTakesARequestAndThePayload) {
  World world{1 + 1};
  world.push(0, transfer(1, 0, 500));
  sync(world, 0, WindowSync::kFlushLocal, 1);
  world.finalize(1);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(1000 + 1500));
}

TEST(OneSided, AFenceWaitsForTheOwnTransfersAndThenForAll) {
  World world{2};
  put(world, 0, 1, 1000);
  sync(world, 0, WindowSync::kFence);
  EXPECT_TRUE(world.returned(0, 1));
  world.compute(100);
  sync(world, 1, WindowSync::kFence);
  EXPECT_EQ(world.exit(0), ns(3000));         // its partner's message has been there since 1100
  EXPECT_EQ(world.exit(1), ns(3000 + 1000));  // the other's
}

TEST(OneSided, ARequestIsCompleteWhenTheBufferMayBeUsedAgain) {
  World world{2, "lsb:latency=1e-06,bandwidth=1e+09,eager=1000"};
  world.push(0, transfer(1, 1000, 0, 7));
  world.wait(0, {7});
  EXPECT_EQ(world.exit(0), ns(0));  // eager: a copy has been made
  world.push(0, transfer(1, 1001, 0, 8));
  world.wait(0, {8});
  EXPECT_EQ(world.exit(0), ns(2001));
  world.push(0, transfer(1, 8, 8, 9));
  world.wait(0, {9});
  EXPECT_EQ(world.exit(0), ns(2001 + 2 * 1008));
}

TEST(OneSided, TransfersToNobodyTakeNoTime) {
  World world{2};
  world.push(0, transfer(kProcNull.value, 1000, 1000, 7));
  world.wait(0, {7});
  sync(world, 0, WindowSync::kLock, kProcNull.value);
  EXPECT_EQ(world.exit(0), ns(0));
}

TEST(OneSided, AnEpochOfGroupsWaitsForPostsTransfersAndTheirEnd) {
  World world{2};
  sync(world, 0, WindowSync::kStart, List{1});
  world.compute(5000);
  sync(world, 1, WindowSync::kPost, List{0});
  EXPECT_EQ(world.exit(1), ns(5000));
  EXPECT_EQ(world.exit(0), ns(6000));
  put(world, 0, 1, 1000);
  sync(world, 1, WindowSync::kWait, List{0});
  sync(world, 0, WindowSync::kComplete, List{1});
  EXPECT_EQ(world.exit(0), ns(9000));
  EXPECT_EQ(world.exit(1), ns(10000));
  EXPECT_EQ(world.last(1).answer.aux, 5000U * 1000U);  // it waited since 5000
}

TEST(OneSided, AnEpochWithoutOriginsOrTargetsWaitsForNobody) {
  World world{2};
  sync(world, 0, WindowSync::kPost, List{});
  sync(world, 0, WindowSync::kStart, List{});
  sync(world, 0, WindowSync::kComplete, List{});
  sync(world, 0, WindowSync::kWait, List{});
  EXPECT_EQ(world.exit(0), ns(0));
}

TEST(OneSided, ATestOfAnEpochIsDecidedByVirtualTime) {
  World world{2};
  sync(world, 1, WindowSync::kPost, List{0});
  world.compute(2500);
  sync(world, 1, WindowSync::kTest, List{0});
  world.engine().decide();
  EXPECT_TRUE(world.returned(1, 1));
  sync(world, 0, WindowSync::kStart, List{1});     // to 1000
  sync(world, 0, WindowSync::kComplete, List{1});  // there at 2000
  world.engine().decide();
  EXPECT_EQ(world.exit(1), ns(2500));
  EXPECT_EQ(world.last(1).answer.flag, 1);
}

TEST(OneSided, ATestBeforeTheEndOfAnEpochFails) {
  World world{2};
  sync(world, 1, WindowSync::kPost, List{0});
  world.compute(1500);
  sync(world, 1, WindowSync::kTest, List{0});
  sync(world, 0, WindowSync::kStart, List{1});
  sync(world, 0, WindowSync::kComplete, List{1});
  EXPECT_EQ(world.last(1).answer.flag, 0);
  EXPECT_GT(world.exit(1), ns(1500));
}

void update(World& world, int rank, int target, int mode) {
  sync(world, rank, WindowSync::kLock, target, mode);
  put(world, rank, target, 1000);
  sync(world, rank, WindowSync::kUnlock, target);
}

/// Before the rank's MPI_Finalize.
Time last_sync(World& world, int rank) {
  return world.calls(rank).at(world.calls(rank).size() - 2).exit();
}

TEST(OneSided, ExclusiveLocksAreHeldInTheOrderOfTheirRequests) {
  World world{4};
  for (int rank = 3; rank >= 1; --rank) {  // told in another order
    world.compute(10 * (4 - rank));        // rank 3 asks first
    update(world, rank, 0, events::kExclusiveLock);
  }
  world.engine().decide();
  EXPECT_TRUE(world.returned(3, 0));  // rank 0 might ask
  world.finalize_all(4);
  world.engine().decide();
  // Granted at 1010, known at 2010; the put is acknowledged at 5010, the lock back at 6010.
  EXPECT_EQ(last_sync(world, 3), ns(5010));
  EXPECT_EQ(last_sync(world, 2), ns(6010 + 1000 + 3000));
  EXPECT_EQ(last_sync(world, 1), ns(11010 + 1000 + 3000));
  EXPECT_EQ(world.calls(1)[0].answer.source, 2);
  EXPECT_EQ(world.calls(1)[0].answer.aux, (11010U - 1030U) * 1000U);
}

TEST(OneSided, SharedLocksAreHeldTogetherAndKeepAnExclusiveOneWaiting) {
  World world{4};
  for (int rank = 1; rank <= 2; ++rank) update(world, rank, 0, events::kSharedLock);
  world.compute(10);
  update(world, 3, 0, events::kExclusiveLock);
  world.finalize_all(4);
  world.engine().decide();
  EXPECT_EQ(world.exit(1), ns(5000));
  EXPECT_EQ(world.exit(2), ns(5000));
  EXPECT_EQ(world.exit(3), ns(6000 + 1000 + 3000));
}

/// Ranks tell in any order when they give a lock back.
TEST(OneSided, WhoHadASharedLockLongestIsNamedByWhomItKeptWaiting) {
  World world{4};
  world.finalize(0);
  for (int rank = 1; rank <= 2; ++rank) sync(world, rank, WindowSync::kLock, 0, events::kSharedLock);
  world.compute(10);
  sync(world, 3, WindowSync::kLock, 0, events::kExclusiveLock);
  world.engine().decide();
  world.compute(500);
  sync(world, 2, WindowSync::kUnlock, 0);
  sync(world, 1, WindowSync::kUnlock, 0);
  for (int rank = 1; rank <= 3; ++rank) world.finalize(rank);
  world.engine().decide();
  EXPECT_EQ(world.calls(3)[0].answer.source, 2);
  EXPECT_EQ(world.calls(3)[0].answer.aux, (2000U + 500U - 10U) * 1000U);
}

TEST(OneSided, LockingAllAsksEverybody) {
  World world{3};
  sync(world, 1, WindowSync::kLock, 2, events::kExclusiveLock);
  put(world, 1, 2, 1000);
  sync(world, 1, WindowSync::kUnlock, 2);
  world.compute(10);
  sync(world, 0, WindowSync::kLockAll);
  world.finalize(2);
  world.finalize(1);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(6000 + 1000));
  sync(world, 0, WindowSync::kUnlockAll);
  EXPECT_EQ(world.exit(0), ns(7000));
  EXPECT_EQ(world.engine().counters().order_inversions, 0U);
}

TEST(OneSided, ALockThatNeedNotBeAskedForIsThereAtOnce) {
  World world{2};
  sync(world, 0, WindowSync::kLock, 1, events::kExclusiveLock | events::kLockWithoutAsking);
  sync(world, 0, WindowSync::kUnlock, 1);
  EXPECT_EQ(world.exit(0), ns(0));
}

TEST(OneSided, OverheadsAreTheOriginsAlone) {
  World world{2, "loggops:L=1e-6,o=1e-7,g=0,G=1e-9,O=0,S=65536"};
  put(world, 0, 1, 1001);
  EXPECT_EQ(world.exit(0), ns(100));
  sync(world, 0, WindowSync::kFlushAll);
  world.finalize(1);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(100 + 2001 + 1000));
}

TEST(OneSided, WhoHoldsALockThatNobodyGivesBackIsNamed) {
  World world{2};
  sync(world, 0, WindowSync::kLock, 0, events::kExclusiveLock);
  world.compute(10);
  sync(world, 1, WindowSync::kLock, 0, events::kExclusiveLock);
  world.engine().decide();
  ASSERT_TRUE(world.returned(0, 1));
  world.recv(0, 1, 0);
  world.engine().decide();
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
  const auto blocked = world.engine().blocked();
  ASSERT_EQ(blocked.size(), 2U);
  EXPECT_EQ(blocked[1].awaits, std::vector<RankId>{RankId{0}});
}

TEST(OneSided, AMissingPostIsADeadlockThatNamesTheTarget) {
  World world{2};
  sync(world, 0, WindowSync::kStart, List{1});
  world.recv(1, 0, 0);
  world.engine().decide();
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
  EXPECT_EQ(world.engine().blocked()[0].awaits, std::vector<RankId>{RankId{1}});
}

/// One rank's calls, with what it computes before each.
struct Step {
  double computes;
  Event event;
};

std::vector<std::vector<Step>> random_program(std::mt19937& random, int ranks) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<std::vector<Step>> program(static_cast<std::size_t>(ranks));
  for (int round = 0; round < 6; ++round) {
    const bool fences = below(3) == 0;
    for (std::vector<Step>& steps : program) {
      const auto add = [&](Event e) { steps.push_back({below(3) * 777.0, e}); };
      const int target = below(ranks);
      const int mode = below(2);
      if (!fences) add(sync_event(below(8) == 0 ? WindowSync::kLockAll : WindowSync::kLock, target, mode));
      const bool all = !fences && steps.back().event.window_sync() == WindowSync::kLockAll;
      if (all) steps.back().event.tag = 0;
      for (int k = below(4); k > 0; --k) add(transfer(target, below(3000), below(2) * below(3000)));
      if (!fences && below(3) == 0) add(sync_event(WindowSync::kFlush, target));
      add(fences ? sync_event(WindowSync::kFence)
                 : sync_event(all ? WindowSync::kUnlockAll : WindowSync::kUnlock, target));
    }
  }
  return program;
}

std::vector<Time> exits(const std::vector<std::vector<Step>>& program, std::mt19937& random) {
  const int ranks = static_cast<int>(program.size());
  World world{ranks, "loggops:L=1e-6,o=1e-7,g=1e-8,G=1e-9,O=0,S=65536"};
  std::vector<std::size_t> next(program.size());
  for (std::size_t left = program.size(); left > 0;) {
    const std::size_t rank = random() % program.size();
    if (next[rank] > program[rank].size()) continue;
    for (std::size_t burst = 1 + random() % 5; burst > 0 && next[rank] <= program[rank].size(); --burst) {
      if (next[rank] == program[rank].size()) {
        world.finalize(static_cast<int>(rank));
        --left;
      } else {
        const Step& step = program[rank][next[rank]];
        world.compute(step.computes).push(static_cast<int>(rank), step.event);
      }
      ++next[rank];
    }
    if (random() % 2 == 0) world.engine().decide();
  }
  world.engine().decide();
  EXPECT_EQ(world.engine().state(), State::kFinished);
  EXPECT_EQ(world.engine().counters().order_inversions, 0U);
  std::vector<Time> all;
  for (int rank = 0; rank < ranks; ++rank)
    for (const Returned& call : world.calls(rank)) all.push_back(call.exit());
  return all;
}

TEST(OneSided, TimesDoNotDependOnTheOrderInWhichRanksAreHeard) {
  std::mt19937 random{1};
  for (int trial = 0; trial < 200; ++trial) {
    const auto program = random_program(random, 2 + trial % 5);
    const std::vector<Time> first = exits(program, random);
    for (int again = 0; again < 3; ++again) ASSERT_EQ(exits(program, random), first) << "trial " << trial;
  }
}

}  // namespace
}  // namespace nplus1::simnode::engine
