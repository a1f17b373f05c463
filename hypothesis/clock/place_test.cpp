#include "hypothesis/clock/place.hpp"

#include <gtest/gtest.h>

namespace nplus1::hypothesis::clock {
namespace {

TEST(Places, AfterCallsOfDifferentSizesAreOfDifferentKinds) {
  Follower follower;
  events::Event e;
  e.site = CallSiteId{1};
  e.size = 8;
  const Kind first = follower.before(RankId{0}, e).kind;
  const Kind second = follower.before(RankId{0}, e).kind;
  EXPECT_EQ(first.size, 0);
  EXPECT_EQ(second.size, 8);
  EXPECT_EQ(follower.before(RankId{1}, e).kind, first);
}

TEST(Places, AreCountedForEachRankAndFollowedForEachThread) {
  Follower follower;
  events::Event here, there;
  here.site = CallSiteId{1};
  there.site = CallSiteId{2};
  there.thread = ThreadId{1};
  (void)follower.before(RankId{0}, here);
  EXPECT_EQ(follower.before(RankId{0}, there).kind, (Kind{0, 2, 0}));  // that thread's first
  EXPECT_EQ(follower.before(RankId{0}, here).step, 0U);
  EXPECT_EQ(follower.before(RankId{0}, here).step, 1U);
  (void)follower.before(RankId{1}, here);
  EXPECT_EQ(follower.before(RankId{1}, here).step, 0U);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
