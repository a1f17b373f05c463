#include "guidelines/pacing.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

TEST(Pacing, TheBudgetIsSharedEqually) {
  EXPECT_DOUBLE_EQ((Pacing{60, 10}.share()), 6);
}

TEST(Pacing, RepetitionsStayAsTheyAreWhileTheSharesAreKept) {
  Pacing pacing{60, 10};
  pacing.took(5);
  EXPECT_EQ(pacing.repetitions(200, 10), 200);
}

// Each repetition takes twice as long as predicted, and starting takes a second whatever is measured.
TEST(Pacing, AMachineThatIsSlowerThanPredictedStillEndsInTime) {
  Pacing pacing{60, 10};
  double spent = 0;
  for (int i = 0; i < 10; ++i) {
    const double seconds = 1 + 0.05 * pacing.repetitions(200, 10);
    spent += seconds;
    pacing.took(seconds);
  }
  EXPECT_NEAR(spent, 60, 6);
}

TEST(Pacing, WhatWasLostIsWonBackWhenTheMachineIsFastAgain) {
  Pacing pacing{100, 10};
  pacing.took(20);
  EXPECT_LT(pacing.repetitions(100, 10), 50);
  for (int i = 0; i < 5; ++i) pacing.took(pacing.share() / 2);
  EXPECT_EQ(pacing.repetitions(100, 10), 100);
}

TEST(Pacing, ASpentBudgetLeavesTheLeast) {
  Pacing pacing{10, 3};
  pacing.took(50);
  EXPECT_DOUBLE_EQ(pacing.share(), 0);
  EXPECT_EQ(pacing.repetitions(200, 10), 10);
  EXPECT_EQ(pacing.repetitions(5, 10), 5);  // who asks for less gets it
}

TEST(Pacing, ARestOfAnInterruptedMpirunSaysNothingOfAWholeOne) {
  Pacing pacing{100, 10};
  pacing.took(5, 0.5);
  EXPECT_EQ(pacing.repetitions(100, 10), 100);
}

}  // namespace
}  // namespace nplus1::guidelines
