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

}  // namespace
}  // namespace nplus1::hypothesis::clock
