// Oracles: R 4.2.2 (wilcox.test, p.adjust, quantile), closed forms, and counting all cases one by one.
#include "guidelines/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace nplus1::guidelines {
namespace {

Values range(int first, int last) {
  Values values;
  for (int i = first; i <= last; ++i) values.push_back(i);
  return values;
}

double pairs_won(const Values& x, const Values& y) {
  double won = 0;
  for (const double a : x)
    for (const double b : y) won += a > b ? 1 : a == b ? 0.5 : 0;
  return won;
}

/// p-value by dealing the pooled values in all ways and asking `statistic` each time.
template <class Statistic>
double p_by_dealing(const Values& x, const Values& y, Statistic statistic) {
  Values all = x;
  all.insert(all.end(), y.begin(), y.end());
  std::vector<bool> mine(all.size(), false);
  std::fill(mine.end() - static_cast<std::ptrdiff_t>(x.size()), mine.end(), true);
  const double observed = statistic(x, y);
  double ways = 0, as_great = 0;
  do {
    Values a, b;
    for (std::size_t i = 0; i < all.size(); ++i) (mine[i] ? a : b).push_back(all[i]);
    ++ways;
    as_great += statistic(a, b) >= observed - 1e-12 ? 1 : 0;
  } while (std::next_permutation(mine.begin(), mine.end()));
  return as_great / ways;
}

double greatest_gap(const Values& x, const Values& y) {
  const auto share = [](const Values& values, double v) {
    return static_cast<double>(
               std::count_if(values.begin(), values.end(), [&](double w) { return w <= v; })) /
           static_cast<double>(values.size());
  };
  double gap = 0;
  for (const Values* side : {&x, &y})
    for (const double v : *side) gap = std::max(gap, share(y, v) - share(x, v));
  return gap;
}

TEST(RankSum, AgreesWithR) {
  struct Oracle {
    Values x, y;
    double w, exact, normal;
  };
  const std::vector<Oracle> oracles{
      {range(4, 6), range(1, 3), 9, .05, .040427799185026},
      {range(6, 10), range(1, 5), 25, .00396825396825, .006092890177672},
      {{2, 4, 6, 8, 10}, {1, 3, 5, 7, 9}, 15, .345238095238, .338051657012},
      {range(11, 20), range(1, 10), 100, 5.41254411e-6, 9.13358955548e-5},
      {range(5, 8), range(1, 3), 12, .0285714285714, .0259149636088},
  };
  for (const Oracle& o : oracles) {
    EXPECT_EQ(rank_sum_exact(o.x, o.y).statistic, o.w);
    EXPECT_NEAR(rank_sum_exact(o.x, o.y).p, o.exact, o.exact * 1e-9);
    EXPECT_NEAR(rank_sum_normal(o.x, o.y).p, o.normal, o.normal * 1e-11);
  }
}

TEST(RankSum, AgreesWithRWhereThereAreTies) {
  const TestResult some = rank_sum_normal({1, 2, 2, 3, 4}, {1, 1, 2, 2, 3});
  EXPECT_EQ(some.statistic, 16.5);
  EXPECT_NEAR(some.p, .221596775034, 1e-12);
  const TestResult all = rank_sum_normal(Values(5, 1.0), Values(5, 1.0));
  EXPECT_EQ(all.statistic, 12.5);
  EXPECT_EQ(all.p, 1);
}

TEST(RankSum, ExactIsTheShareOfAllDealsAlsoWithTies) {
  const std::vector<std::pair<Values, Values>> samples{{{1, 2, 2, 3, 4}, {1, 1, 2, 2, 3}},
                                                       {{5, 5, 5}, {5, 5, 4, 4}},
                                                       {{3, 1, 4, 1}, {5, 9, 2, 6, 5}},
                                                       {{1}, {1, 1, 1}}};
  for (const auto& [x, y] : samples)
    EXPECT_NEAR(rank_sum_exact(x, y).p, p_by_dealing(x, y, pairs_won), 1e-12);
}

TEST(RankSum, SwappingTheSidesTurnsTheStatisticAround) {
  std::mt19937 random{1};
  for (int round = 0; round < 50; ++round) {
    Values x, y;
    for (int i = 0; i < 6; ++i) x.push_back(static_cast<double>(random() % 8));
    for (int i = 0; i < 5; ++i) y.push_back(static_cast<double>(random() % 8));
    const TestResult there = rank_sum_exact(x, y), back = rank_sum_exact(y, x);
    EXPECT_EQ(there.statistic + back.statistic, 30);
    EXPECT_GE(there.p + back.p, 1);  // both count the case observed
    EXPECT_NEAR(cliffs_delta(x, y), -cliffs_delta(y, x), 1e-15);
  }
}

TEST(RankSum, OnlyTheOrderOfTheValuesMatters) {
  std::mt19937 random{2};
  std::lognormal_distribution<double> draw;
  for (int round = 0; round < 20; ++round) {
    Values x(7), y(9);
    for (double& v : x) v = draw(random);
    for (double& v : y) v = draw(random);
    Values grown_x = x, grown_y = y;
    for (Values* side : {&grown_x, &grown_y})
      for (double& v : *side) v = std::exp(3 * v) + 7;
    EXPECT_EQ(rank_sum(x, y).p, rank_sum(grown_x, grown_y).p);
    EXPECT_EQ(kolmogorov_smirnov(x, y).p, kolmogorov_smirnov(grown_x, grown_y).p);
    EXPECT_EQ(cliffs_delta(x, y), cliffs_delta(grown_x, grown_y));
  }
}

TEST(RankSum, OneOrTwoMpirunsSayNothingStrong) {
  EXPECT_EQ(rank_sum({2}, {1}).p, 0.5);
  EXPECT_EQ(rank_sum({1}, {1}).p, 1);
  EXPECT_NEAR(rank_sum({3, 4}, {1, 2}).p, 1.0 / 6, 1e-15);
  EXPECT_EQ(rank_sum_normal({1}, {1}).p, 1);
  EXPECT_THROW((void)rank_sum({}, {1}), std::invalid_argument);
}

TEST(RankSum, ManyValuesTakeTheApproximationWhichIsThenClose) {
  std::mt19937 random{3};
  std::normal_distribution<double> draw;
  Values x(30), y(30);
  for (double& v : x) v = draw(random) + 0.4;
  for (double& v : y) v = draw(random);
  ASSERT_TRUE(rank_sum(x, y).exact);
  EXPECT_NEAR(rank_sum_exact(x, y).p, rank_sum_normal(x, y).p, 2e-3);
  x.push_back(0);
  EXPECT_FALSE(rank_sum(x, y).exact);
}

TEST(KolmogorovSmirnov, HasGnedenkosClosedFormForEqualNumbers) {
  // P(D >= k/n) = C(2n, n-k) / C(2n, n), Gnedenko and Korolyuk 1951.
  const Values y = range(1, 8);
  for (int k = 1; k <= 8; ++k) {
    Values x;
    for (const double v : y) x.push_back(v + k - 0.5);
    const TestResult result = kolmogorov_smirnov(x, y);
    double p = 1;
    for (int i = 0; i < k; ++i) p *= (8.0 - i) / (9.0 + i);
    EXPECT_DOUBLE_EQ(result.statistic, k / 8.0);
    EXPECT_NEAR(result.p, p, 1e-14);
  }
}

TEST(KolmogorovSmirnov, ExactIsTheShareOfAllDealsAlsoWithTies) {
  const std::vector<std::pair<Values, Values>> samples{{{1, 2, 2, 3, 4}, {1, 1, 2, 2, 3}},
                                                       {{5, 5, 6}, {5, 5, 4, 4}},
                                                       {{3, 1, 4, 1}, {5, 9, 2, 6, 5}},
                                                       {{9, 8, 7}, {1, 2, 8, 3}}};
  for (const auto& [x, y] : samples) {
    EXPECT_NEAR(kolmogorov_smirnov(x, y).statistic, greatest_gap(x, y), 1e-15);
    EXPECT_NEAR(kolmogorov_smirnov(x, y).p, p_by_dealing(x, y, greatest_gap), 1e-12);
  }
  EXPECT_EQ(kolmogorov_smirnov(Values(5, 1.0), Values(5, 1.0)).p, 1);
}

TEST(SignedRank, CountsAllSigns) {
  EXPECT_DOUBLE_EQ(signed_rank(range(11, 20), range(1, 10)).p, 1.0 / 1024);  // all differences equal
  EXPECT_EQ(signed_rank({1, 2}, {1, 2}).p, 1);
  // Ranks 1 2 3, the first negative: 2 + 3 = 5, as great with signs +++ and -++.
  const TestResult result = signed_rank({1, 4, 6}, {2, 2, 3});
  EXPECT_EQ(result.statistic, 5);
  EXPECT_DOUBLE_EQ(result.p, 2.0 / 8);
}

TEST(SignedRank, OfManyPairsIsNearlyExact) {
  std::mt19937 random{7};
  Values x(kMostPairsForExact), y(kMostPairsForExact);
  for (double& v : x) v = static_cast<double>(random() % 1000);
  for (double& v : y) v = static_cast<double>(random() % 960);
  const TestResult exact = signed_rank(x, y);
  EXPECT_TRUE(exact.exact);
  x.insert(x.end(), {3, 5});  // two pairs more, of no weight
  y.insert(y.end(), {5.5, 2.5});
  const TestResult normal = signed_rank(x, y);
  EXPECT_FALSE(normal.exact);
  EXPECT_NEAR(normal.p, exact.p, 4e-3);  // as far as the two pairs themselves move it
  EXPECT_GT(normal.p, 0.001);
  // Of more than 1023 pairs the numbers of ways leave the range of doubles.
  EXPECT_NEAR(signed_rank(range(1, 20'000), Values(20'000, 10'000.5)).p, 0.5, 1e-2);
}

TEST(Adjusted, AgreesWithR) {
  const Values p{.01, .04, .03, .005, .8};
  const auto expect = [&](Correction correction, const Values& wanted, double precision) {
    const Values q = adjusted(p, correction);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(q[i], wanted[i], precision);
  };
  expect(Correction::kBenjaminiHochberg, {.025, .05, .05, .025, .8}, 1e-15);
  expect(Correction::kHolm, {.04, .09, .09, .025, .8}, 1e-15);
  expect(Correction::kBenjaminiYekutieli, {.0570833, .1141667, .1141667, .0570833, 1}, 5e-8);
  expect(Correction::kNone, p, 0);
  EXPECT_TRUE(adjusted({}, Correction::kHolm).empty());
}

TEST(Quantile, AgreesWithTypeSevenOfR) {
  const Values values{1, 2, 4, 8, 16, 100};
  EXPECT_EQ(quantile(values, 0.25), 2.5);
  EXPECT_EQ(quantile(values, 0.75), 14);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({3, 1}), 2);
  EXPECT_THROW((void)median({}), std::invalid_argument);
}

TEST(Tukey, DropsWhatIsOutsideTheFences) {
  EXPECT_EQ(tukey_filtered({1, 2, 4, 8, 16, 100}), (Values{1, 2, 4, 8, 16}));  // 14 + 1.5 * 11.5 = 31.25
  EXPECT_EQ(tukey_filtered({7}), Values{7});
  EXPECT_EQ(tukey_filtered({5, 5, 5, 5, 9}), (Values{5, 5, 5, 5}));
  EXPECT_TRUE(tukey_filtered({}).empty());
}

TEST(Effect, CliffsDeltaIsOneWhereAllAreGreater) {
  EXPECT_EQ(cliffs_delta({4, 5}, {1, 2, 3}), 1);
  EXPECT_EQ(cliffs_delta({1}, {1}), 0);
}

TEST(Effect, TheRatioOfScaledValuesIsTheScale) {
  const Interval ratio = hodges_lehmann_ratio({3, 6, 12}, {1, 2, 4}, 0.95);
  EXPECT_EQ(ratio.estimate, 3);
  EXPECT_EQ(ratio.low, 0);  // 3 and 3 values cannot bound anything at 95 %
  EXPECT_EQ(ratio.high, std::numeric_limits<double>::infinity());
}

TEST(Effect, TheRatiosIntervalIsThatOfRsWilcoxTest) {
  // R: qwilcox(.025, 5, 5) = 3: P(W < 3) = 4/252 <= .025 < P(W < 4) = 7/252, so that 3 pairs are outside each
  // end.
  const Values x{1, 2, 4, 8, 16}, y{1, 1, 1, 1, 1};
  const Interval ratio = hodges_lehmann_ratio(x, y, 0.95);
  EXPECT_EQ(ratio.estimate, 4);
  EXPECT_EQ(ratio.low, 1);
  EXPECT_EQ(ratio.high, 16);
  EXPECT_EQ(hodges_lehmann_ratio(range(6, 10), {10, 10, 10, 10, 10}, 0.5).low, .7);
}

/// Many ratios are looked for one by one: as those of the values' copies, which are kept.
TEST(Effect, ManyRatiosAreThoseOfFew) {
  std::mt19937 random{9};
  const auto draw = [&] { return 1 + static_cast<double>(random() % 10'000) / 7; };
  Values x(700), y(700);
  for (double& v : x) v = draw();
  for (double& v : y) v = draw();
  Values many_x, many_y;  // each value three times: the same median, of nine times as many ratios
  for (int i = 0; i < 3; ++i) {
    many_x.insert(many_x.end(), x.begin(), x.end());
    many_y.insert(many_y.end(), y.begin(), y.end());
  }
  Values ratios;
  for (const double a : many_x)
    for (const double b : many_y) ratios.push_back(a / b);
  EXPECT_EQ(hodges_lehmann_ratio(many_x, many_y, 0.95).estimate, median(ratios));
  EXPECT_EQ(hodges_lehmann_ratio(x, y, 0.95).estimate, median(ratios));
  EXPECT_NEAR(hodges_lehmann_ratio(Values(100'000, 3.0), Values(100'000, 2.0), 0.95).high, 1.5, 0);
}

TEST(Effect, TheIntervalCoversTheTruthAsOftenAsItSays) {
  std::mt19937 random{4};
  std::lognormal_distribution<double> draw{0, 0.1};
  int covered = 0;
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    Values x(8), y(8);
    for (double& v : x) v = 1.5 * draw(random);
    for (double& v : y) v = draw(random);
    const Interval ratio = hodges_lehmann_ratio(x, y, 0.95);
    covered += ratio.low <= 1.5 && 1.5 <= ratio.high ? 1 : 0;
  }
  EXPECT_GE(covered, 935);  // the exact coverage is 95.0 % or a little more; 2.2 standard deviations below
  EXPECT_LE(covered, 980);
}

TEST(PowerGuard, ALoneHitAmongManyTestsNeedsEnoughMpiruns) {
  EXPECT_DOUBLE_EQ(least_p(8, 8), 1.0 / 12870);
  EXPECT_EQ(runs_for_lone_hit(295, 0.05), 8U);
  EXPECT_EQ(runs_for_lone_hit(1, 0.05), 3U);
}

TEST(Rates, HaveClopperAndPearsonsInterval) {
  const Rate none = rate(0, 10, 0.95);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1 - std::pow(0.025, 0.1), 1e-12);  // (1 - p)^10 = .025
  EXPECT_NEAR(rate(10, 10, 0.95).low, std::pow(0.025, 0.1), 1e-12);
  EXPECT_EQ(rate(0, 0, 0.95).high, 1);
}

TEST(Stars, AreThePapers) {
  EXPECT_STREQ(stars(.001), "***");
  EXPECT_STREQ(stars(.01), "**");
  EXPECT_STREQ(stars(.05), "*");
  EXPECT_STREQ(stars(.0501), "");
}

}  // namespace
}  // namespace nplus1::guidelines
