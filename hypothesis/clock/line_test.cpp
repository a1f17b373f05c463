#include "hypothesis/clock/line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nplus1::hypothesis::clock {
namespace {

/// Tasks of 1 to `longest` ms; `of_work`: of the twin's time, the rest is 1 ms; `host`: what it adds to stretches, on average.
std::vector<Measured> tasks(double longest, std::size_t count, double host, unsigned seed = 1,
                            bool of_work = true) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<> length{1, longest};
  std::exponential_distribution<> longer{1 / host};
  std::vector<Measured> all;
  for (std::size_t i = 0; i < count; ++i) {
    const double work = length(random) * 1e9;
    const double warm = of_work ? work : 1e9;
    all.push_back({{0, 0, static_cast<float>(std::log((of_work ? work : 1e9) * (1 + longer(random))))},
                   std::log(warm) + 0.01 * longer(random),
                   false});
  }
  return all;
}

TEST(Line, TellsTasksThatAreEachAsLongAsTheirDataSays) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto samples = tasks(10, 20, 0.1, seed);
    ASSERT_TRUE(go_along(samples, 0.6)) << seed;
    const Line line{samples};
    for (const double task : {1e9, 3e9, 10e9})
      EXPECT_NEAR(line.log_warm(std::log(1.1 * task)), std::log(task), 0.15) << seed;
    EXPECT_LT(error_of(line, samples), 0.2);  // of a range of log 10
  }
}

TEST(Line, IsNotThereWhereTheHostMakesTheDifference) {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) found += go_along(tasks(10, 20, 0.5, seed, false), 0.1) ? 1 : 0;
  EXPECT_EQ(found, 0);
}

TEST(Line, IsNotThereForFewSamplesNorForANarrowRange) {
  EXPECT_FALSE(go_along(tasks(10, 5, 0.01), 0.1));
  EXPECT_FALSE(go_along(tasks(1.5, 50, 0.01), 0.6));
  EXPECT_FALSE(go_along({}, 0));
  const Measured same{{0, 0, 20.0F}, 19, false};
  EXPECT_FALSE(go_along(std::vector<Measured>(10, same), -1));
}

TEST(Line, OfAHostThatIsSlowForAWhileGoesAlongOnlyAsFarAsThat) {
  // Twin and stretch both take up to 1.6 times as long.
  EXPECT_FALSE(go_along(tasks(1.6, 50, 0.01), 0.6));
}

TEST(Line, WithoutSamplesIsAsRecorded) {
  EXPECT_DOUBLE_EQ(Line{0}.log_warm(21), 21);
  EXPECT_DOUBLE_EQ(Line{-0.1}.log_warm(21), 20.9);
}

TEST(Line, OfOnePlaceHasTheSlopeOfRecorded) {
  const Measured same{{0, 0, 20.0F}, 19, false};
  EXPECT_NEAR((Line{std::vector<Measured>(4, same)}.log_warm(22)), 21, 1e-6);
}

/// Levels that are too few for the samples' range tell them worse.
TEST(Line, IsBetterThanLevelsWhereFewSamplesWereBelieved) {
  const auto samples = tasks(10, 30, 0.1);
  const std::vector<Measured> few{samples.begin(), samples.begin() + 3};
  EXPECT_LT(error_of(Line{samples}, samples), error_of(Levels{few, {}}, samples) / 2);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
