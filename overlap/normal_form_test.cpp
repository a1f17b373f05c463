#include "overlap/normal_form.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nplus1::overlap {
namespace {

TEST(NormalForm, BytesThatAreEightTimesTheSizeAreFoundExactly) {
  std::vector<Point> points;
  for (const double n : {64, 128, 256, 512, 1024}) points.push_back({n, 1, 8 * n});
  const Fit f = fit(points);
  ASSERT_EQ(f.best.terms.size(), 1U);
  EXPECT_EQ(f.best.terms[0].text(), "n");
  EXPECT_NEAR(f.best.factors[0], 8, 1e-9);
  EXPECT_FALSE(f.few_sizes);
  EXPECT_FALSE(f.knee);
}

TEST(NormalForm, AConstantAndASquareWithinSixPercentUnderNoise) {
  std::mt19937 random{7};
  std::normal_distribution<double> noise{1, 0.05};
  std::vector<Point> points;
  for (const double n : {16, 32, 64, 128, 256, 512})
    for (int i = 0; i < 5; ++i) points.push_back({n, 1, (2e-6 + 3e-9 * n * n) * noise(random)});
  const Fit f = fit(points);
  EXPECT_NEAR(f.best.at(1024, 1), 2e-6 + 3e-9 * 1024 * 1024, 0.06 * 3e-9 * 1024 * 1024);
}

TEST(NormalForm, TwoParametersExtrapolateWithinThreePercent) {
  std::vector<Point> points;
  for (const double n : {256, 512, 1024, 1536, 2048})
    for (const double p : {2, 4, 8, 16, 32}) points.push_back({n, p, 5e-6 * std::log2(p) + 2e-9 * n * n / p});
  const Fit f = fit(points);
  const double expected = 5e-6 * 8 + 2e-9 * 8192.0 * 8192 / 256;
  EXPECT_NEAR(f.best.at(8192, 256), expected, 0.03 * expected);
  EXPECT_LE(f.spread(8192, 256).least, f.best.at(8192, 256));
  EXPECT_FALSE(f.others.empty());
}

TEST(NormalForm, SaysWhenThereAreTooFewValues) {
  const Fit f = fit({{64, 2, 1}, {128, 2, 2}, {256, 2, 4}, {256, 4, 4}});
  EXPECT_TRUE(f.few_sizes);
  EXPECT_TRUE(f.few_ranks);
}

TEST(NormalForm, WarnsWhereACacheIsFull) {
  std::vector<Point> points;
  for (const double n : {64, 128, 256, 512, 1024, 2048}) points.push_back({n, 1, n < 1000 ? n : 2 * n});
  EXPECT_TRUE(fit(points).knee);
}

TEST(NormalForm, WhatIsNothingStaysNothing) {
  EXPECT_EQ(fit({{64, 1, 0}, {128, 1, 0}, {256, 1, 0}}).best.at(1024, 1), 0);
}

}  // namespace
}  // namespace nplus1::overlap
