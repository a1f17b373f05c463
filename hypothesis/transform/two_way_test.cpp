#include "hypothesis/transform/two_way.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace nplus1::hypothesis::transform {
namespace {

using Times = std::vector<std::vector<float>>;

template <class Time>
Times table(std::size_t ranks, std::size_t steps, Time time) {
  Times times(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t k = 0; k < steps; ++k) times[r].push_back(static_cast<float>(time(r, k)));
  return times;
}

// x(r,k) = 100 + 10 (r - 1.5) + 5 k: all of it systematic.
TEST(TwoWay, SumsOfRankAndStepAreKeptWhole) {
  const auto time = [](std::size_t r, std::size_t k) {
    return 100 + 10 * (static_cast<double>(r) - 1.5) + 5 * static_cast<double>(k);
  };
  const TwoWay parts{table(4, 12, time)};
  EXPECT_TRUE(parts.exact());
  EXPECT_TRUE(parts.ranks_differ());
  EXPECT_FALSE(parts.proportional());
  EXPECT_EQ(parts.p(), 0);
  EXPECT_NEAR(parts.random(), 0, 1e-4);
  EXPECT_NEAR(parts.by_rank(), 10 * std::sqrt(5.0 / 3), 1e-4);  // of -15, -5, 5, 15
  EXPECT_NEAR(parts.by_step(), 5 * std::sqrt(13.0), 1e-4);      // of 0, 5 ... 55
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(parts.steady(r, k), time(r, k), 1e-3);
}

// x(r,k) = (1 + k) (1 + r): who has twice the work has it at every size of the step.
TEST(TwoWay, ProductsOfRankAndStepAreKeptWhole) {
  const auto time = [](std::size_t r, std::size_t k) { return static_cast<double>((k + 1) * (r + 1)); };
  const TwoWay parts{table(3, 10, time)};
  EXPECT_TRUE(parts.proportional());
  EXPECT_TRUE(parts.exact());
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t k = 0; k < 10; ++k) EXPECT_NEAR(parts.steady(r, k), time(r, k), 1e-4);
}

// 2 ranks, 2 steps, by hand: means of the ranks 9 and 11, of the steps 10 and 10, e = +-1.
// Relative to the batch: z = -0.2, 0 and 0.2, 0; between = 2 (0.01 + 0.01) / 1, within = 4 * 0.01 / 1: F = 1, p = 1/2
// (F(1,1) at 1).
TEST(TwoWay, TheSmallestTableByHand) {
  const TwoWay parts{Times{{8, 10}, {12, 10}}};
  EXPECT_NEAR(parts.f(), 1, 1e-6);
  EXPECT_NEAR(parts.p(), 0.5, 1e-6);
  EXPECT_FALSE(parts.ranks_differ());
  EXPECT_NEAR(parts.random(), 2, 1e-5);  // sum of squares 4, one degree of freedom
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(parts.steady(r, k), 10, 1e-5);
}

// 4 ranks take turns at being slow: no rank has more every time.
TEST(TwoWay, RanksThatTakeTurnsHaveNothingEveryTime) {
  const TwoWay parts{table(4, 64, [](std::size_t r, std::size_t k) { return k % 4 == r ? 200.0 : 100.0; })};
  EXPECT_FALSE(parts.ranks_differ());
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t k = 0; k < 64; ++k) EXPECT_NEAR(parts.steady(r, k), 125, 1e-3);
}

TEST(TwoWay, WhatAStepTakesOfAllRanksTogetherStays) {
  std::mt19937_64 random{7};
  std::lognormal_distribution<double> noise{0, 1};
  const Times times = table(8, 50, [&](std::size_t r, std::size_t k) {
    return (r == 3 ? 300 : 100) + (k % 10 == 0 ? 50 : 0) + 20 * noise(random);
  });
  const TwoWay parts{times};
  EXPECT_TRUE(parts.ranks_differ());
  for (std::size_t k = 0; k < 50; ++k) {
    double before = 0, after = 0;
    for (std::size_t r = 0; r < 8; ++r) {
      before += static_cast<double>(times[r][k]);
      after += parts.steady(r, k);
    }
    EXPECT_NEAR(after, before, 1e-3) << k;
  }
}

// Noise that is twice the effect, 400 steps: the rank's effect of 10 is found within 5 standard errors.
TEST(TwoWay, AnEffectIsFoundUnderNoise) {
  std::mt19937_64 random{3};
  std::normal_distribution<double> noise{0, 20};
  const TwoWay parts{
      table(8, 400, [&](std::size_t r, std::size_t) { return 100 + (r == 5 ? 10 : 0) + noise(random); })};
  ASSERT_TRUE(parts.ranks_differ());
  EXPECT_NEAR(parts.random(), 20, 1);
  EXPECT_NEAR(parts.steady(5, 0) - parts.steady(0, 0), 10, 5 * 20 / std::sqrt(400.0));
}

/// How often equal ranks are taken to differ.
template <class Noise>
double false_alarms(Noise noise) {
  int alarms = 0;
  constexpr int kTrials = 1000;
  for (int t = 0; t < kTrials; ++t) alarms += TwoWay{noise()}.ranks_differ() ? 1 : 0;
  return static_cast<double>(alarms) / kTrials;
}

TEST(TwoWay, EqualRanksAreTakenToDifferAsRarelyAsTheLevelSays) {
  std::mt19937_64 random{11};
  std::normal_distribution<double> normal{100, 5};
  std::lognormal_distribution<double> skewed{0, 1.5};
  EXPECT_LE(
      false_alarms([&] { return table(16, 160, [&](std::size_t, std::size_t) { return normal(random); }); }),
      TwoWay::kLevel + 0.01);
  EXPECT_LE(
      false_alarms([&] { return table(16, 160, [&](std::size_t, std::size_t) { return skewed(random); }); }),
      TwoWay::kLevel + 0.01);
}

// A disturbance of one rank lasts ten steps on average: single steps would say that the ranks differ in most trials.
TEST(TwoWay, DisturbancesThatLastAreNotTakenForTheRanks) {
  std::mt19937_64 random{13};
  std::uniform_real_distribution<double> chance;
  const auto lasting = [&] {
    Times times(8);
    for (auto& rank : times) {
      bool slow = false;
      for (int k = 0; k < 800; ++k) {
        if (chance(random) < 0.1) slow = chance(random) < 0.3;
        rank.push_back(slow ? 150.0F : 100.0F);
      }
    }
    return times;
  };
  EXPECT_LE(false_alarms(lasting), TwoWay::kLevel + 0.02);
}

TEST(TwoWay, TablesThatSayNothingAreRefused) {
  EXPECT_THROW((TwoWay{Times{{1, 2, 3}}}), std::invalid_argument);          // a rank alone
  EXPECT_THROW((TwoWay{Times{{1}, {2}}}), std::invalid_argument);           // a single time
  EXPECT_THROW((TwoWay{Times{{1, 2}, {1, 2, 3}}}), std::invalid_argument);  // not equally often
}

TEST(TwoWay, NothingStaysNothing) {
  const TwoWay parts{Times{{0, 0}, {0, 0}}};
  EXPECT_FALSE(parts.ranks_differ());
  EXPECT_EQ(parts.steady(1, 1), 0);
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
