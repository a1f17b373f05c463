#include "calibrate/quality.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace nplus1::calibrate {
namespace {

using Samples = std::vector<Sample>;

/// As the measuring program's: powers of two up to 4 MiB, and three quarters of each.
template <class Time>
Samples single_samples(Time time) {
  Samples samples;
  for (double size = 1; size <= 4 << 20; size *= 2) {
    for (const double s : {size, 1.5 * size})
      if (s == std::floor(s) && s <= 4 << 20) samples.push_back({s, time(s), 0, 0});
  }
  return samples;
}

double two_protocols(double s) {
  return s < 16384 ? 5e-7 + s * 3e-10 : 4e-6 + s * 1e-10;
}

Predict pieces(const Samples& samples) {
  return [p = fit_times(samples, 16383)](double s) { return time_at(p, s); };
}
Predict line(const Samples& samples) {
  return [l = fit_line(samples, 0, samples.size())](double s) { return l.at(s); };
}
/// Through every sample, and the nearest sample's time elsewhere: what "error at the sizes fitted to" cannot see.
Predict by_heart(const Samples& samples) {
  return [samples](double size) {
    double best = samples.front().median;
    double nearest = INFINITY;
    for (const Sample& s : samples) {
      if (std::abs(s.size - size) >= nearest) continue;
      nearest = std::abs(s.size - size);
      best = s.median;
    }
    return best;
  };
}

Samples noisy(unsigned seed, double sigma) {
  std::mt19937 random{seed};
  std::normal_distribution<double> noise{1, sigma};
  return single_samples([&](double s) { return two_protocols(s) * noise(random); });
}

std::vector<double> first_integers(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Errors, AreTheMedianTheNinetyPercentBoundAndTheWorst) {
  const Errors e = errors_of({0.5, 0.1, 0.3, 0.2});
  EXPECT_DOUBLE_EQ(e.median, 0.25);
  EXPECT_DOUBLE_EQ(e.worst, 0.5);
  EXPECT_DOUBLE_EQ(errors_of(first_integers(21)).nine_of_ten, 20);  // of rank 0.9 x 22, rounded up
  EXPECT_DOUBLE_EQ(errors_of(first_integers(99)).nine_of_ten, 90);
}

TEST(Errors, AreRelative) {
  const auto errors =
      relative_errors({{1, 1e-6, 0, 0}, {2, 2e-6, 0, 0}, {4, 4e-6, 0, 0}}, [](double) { return 2e-6; });
  EXPECT_DOUBLE_EQ(errors[0], 1);
  EXPECT_DOUBLE_EQ(errors[1], 0);
  EXPECT_DOUBLE_EQ(errors[2], 0.5);
}

TEST(LeftOut, EachInnerSampleIsPredictedFromTheOthersAlone) {
  const Samples samples{{1, 10, 0, 0}, {2, 10, 0, 0}, {4, 20, 0, 0}, {8, 10, 0, 0}};
  const auto mean = [](const Samples& some) -> Predict {
    double sum = 0;
    for (const Sample& s : some) sum += s.median;
    return [m = sum / static_cast<double>(some.size())](double) { return m; };
  };
  const std::vector<double> errors = left_out_errors(samples, mean);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_NEAR(errors[0], (40.0 / 3 - 10) / 10, 1e-12);
  EXPECT_NEAR(errors[1], 0.5, 1e-12);
}

TEST(LimitOfMedian, HasTheRankThatExchangeabilityGives) {
  // One known, one to come: each order has probability 1/2, so no rank reaches 95 %.
  EXPECT_EQ(limit_of_median({7}, 1), 7);
  // One to come among n known: not above rank k with probability k / (n + 1): 19 of 19 is 95 %.
  EXPECT_EQ(limit_of_median(first_integers(19), 1), 19);
  EXPECT_EQ(limit_of_median(first_integers(39), 1), 38);
  // 21 and 21, by exact arithmetic: 0.9446 at rank 16, 0.9742 at rank 17.
  EXPECT_EQ(limit_of_median(first_integers(21), 21), 17);
}

TEST(LimitOfMedian, IsExceededInFivePercentOfTrialsAtMostWhateverTheDistribution) {
  std::mt19937 random{3};
  std::lognormal_distribution<double> error{0, 2};
  int exceeded = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> known(21);
    std::vector<double> future(21);
    for (double& e : known) e = error(random);
    for (double& e : future) e = error(random);
    if (errors_of(future).median > limit_of_median(known, 21)) ++exceeded;
  }
  EXPECT_LE(exceeded, 0.05 * kTrials);
  EXPECT_GE(exceeded,
            0.01 * kTrials);  // exactly 2.6 % are expected: a limit that is never reached says nothing
}

TEST(Quality, OfTheRightModelIsAsStatedInMostCalibrations) {
  int stated = 0;
  for (unsigned seed = 0; seed < 200; ++seed)
    if (quality(noisy(seed, 0.05), pieces).holds()) ++stated;
  EXPECT_GE(stated, 180);
}

TEST(Quality, StatesTheNoiseAsItsError) {
  // Half of normal errors are within 0.674 sigma; fits to few samples add to that.
  double sum = 0;
  constexpr int kTrials = 100;
  for (unsigned seed = 0; seed < kTrials; ++seed) sum += quality(noisy(seed, 0.05), pieces).stated.median;
  EXPECT_GT(sum / kTrials, 0.674 * 0.05);
  EXPECT_LT(sum / kTrials, 2 * 0.674 * 0.05);
}

TEST(Quality, OfAModelThatOnlyKnowsItsSizesByHeartShowsInWhatItStates) {
  const Quality q = quality(noisy(7, 0.01), by_heart);
  EXPECT_EQ(q.fitted.worst, 0);
  EXPECT_GT(q.stated.nine_of_ten, 0.4);
  EXPECT_FALSE(q.holds());
}

TEST(Quality, OfOneLineForTwoProtocolsIsAsStatedAndOfNoUse) {
  const Quality q =
      quality(single_samples([](double s) { return s < 16384 ? 5e-7 + s * 3e-10 : 4e-5 + s * 1e-10; }), line);
  EXPECT_GT(q.held_back.median, kUseful);
  EXPECT_FALSE(q.holds());
}

TEST(Quality, WhereSizesBetweenFollowAnotherLawIsNotAsStated) {
  for (const double slower : {1.1, 1.2, 1.5}) {
    Samples samples = noisy(7, 0.01);
    for (Sample& sample : samples)
      if (std::exp2(std::round(std::log2(sample.size))) != sample.size) sample.median *= slower;
    const Quality q = quality(samples, pieces);
    EXPECT_FALSE(q.as_stated()) << slower;
    EXPECT_NEAR(q.held_back.median, 1 - 1 / slower, 0.02);
  }
}

TEST(Quality, NoticesThatAQuarterOfTheSizesBetweenIsFarOffAlthoughTheMedianIsNot) {
  Samples samples = noisy(7, 0.01);
  int place = 0;
  for (Sample& sample : samples)
    if (std::exp2(std::round(std::log2(sample.size))) != sample.size && place++ % 4 == 0) sample.median *= 2;
  const Quality q = quality(samples, pieces);
  EXPECT_LE(q.held_back.median, std::max(q.median_limit, kResolution));
  EXPECT_LT(q.covered, kLeastCovered);
  EXPECT_FALSE(q.as_stated());
}

TEST(Quality, OfExactTimesIsNotSpoiltByRounding) {
  const Quality q = quality(single_samples(two_protocols), pieces);
  EXPECT_TRUE(q.holds());
  EXPECT_LT(q.held_back.worst, 0.01);
}

}  // namespace
}  // namespace nplus1::calibrate
