// A rank's threads: what they wait for of each other, in virtual time.
#include <gtest/gtest.h>

#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::ThreadChange;

TEST(Join, WaitsForTheThreadsEndInVirtualTime) {
  World world{2};
  world.compute(5).thread(1).change(0, ThreadChange::kStart);
  world.thread(0).change(0, ThreadChange::kJoin, 1);
  EXPECT_TRUE(world.returned(0, 0));
  world.thread(1).compute(100).local(0);
  world.thread(1).finalize(0);
  EXPECT_EQ(world.exit(0), ns(105));
}

TEST(Threads, OneBeginsWhenItsCreatorHasComeToWhereItMakesIt) {
  World world{3};
  world.recv(0, 2, 7);  // the simulator does not know yet how long this takes
  world.send(0, 1, 3, 0);
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(1).send(0, 1, 4, 0);
  world.thread(0).recv(1, 0, kAnyTag);
  EXPECT_TRUE(world.returned(1, 0));
  world.compute(100).send(2, 0, 7, 0);
  ASSERT_TRUE(world.returned(1, 1));
  EXPECT_EQ(world.calls(1)[0].answer.tag, 3);  // and not the thread's
  ASSERT_TRUE(world.returned(0, 2, 1));
  EXPECT_GE(world.calls(0, 1)[0].exit(), ns(100));
}

TEST(Teams, AMemberGoesOnWhenItIsForkedAndItsForkerWhenItIsIdle) {
  World world{2};
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(1).compute(30).change(0, ThreadChange::kIdle);
  EXPECT_TRUE(world.returned(0, 1, 1));
  world.thread(0).compute(100).change(0, ThreadChange::kFork, 1);
  ASSERT_TRUE(world.returned(0, 2, 1));
  EXPECT_EQ(world.calls(0, 1)[1].exit(), ns(100));
  world.thread(0).change(0, ThreadChange::kJoin, 1, 2);
  EXPECT_TRUE(world.returned(0, 1));
  world.thread(1).compute(50).change(0, ThreadChange::kIdle);
  ASSERT_TRUE(world.returned(0, 2));
  EXPECT_EQ(world.calls(0)[1].exit(), ns(150));
}

TEST(Teams, AMemberThatIsIdleHoldsNobodyBack) {
  World world{3};
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(1).compute(1).change(0, ThreadChange::kIdle);
  world.thread(0).recv(0, kAny, 0);
  world.compute(10).send(1, 0, 0, 0);
  world.compute(10).recv(1, 0, 5);
  world.recv(2, 0, 5);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 1));
}

TEST(Teams, AForkThatComesBeforeItsMemberIsIdleIsNotLost) {
  World world{2};
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(1).recv(0, 1, 7);  // the simulator does not know yet how long this takes
  world.thread(1).change(0, ThreadChange::kIdle);
  world.thread(1).compute(5).local(0);
  world.thread(0).compute(40).change(0, ThreadChange::kFork, 1);
  world.thread(0).compute(1).change(0, ThreadChange::kJoin, 1, 1);
  world.thread(0).compute(100).send(1, 0, 7, 0);
  world.recv(1, 0, 5);
  ASSERT_TRUE(world.returned(0, 4, 1));
  EXPECT_GE(world.calls(0, 1)[2].exit(), ns(100));  // it was forked at 40, and idle only now
  EXPECT_EQ(world.calls(0, 1)[3].exit(), world.calls(0, 1)[2].exit() + Duration{5000});
  ASSERT_TRUE(world.returned(0, 2));
  EXPECT_EQ(world.calls(0)[1].exit(), world.calls(0, 1)[1].exit());
}

TEST(Teams, AMemberMayEndOrGoOnByItself) {
  World world{2};
  for (const int member : {1, 2}) {
    world.thread(member).change(0, ThreadChange::kStart);
    world.thread(member).change(0, ThreadChange::kIdle);
  }
  world.thread(1).compute(20).change(0, ThreadChange::kFork, 1);
  world.thread(1).local(0);
  EXPECT_TRUE(world.returned(0, 4, 1));
  world.thread(2).finalize(0);
  EXPECT_TRUE(world.returned(0, 3, 2));
  world.thread(0).change(0, ThreadChange::kJoin, 2);
  EXPECT_TRUE(world.returned(0, 1));
  // The same where the thread gets so far only now.
  world.thread(1).recv(0, 1, 7);
  world.thread(1).change(0, ThreadChange::kIdle);
  world.thread(1).finalize(0);
  EXPECT_TRUE(world.returned(0, 4, 1));
  world.thread(0).send(1, 0, 7, 0);
  EXPECT_TRUE(world.returned(0, 7, 1));
}

TEST(Teams, AMembersEndWaitsForWhatItDidBefore) {
  World world{2};
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(1).change(0, ThreadChange::kIdle);
  world.thread(0).recv(0, 1, 7);  // the simulator does not know yet how long this takes
  world.thread(0).change(0, ThreadChange::kFork, 1);
  world.thread(1).compute(5).local(0);
  world.thread(1).finalize(0);
  EXPECT_TRUE(world.returned(0, 1, 1));
  world.thread(0).compute(100).send(1, 0, 7, 0);
  ASSERT_TRUE(world.returned(0, 4, 1));
  EXPECT_GE(world.calls(0, 1)[1].exit(), ns(100));
  EXPECT_EQ(world.calls(0, 1)[2].exit(), world.calls(0, 1)[1].exit() + Duration{5000});
}

TEST(Teams, MembersThatAreIdleAtTheEndHaveWaitedForNothing) {
  World world{1};
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(1).compute(30).change(0, ThreadChange::kIdle);
  EXPECT_TRUE(world.returned(0, 1, 1));
  world.thread(0).compute(100).finalize(0);
  ASSERT_TRUE(world.returned(0, 2, 1));
  EXPECT_EQ(world.calls(0, 1)[1].exit(), ns(30));
}

TEST(Teams, ChangesOfThreadsThatNobodyHasSeenDoNothing) {
  World world{2};
  for (const int other : {7, -1}) {
    world.change(0, ThreadChange::kFork, other);
    world.change(0, ThreadChange::kJoin, other, 3);
  }
  EXPECT_EQ(world.calls(0).size(), 4U);
}

TEST(Join, OfAThreadThatHasEndedTakesNoTime) {
  World world{2};
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(1).finalize(0);
  world.thread(0).compute(50).change(0, ThreadChange::kJoin, 1);
  EXPECT_EQ(world.exit(0), ns(50));
}

TEST(Join, OfAThreadThatNobodyHasSeenReturns) {
  World world{2};
  for (const int other : {0, 7, -1}) world.change(0, ThreadChange::kJoin, other);
  EXPECT_EQ(world.calls(0).size(), 3U);
}

TEST(Join, OfAThreadThatWaitsForEverIsADeadlock) {
  World world{2};
  world.thread(1).recv(0, 1, 0);
  world.thread(0).change(0, ThreadChange::kJoin, 1);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
}

TEST(Threads, OneThatHasBegunAndSaidNothingIsWaitedForUntilItsRankIsWithdrawn) {
  World world{2};
  world.thread(1).change(0, ThreadChange::kStart);
  world.thread(0).recv(0, kAny, 0);
  world.compute(10).send(1, 0, 0, 0);
  world.compute(10).recv(1, 0, 5);
  world.engine().decide();
  EXPECT_EQ(world.engine().awaited(), RankId{0});
  world.engine().withdraw(RankId{0});
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 1));
  world.recv(0, kAny, 0);  // its rank is back; the silent thread still holds nobody back
  world.thread(1).local(0);
  EXPECT_TRUE(world.returned(0, 2, 1));
}

}  // namespace
}  // namespace nplus1::simnode::engine
