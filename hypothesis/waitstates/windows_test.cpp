// Wait states of one-sided communication against what can be worked out by hand: a notice takes 1 us, 1000 bytes 2 us.
#include <gtest/gtest.h>

#include "hypothesis/testing/wait_states_world.hpp"
#include "simnode/engine/testing/window_calls.hpp"

namespace nplus1::hypothesis {
namespace {

using events::WindowSync;
using simnode::engine::put;
using simnode::engine::sync;
using List = Program::List;

TEST(WaitStatesOfWindows, AFenceWaitsForTheLastOne) {
  Program p{3};
  sync(p, 0, WindowSync::kFence);
  p.work(1, 1, 30);
  sync(p, 1, WindowSync::kFence);
  p.after(10);
  sync(p, 2, WindowSync::kFence);
  const auto r = p.end();
  EXPECT_EQ(state(r.ranks[0], WaitState::kWaitAtFence), us(30));
  EXPECT_EQ(state(r.ranks[1], WaitState::kWaitAtFence), us(0));
  EXPECT_EQ(state(r.ranks[2], WaitState::kWaitAtFence), us(20));
  EXPECT_EQ(state(r.total, WaitState::kWaitAtBarrier), us(0));
  EXPECT_EQ(caused(r, "region1", 1, &DelayCost::direct), 50);
}

TEST(WaitStatesOfWindows, OwnTransfersInAFenceAreTransfer) {
  Program p{2};
  put(p, 0, 1, 1000);
  sync(p, 0, WindowSync::kFence);
  sync(p, 1, WindowSync::kFence);
  const auto r = p.end();  // there after 2, acknowledged after 3, told after 4
  EXPECT_EQ(states_text(r.ranks[0]), "transfer 3");
  EXPECT_EQ(states_text(r.ranks[1]), "transfer 4");
}

TEST(WaitStatesOfWindows, AStartWaitsForALatePostAndAWaitForALateComplete) {
  Program p{2};
  sync(p, 0, WindowSync::kStart, List{1});
  p.work(1, 1, 5);
  sync(p, 1, WindowSync::kPost, List{0});
  sync(p, 1, WindowSync::kWait, List{0});
  p.work(0, 2, 20);  // from 6 on
  put(p, 0, 1, 1000);
  sync(p, 0, WindowSync::kComplete, List{1});
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]),
            "late_post 5, transfer 4");  // and the notice; the put and its acknowledgement
  EXPECT_EQ(states_text(r.ranks[1]), "early_wait 21, transfer 4");  // 5 to 26, where the complete began
  EXPECT_EQ(caused(r, "region1", 1, &DelayCost::direct), 5);
  EXPECT_EQ(caused(r, "region2", 0, &DelayCost::direct), 20);  // and 1 the start's notice
}

TEST(WaitStatesOfWindows, OfSeveralPostsTheLastCounts) {
  Program p{3};
  sync(p, 0, WindowSync::kStart, List{1, 2});
  p.work(1, 1, 5);
  sync(p, 1, WindowSync::kPost, List{0});
  p.work(2, 2, 9);
  sync(p, 2, WindowSync::kPost, List{0});
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "late_post 9, transfer 1");
  EXPECT_EQ(caused(r, "region1", 1, &DelayCost::direct), 0);
  EXPECT_EQ(caused(r, "region2", 2, &DelayCost::direct), 9);
}

TEST(WaitStatesOfWindows, EpochsAreToldApart) {
  Program p{2};
  for (int epoch = 0; epoch < 3; ++epoch) {
    sync(p, 0, WindowSync::kStart, List{1});
    p.after(epoch == 1 ? 7 : 0);
    sync(p, 1, WindowSync::kPost, List{0});
    sync(p, 0, WindowSync::kComplete, List{1});
    sync(p, 1, WindowSync::kWait, List{0});
  }
  // The first: start 0 to 1, wait to 2. The second: start at 1, post at 9. The third: start at 10, post at 11.
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "late_post 9, transfer 3");
}

TEST(WaitStatesOfWindows, AHeldLockIsContentionUntilItIsGivenBack) {
  Program p{3};
  sync(p, 1, WindowSync::kLock, 0, events::kExclusiveLock);
  p.after(1);
  sync(p, 2, WindowSync::kLock, 0, events::kExclusiveLock);
  p.finalize(0);
  p.engine().decide();
  ASSERT_TRUE(p.returned(1, 1));  // at 2
  p.work(1, 1, 40);
  sync(p, 1, WindowSync::kUnlock, 0);  // at 42; back at 43, granted, told at 44
  p.engine().decide();
  p.finalize(1);
  p.engine().decide();
  ASSERT_TRUE(p.returned(2, 1));
  sync(p, 2, WindowSync::kUnlock, 0);
  p.finalize(2);
  p.engine().decide();
  const auto r = p.search().result();
  EXPECT_EQ(states_text(r.ranks[1]), "transfer 2");
  EXPECT_EQ(states_text(r.ranks[2]), "lock_contention 41, transfer 2");
  EXPECT_EQ(caused(r, "region1", 1, &DelayCost::direct),
            39);  // 40 of the 42 that the holder had it or asked for it
}

}  // namespace
}  // namespace nplus1::hypothesis
