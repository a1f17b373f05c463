#include "hypothesis/clock/sharing.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nplus1::hypothesis::clock {
namespace {

/// Logarithms of `count` samples in a range of 1 % around `middle`.
std::vector<double> around(double middle, int count) {
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) samples.push_back(middle - 0.005 + 0.01 * (i + 0.5) / count);
  return samples;
}

OwnAndShared kind(double log_own, double longer, int own, int shared) {
  return {around(log_own, own), around(log_own + longer, shared)};
}

TEST(Sharing, MakesNobodyKnowsWhatWhereNoKindTells) {
  Sharing sharing;
  EXPECT_FALSE(sharing.longer(kind(17, 0, 0, 3)));
  sharing.learn(kind(17, 0, 0, 9));  // one of the two is missing: tells nothing
  sharing.learn(kind(17, 0, 9, 0));
  EXPECT_FALSE(sharing.longer(kind(17, 0, 0, 3)));
  sharing.learn(kind(22, 0.3, 9, 9));  // far longer
  EXPECT_FALSE(sharing.longer(kind(17, 0, 0, 3)));
  sharing.learn(kind(17, 0.3, 9, 9));
  sharing.learn({{15, 17}, {15, 16, 17, 18}});  // other work
  EXPECT_FALSE(sharing.longer(kind(17, 0, 0, 3)));
  sharing.learn(kind(17.5, 0.3, 9, 9));
  EXPECT_TRUE(sharing.longer(kind(17, 0, 0, 3)));
}

TEST(Sharing, MakesWhatItMadeOfOtherKinds) {
  for (const double longer : {0.0, 0.4}) {
    Sharing sharing;
    for (int k = 0; k < 12; ++k) sharing.learn(kind(16 + 0.1 * k, longer, 5, 5));
    EXPECT_NEAR(*sharing.longer(kind(17, 0, 0, 3)), longer, 0.03);
  }
}

TEST(Sharing, IsToldByKindsOfALikeLength) {
  Sharing sharing;
  for (int k = 0; k < 6; ++k) {
    sharing.learn(kind(14, 0.1, 5, 5));
    sharing.learn(kind(20, 0.4, 5, 5));
  }
  EXPECT_NEAR(*sharing.longer(kind(14, 0, 0, 3)), 0.1, 0.02);
  EXPECT_NEAR(*sharing.longer(kind(20, 0, 0, 3)), 0.38, 0.02);
}

TEST(Sharing, IsToldByTheKindsOwnSamplesAsFarAsTheyTell) {
  const Sharing sharing;
  EXPECT_NEAR(*sharing.longer(kind(17, 0.5, 20, 20)), 0.5, 0.04);
  const double by_two = *sharing.longer(kind(17, 0.5, 2, 1));
  EXPECT_GT(by_two, 0.2);
  EXPECT_LT(by_two, 0.45);
}

TEST(Sharing, IsNotWhatDataMake) {
  const Sharing sharing;
  EXPECT_FALSE(sharing.longer({{16}, {16, 17, 18, 19, 20}}));
}

TEST(Sharing, MakesMoreWhereLoadsWereSlowedByMoreThanIsUsual) {
  EXPECT_EQ(Sharing::part(0.05), 1);
  EXPECT_EQ(Sharing::part(0.3), 1);
  EXPECT_NEAR(Sharing::part(0.57), 1.44, 1e-9);
}

/// What shared its core was shorter: then sharing made no difference.
TEST(Sharing, MakesNothingShorter) {
  const Sharing sharing;
  EXPECT_GE(*sharing.longer(kind(17, -0.5, 20, 20)), 0);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
