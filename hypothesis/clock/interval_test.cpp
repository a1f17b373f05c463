#include "hypothesis/clock/interval.hpp"

#include <gtest/gtest.h>

#include <random>

namespace nplus1::hypothesis::clock {
namespace {

TEST(Interval, IsTheSystematicErrorWhereReplicatesAgree) {
  const Interval i = interval(2.0, {2.0, 2.0, 2.0}, 0.01);
  EXPECT_NEAR(i.from, 2.0 - 1.645 * 0.02, 1e-12);
  EXPECT_NEAR(i.to, 2.0 + 1.645 * 0.02, 1e-12);
}

TEST(Interval, HasTheReplicatesStandardDeviation) {
  const Interval i = interval(10.0, {9.0, 11.0}, 0);  // sqrt(2)
  EXPECT_NEAR(i.to - 10.0, 1.645 * 1.41421356, 1e-6);
  EXPECT_NEAR(10.0 - i.from, 1.645 * 1.41421356, 1e-6);
}

TEST(Interval, ReachesBeyondTheReplicatesMeanWhereTheEstimateLiesBesideIt) {
  const Interval i = interval(10.0, {12.0, 12.0}, 0);
  EXPECT_EQ(i.from, 10.0);
  EXPECT_EQ(i.to, 12.0);
}

TEST(Interval, WithoutReplicatesIsTheSystematicError) {
  const Interval i = interval(1.0, {}, 0.1);
  EXPECT_NEAR(i.from, 1 - 0.1645, 1e-12);
}

TEST(Interval, HoldsTheTruthInNineCasesOfTen) {
  std::mt19937 random{1};
  std::normal_distribution<> error{0, 1};
  int held = 0;
  constexpr int kCases = 4000, kReplicates = 16;
  for (int c = 0; c < kCases; ++c) {
    const double estimate = 100 + error(random);
    std::vector<double> replicates;
    for (int r = 0; r < kReplicates; ++r) replicates.push_back(estimate + error(random));
    const Interval i = interval(estimate, replicates, 0);
    held += i.from <= 100 && 100 <= i.to ? 1 : 0;
  }
  EXPECT_GT(held, 0.85 * kCases);
  EXPECT_LT(held, 0.95 * kCases);
}

/// Six replicates, and sixteen where these are apart: whatever share of the error is systematic.
TEST(Interval, HoldsTheTruthInNineCasesOfTenWithFewReplicatesToo) {
  std::mt19937 random{2};
  constexpr double kSystematic = 0.01, kTruth = 100;
  for (const double deviation : {0.2, 0.7, 1.0, 1.5, 4.0}) {
    std::normal_distribution<> error{0, deviation}, systematic{0, kSystematic * kTruth};
    int held = 0, more = 0;
    constexpr int kCases = 4000;
    for (int c = 0; c < kCases; ++c) {
      const double estimate = kTruth + error(random) + systematic(random);
      std::vector<double> replicates;
      const auto add = [&](int count) {
        for (int r = 0; r < count; ++r) replicates.push_back(estimate + error(random));
      };
      add(6);
      if (are_apart(replicates, kSystematic)) add(10), ++more;
      const Interval i = interval(estimate, replicates, kSystematic);
      held += i.from <= kTruth && kTruth <= i.to ? 1 : 0;
    }
    EXPECT_GT(held, 0.85 * kCases) << deviation;
    EXPECT_LT(held, 0.95 * kCases) << deviation;
    EXPECT_EQ(more > kCases / 2, deviation > 1) << deviation;
  }
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
