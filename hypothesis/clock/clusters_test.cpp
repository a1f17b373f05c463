#include "hypothesis/clock/clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kScales[] = {0.002, 0.004, 0.008, 0.015, 0.025, 0.04};
const Noise kNoise{0.004, kScales};

/// Samples of these values, in turn, each with noise of that scale.
std::vector<double> samples(std::size_t count, const std::vector<double>& values, double scale,
                            unsigned seed) {
  std::mt19937 random{seed};
  std::exponential_distribution<> above{1 / scale};
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::log(values[i % values.size()]) + above(random));
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Clusters, OfOneValueAreOneHoweverLongItsTail) {
  int several = 0;
  for (unsigned seed = 0; seed < 200; ++seed)
    for (const double scale : {0.003, 0.01, 0.03}) {
      const auto found = clusters_of(samples(40, {1.0}, scale, seed), kNoise);
      several += found.size() > 1 ? 1 : 0;
      EXPECT_NEAR(found.front().value, 0, 0.01 + scale / 2);
    }
  EXPECT_LE(several, 6);  // of 600
}

TEST(Clusters, OfTwoValuesAreTwo) {
  int several = 0;
  for (const double more : {0.05, 0.1, 0.5, 3.0})
    for (unsigned seed = 0; seed < 50; ++seed) {
      const auto found = clusters_of(samples(60, {1.0, 1 + more}, 0.006, seed), kNoise);
      several += found.size() > 2 ? 1 : 0;
      ASSERT_GE(found.size(), 2U) << more;
      if (found.size() > 2) continue;
      EXPECT_NEAR(found[0].value, 0, 0.01);
      EXPECT_NEAR(found[1].value, std::log(1 + more), 0.01);
      EXPECT_NEAR(found[1].share, 0.5, 0.06);
    }
  EXPECT_LE(several, 6);  // of 200
}

TEST(Clusters, OfManyValuesCoverTheirRange) {
  std::vector<double> all;
  for (int i = 0; i < 2000; ++i) all.push_back(std::log(10.0 + i * 0.02));
  const auto found = clusters_of(all, kNoise);
  EXPECT_GE(found.size(), 8U);
  EXPECT_LE(found.size(), 24U);
  EXPECT_NEAR(found.front().value, all.front(), 0.1);
  EXPECT_NEAR(found.back().value, all.back(), 0.15);
}

TEST(Clusters, OfASampleIsItself) {
  const auto found = clusters_of({2.5}, kNoise);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].value, 2.5);
  EXPECT_EQ(found[0].share, 1);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
