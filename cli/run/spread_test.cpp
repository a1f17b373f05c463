#include "cli/run/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace nplus1::cli {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

TEST(Spread, QuartilesLieBetweenNeighboursInProportion) {
  const Spread s = spread_of({5, 1, 4, 2, 3});
  EXPECT_EQ(s.count, 5U);
  EXPECT_EQ(s.least, 1);
  EXPECT_EQ(s.lower_quartile, 2);
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.upper_quartile, 4);
  EXPECT_EQ(s.most, 5);
}

TEST(Spread, FewValuesGiveAllOfTheirRangeAndItsTrueLevel) {
  for (int n = 2; n <= 5; ++n) {
    const Spread s = spread_of(one_to(n));
    EXPECT_EQ(s.from, 1) << n;
    EXPECT_EQ(s.to, n) << n;
    EXPECT_DOUBLE_EQ(s.level, 1 - 2 * std::pow(0.5, n)) << n;  // not all on one side of the median
    EXPECT_LT(s.level, kMedianLevel);
  }
}

TEST(Spread, OneValueSaysNothingOfItsMedian) {
  const Spread s = spread_of({7});
  EXPECT_EQ(s.from, 7);
  EXPECT_EQ(s.to, 7);
  EXPECT_EQ(s.level, 0);
}

TEST(Spread, OrderStatisticsOfTheTables) {
  // David and Nagaraja, table 7.1: at 95 %, from the first of 6, the second of 9, the sixth of 20, the tenth of 30.
  const struct {
    int n, k;
  } known[] = {{6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {20, 6}, {30, 10}, {100, 40}};
  for (const auto& [n, k] : known) {
    const Spread s = spread_of(one_to(n));
    EXPECT_EQ(s.from, k) << n;
    EXPECT_EQ(s.to, n + 1 - k) << n;
    EXPECT_GE(s.level, kMedianLevel) << n;
  }
}

TEST(Spread, TheIntervalHoldsTheMedianAsOftenAsItSaysWhateverTheDistribution) {
  std::mt19937_64 random{1};
  std::lognormal_distribution<double> skewed{0, 2};  // median 1
  int held = 0;
  constexpr int kTrials = 4000;
  double level = 0;
  for (int t = 0; t < kTrials; ++t) {
    std::vector<double> values;
    for (int i = 0; i < 15; ++i) values.push_back(skewed(random));
    const Spread s = spread_of(values);
    level = s.level;
    held += s.from <= 1 && 1 <= s.to ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(held) / kTrials, level, 4 * std::sqrt(level * (1 - level) / kTrials));
}

TEST(Spread, NothingHasNoSpread) {
  EXPECT_THROW(static_cast<void>(spread_of({})), std::invalid_argument);
}

}  // namespace
}  // namespace nplus1::cli
