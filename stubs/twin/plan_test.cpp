#include "stubs/twin/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace nplus1::stubs::twin {
namespace {

struct Step {
  std::uint64_t site;
  std::int64_t microseconds;  // of the stretch before
};

constexpr std::uint64_t kRanks = 64;

/// How often each stretch of the steps was measured when each is that is due, `rounds` times over.
std::vector<int> measured(Plan& plan, const std::vector<Step>& steps, int rounds,
                          Outcome outcome = Outcome::kMeasured) {
  std::vector<int> times(steps.size());
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool due = plan.is_due();
      times[i] += due ? 1 : 0;
      plan.told(steps[i].site, 8, steps[i].microseconds * 1'000'000, due ? outcome : Outcome::kNotTried);
    }
  }
  return times;
}

/// The same of many ranks together.
std::vector<int> measured_by_all(const std::vector<Step>& steps, int rounds,
                                 Outcome outcome = Outcome::kMeasured) {
  std::vector<int> all(steps.size());
  for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
    Plan plan{rank};
    const std::vector<int> times = measured(plan, steps, rounds, outcome);
    for (std::size_t i = 0; i < steps.size(); ++i) all[i] += times[i];
  }
  return all;
}

TEST(Plan, WhatTakesMostTimeIsMeasuredMost) {
  const std::vector<int> times = measured_by_all({{1, 400}, {2, 4}, {3, 100}}, 30);
  EXPECT_GE(times[0], 10 * static_cast<int>(kRanks));
  EXPECT_GT(times[0], times[2]);
  EXPECT_GT(times[2], times[1]);
}

/// Where each of many ranks affords a single twin, kinds have the shares that are meant.
TEST(Plan, SmallKindsHaveAFewOfTheFirstSamples) {
  constexpr int kMany = 4000;
  std::vector<int> first(3);
  for (std::uint64_t rank = 0; rank < kMany; ++rank) {
    Plan plan{rank};
    int which = -1;
    for (int step = 0; which < 0 && step < 40; ++step)
      for (const auto& [site, microseconds] : std::vector<Step>{{1, 400}, {2, 4}, {3, 100}}) {
        const bool due = plan.is_due() && step >= 20;  // not before so much is affordable
        if (due && which < 0) which = static_cast<int>(site) - 1;
        plan.told(site, 8, microseconds * 1'000'000, Outcome::kNotTried);
      }
    ASSERT_GE(which, 0) << rank;
    ++first[static_cast<std::size_t>(which)];
  }
  // (400, 4, 100)^(3/4), of their sum
  EXPECT_NEAR(first[0], 0.724 * kMany, 0.08 * kMany);
  EXPECT_NEAR(first[1], 0.023 * kMany, 0.01 * kMany);
  EXPECT_NEAR(first[2], 0.256 * kMany, 0.08 * kMany);
}

/// Each of 34 ranks affords one twin, of twelve kinds that take the same: random draws would leave out one.
TEST(Plan, ManyRanksTogetherLeaveOutNoKind) {
  constexpr std::uint64_t kKinds = 12, kSomeRanks = 34;
  std::vector<int> first(kKinds);
  for (std::uint64_t rank = 0; rank < kSomeRanks; ++rank) {
    Plan plan{rank};
    bool done = false;
    for (int step = 0; step < 40; ++step)
      for (std::uint64_t kind = 0; kind < kKinds; ++kind) {
        const bool due = step >= 20 && !done && plan.is_due();
        if (due) ++first[kind];
        done = done || due;
        plan.told(kind, 8, 100'000'000, Outcome::kNotTried);
      }
    ASSERT_TRUE(done) << rank;
  }
  for (const int times : first) {
    EXPECT_GE(times, 2);
    EXPECT_LE(times, 4);
  }
}

TEST(Plan, TheLongestOfTheForeseenKindIsKnown) {
  Plan plan{0};
  EXPECT_EQ(plan.longest_ps(), 0);
  measured(plan, {{1, 400}, {2, 40}}, 3);
  measured(plan, {{1, 300}, {2, 70}}, 1);
  static_cast<void>(plan.is_due());  // the stretch to the first call
  EXPECT_EQ(plan.longest_ps(), 400'000'000);
}

TEST(Plan, AStretchThatEndsNowHereNowThereIsForeseenByTheCallsBefore) {
  // Behind call 1 comes a long stretch to call 3 and a short one to call 2, in turns; what was the last time is always wrong.
  const std::vector<int> times = measured_by_all({{1, 1}, {2, 2}, {5, 1}, {1, 1}, {3, 500}, {6, 1}}, 40);
  EXPECT_GE(times[4], 10 * static_cast<int>(kRanks));
  EXPECT_GE(times[4], 4 * times[1]);
}

TEST(Plan, WhatIsForeseenInVainIsGivenUp) {
  Plan plan{0};
  std::uint64_t random = 1;
  int tried = 0;
  for (int i = 0; i < 4000; ++i) {
    const bool due = plan.is_due();
    tried += due ? 1 : 0;
    random = random * 6364136223846793005U + 1442695040888963407U;
    const bool is_long = random >> 62U == 0;  // one of four, and nothing says which
    plan.told(is_long ? 3 : 2, 8, is_long ? 500'000'000 : 1'000'000,
              due ? Outcome::kMeasured : Outcome::kNotTried);
  }
  EXPECT_GT(tried, 0);
  EXPECT_LT(tried, 400);
}

TEST(Plan, WhatFailsIsTriedEverMoreRarely) {
  const std::vector<int> times =
      measured_by_all({{1, 400}, {2, 100}, {3, 100}, {4, 100}}, 12, Outcome::kFailed);
  EXPECT_GT(times[1] + times[2] + times[3], times[0]);
}

TEST(Plan, WhatHappensOnceOrTakesVeryLongIsNotMeasured) {
  Plan plan{0};
  EXPECT_EQ(measured(plan, {{1, 400}, {2, 100}, {3, 100}}, 1), (std::vector<int>{0, 0, 0}));
  Plan another{0};
  EXPECT_EQ(measured(another, {{1, 30'000}, {2, 0}}, 20), (std::vector<int>{0, 0}));
}

TEST(Plan, KeepsNoMoreThanItsLimitOfWhatNeverComesAgain) {
  Plan plan{0};
  for (std::uint64_t i = 0; i < 100'000; ++i) plan.told(i, i, 1'000'000, Outcome::kNotTried);
  EXPECT_GE(measured(plan, {{1, 400}, {2, 4}, {3, 100}}, 30)[0], 10);
}

TEST(Plan, WhatBeginsLateIsLearnedInTime) {
  for (const std::int64_t microseconds : {10, 1'000}) {
    Plan plan{0};
    measured(plan, {{1, 5}, {2, 5}}, 50'000);
    EXPECT_GE(measured(plan, {{3, microseconds}, {4, 1}}, microseconds < 20 ? 4'000 : 20)[0], 4)
        << microseconds;
  }
}

TEST(AffordableAt, AdvancesHalfTheTimeAndTakesNoMoreThanASixtiethInTheEnd) {
  EXPECT_EQ(affordable_at_ns(3'000'000, 16, 2), 0);
  EXPECT_NEAR(affordable_at_ns(3'000'000 + 50'000'000, 16, 2), 100e6, 1);
  EXPECT_NEAR(affordable_at_ns(3'000'000 + 60'000'000, 16, 2), 120e6, 1);      // here the advance is used up
  EXPECT_NEAR(affordable_at_ns(3'000'000 + 250'000'000, 2, 2), 500e6, 1);      // of few ranks later
  EXPECT_NEAR(affordable_at_ns(3'000'000 + 80'000'000, 16, 2), 2'520e6, 1);    // 20 ms at a 120th
  EXPECT_NEAR(affordable_at_ns(3'000'000 + 200'000'000, 16, 2), 12'000e6, 1);  // a 60th of all
  EXPECT_NEAR(affordable_at_ns(3'000'000 + 160'000'000, 1000, 2), 9'600e6, 1);
  EXPECT_NEAR(affordable_at_ns(3'000'000 + 1'500'000, 1000, 2), 62e6,
              1);  // of all ranks a second of two cores: 1 ms each
}

}  // namespace
}  // namespace nplus1::stubs::twin
