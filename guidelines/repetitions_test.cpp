#include "guidelines/repetitions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nplus1::guidelines {
namespace {

Criteria windows(int w) {
  Criteria criteria;
  criteria.cov_mean_window = criteria.cov_median_window = w;
  return criteria;
}

TEST(Repetitions, StandardErrorIsThatOfTheMean) {
  const std::vector<double> times{1, 2, 3, 4, 5};  // mean 3, sd sqrt(2.5)
  EXPECT_NEAR(*metrics_of(times, {}).rse, std::sqrt(2.5) / (std::sqrt(5.0) * 3), 1e-15);
}

TEST(Repetitions, OutliersCountUpToTenValuesOnly) {
  const std::vector<double> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000};
  EXPECT_GT(*metrics_of(ten, {}).rse, 0.9);
  // Quartiles 3.5 and 8.5: 1000 is beyond 16. Of 1 to 10 the mean is 5.5 and the variance 82.5 / 9.
  const std::vector<double> eleven{1, 2, 3, 4, 5, 1000, 6, 7, 8, 9, 10};
  EXPECT_NEAR(*metrics_of(eleven, {}).rse, std::sqrt(82.5 / 9) / (std::sqrt(10.0) * 5.5), 1e-15);
}

TEST(Repetitions, VariationOfMeansLooksAtTheLastPrefixes) {
  const std::vector<double> times{1, 2, 3, 4, 5};  // prefixes of 3, 4, 5 have means 2, 2.5, 3: sd 0.5
  EXPECT_NEAR(*metrics_of(times, windows(3)).cov_mean, 0.2, 1e-15);
}

TEST(Repetitions, VariationOfMediansIgnoresAStraggler) {
  const std::vector<double> times{4, 1, 1, 1, 9};  // medians 1, 1, 1; means 2, 1.75, 3.2
  EXPECT_EQ(*metrics_of(times, windows(3)).cov_median, 0);
  EXPECT_GT(*metrics_of(times, windows(3)).cov_mean, 0.3);
}

TEST(Repetitions, ShorterThanTheWindowIsNotEvaluable) {
  const std::vector<double> equal(29, 1.0);
  const Metrics metrics = metrics_of(equal, {});
  EXPECT_FALSE(metrics.cov_mean);
  EXPECT_FALSE(enough(equal, metrics, {}));
  const std::vector<double> one_more(30, 1.0);
  EXPECT_TRUE(enough(one_more, metrics_of(one_more, {}), {}));
}

TEST(Repetitions, OnlyChosenMetricsDecide) {
  const std::vector<double> equal(12, 1.0);
  Criteria criteria;
  criteria.cov_mean.reset();
  EXPECT_TRUE(enough(equal, metrics_of(equal, criteria), criteria));
  criteria.least = 13;
  EXPECT_FALSE(enough(equal, metrics_of(equal, criteria), criteria));
}

TEST(Repetitions, TheMostIsAlwaysEnough) {
  std::vector<double> times(200);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = i % 2 == 0 ? 1 : 9;
  Criteria criteria;
  criteria.rse = 1e-9;
  EXPECT_TRUE(enough(times, metrics_of(times, criteria), criteria));
  times.pop_back();
  EXPECT_FALSE(enough(times, metrics_of(times, criteria), criteria));
}

TEST(Repetitions, BatchesStayBetweenLeastAndMost) {
  EXPECT_EQ(batches({}), (std::vector<int>{10, 25, 50, 95, 180, 200}));
  Criteria criteria;
  criteria.least = 20;
  criteria.most = 50;
  EXPECT_EQ(batches(criteria), (std::vector<int>{25, 50}));
}

TEST(ChangePoint, IsFoundWhereTheLevelDoubles) {
  const std::vector<double> times{1, 1, 1, 1, 1,
                                  2, 2, 2, 2, 2};  // ranks 3 and 8: U_5 = 2 x 15 - 5 x 11 = -25
  const Change change = *change_point(times);
  EXPECT_EQ(change.after, 5);
  EXPECT_EQ(change.ratio, 2);
  EXPECT_NEAR(change.p, 2 * std::exp(-6.0 * 625 / 1100), 1e-15);
}

TEST(ChangePoint, IsNotClaimedForALevelSeries) {
  const std::vector<double> alternating{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  EXPECT_GT(change_point(alternating)->p, 0.9);
  EXPECT_EQ(change_point(std::vector<double>(20, 3.0))->p, 1);
  EXPECT_FALSE(change_point(std::vector<double>(9, 3.0)));
}

}  // namespace
}  // namespace nplus1::guidelines
