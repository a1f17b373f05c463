#include "stubs/access/heat.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace nplus1::stubs::access {
namespace {

const int kSites[2] = {};
const void* const kHere = &kSites[0];
const void* const kThere = &kSites[1];

/// How often the page is closed in `calls` returns of the call at kHere, if it is missed too often each time.
int closings(Heat& heat, std::uint64_t page, int calls) {
  int closed = 0;
  for (int i = 0; i < calls; ++i) {
    if (heat.leave_open(page, kHere)) continue;
    ++closed;
    heat.given_up(page, kHere, nullptr);
  }
  return closed;
}

TEST(Heat, APageThatIsAlwaysMissedIsClosedLessAndLessOften) {
  const auto heat = std::make_unique<Heat>();
  EXPECT_EQ(closings(*heat, 7, 1), 1) << "nothing is known yet";
  EXPECT_EQ(closings(*heat, 7, 1), 1);
  EXPECT_EQ(closings(*heat, 7, 2), 1) << "left open once";
  EXPECT_EQ(closings(*heat, 7, 4), 1) << "left open three times";
  EXPECT_LE(closings(*heat, 7, 100'000), 110) << "then once in 1024 times";
}

TEST(Heat, APageThatWasGivenUpMayMissLess) {
  const auto heat = std::make_unique<Heat>();
  EXPECT_EQ(heat->allowed(7, kHere), Heat::kFirstMisses);
  heat->given_up(7, kHere, nullptr);
  heat->given_up(7, kHere, nullptr);
  EXPECT_EQ(heat->allowed(7, kThere), Heat::kLaterMisses);
  EXPECT_EQ(heat->allowed(8, kHere), Heat::kFirstMisses);
}

TEST(Heat, APageThatIsMissedNoMoreIsWatchedAgain) {
  const auto heat = std::make_unique<Heat>();
  static_cast<void>(closings(*heat, 7, 2000));
  int left_open = 0;
  for (int i = 0; i < 4000; ++i) {
    if (heat->leave_open(7, kHere))
      left_open += i >= 3000 ? 1 : 0;
    else
      heat->kept(7, kHere);
  }
  EXPECT_EQ(left_open, 0);
}

TEST(Heat, APageWhoseCellsAreHitIsClosedHoweverOftenItIsMissedAsWell) {
  const auto heat = std::make_unique<Heat>();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(heat->leave_open(7, kHere));
    heat->hit(7, kHere);
    heat->given_up(7, kHere, nullptr);
  }
  EXPECT_EQ(heat->allowed(7, kHere), Heat::kFirstMisses);
}

TEST(Heat, WhereMissesDistortTheTimesHitsAreNotWorthThem) {
  const auto heat = std::make_unique<Heat>();
  heat->be_thrifty();
  EXPECT_EQ(heat->allowed(7, kHere), Heat::kThriftyFirstMisses);
  int closed = 0;
  for (int i = 0; i < 3000; ++i) {
    if (heat->leave_open(7, kHere)) continue;
    ++closed;
    heat->hit(7, kHere);
    heat->given_up(7, kHere, nullptr);
  }
  EXPECT_LE(closed, 14);
  EXPECT_EQ(heat->allowed(7, kHere), Heat::kThriftyLaterMisses);
}

TEST(Heat, AHitBringsAPageBackAtOnce) {
  const auto heat = std::make_unique<Heat>();
  static_cast<void>(closings(*heat, 7, 2000));
  heat->hit(7, kHere);
  EXPECT_FALSE(heat->leave_open(7, kHere));
  EXPECT_EQ(heat->allowed(7, kHere), Heat::kFirstMisses);
}

TEST(Heat, CallSitesAreLearnedApartButANewOneKnowsThePage) {
  const auto heat = std::make_unique<Heat>();
  static_cast<void>(closings(*heat, 7, 2000));
  EXPECT_TRUE(heat->leave_open(7, kThere)) << "as others have led";
  EXPECT_FALSE(heat->leave_open(8, kThere));
}

TEST(Heat, APageMayBeClosedForOneAccessWhichTeachesNothing) {
  const auto heat = std::make_unique<Heat>();
  static_cast<void>(closings(*heat, 7, 4));  // given up three times
  int left_open = 0;
  while (heat->leave_open(7, kHere)) {
    ASSERT_TRUE(heat->once(7));
    EXPECT_EQ(heat->allowed(7, kHere), 0U);
    heat->given_up(7, kHere, kThere);
    EXPECT_EQ(heat->allowed(7, kHere), Heat::kLaterMisses);
    ++left_open;
  }
  EXPECT_EQ(left_open, 3) << "as often as if it had been left open";
  ASSERT_TRUE(heat->once(7));
  heat->hit(7, kHere);
  EXPECT_EQ(heat->allowed(7, kHere), Heat::kFirstMisses) << "a hit brings it back";
  EXPECT_FALSE(heat->once(8)) << "never given up";
}

TEST(Heat, WhereMissesDistortTheTimesNoPageIsClosedForOneAccess) {
  const auto heat = std::make_unique<Heat>();
  heat->be_thrifty();
  static_cast<void>(closings(*heat, 7, 10));
  EXPECT_FALSE(heat->once(7));
}

TEST(Heat, RemembersWhoMissed) {
  const auto heat = std::make_unique<Heat>();
  EXPECT_EQ(heat->instruction(7), nullptr);
  heat->given_up(7, kHere, kThere);
  EXPECT_EQ(heat->instruction(7), kThere);
}

TEST(Heat, MorePagesThanThereIsRoomForAreWatchedAsEver) {
  const auto heat = std::make_unique<Heat>();
  for (std::uint64_t page = 0; page < 2 * Heat::kMostPages; ++page) heat->given_up(page, kHere, nullptr);
  EXPECT_EQ(heat->pages(), Heat::kMostPages);
  EXPECT_FALSE(heat->leave_open(2 * Heat::kMostPages - 1, kHere));
  EXPECT_EQ(heat->allowed(2 * Heat::kMostPages - 1, kHere), Heat::kFirstMisses);
}

}  // namespace
}  // namespace nplus1::stubs::access
