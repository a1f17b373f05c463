#include "hypothesis/clock/tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Tasks, GoAlongWithWhatWasRecorded) {
  int along = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto samples = tasks(10, 20, 0.1, seed);
    along += go_along(samples, 0.6) ? 1 : 0;
    EXPECT_LT(error_as_recorded(samples), 0.2);  // of a range of log 10
  }
  EXPECT_GE(along, 48);
}

/// All ranks wait for the longest of 16 tasks, each of which the host made half as long again on average: told as recorded it would
/// be far too long.
TEST(Tasks, HaveTheSumAndTheLongestOfManyThatTheirWorkHas) {
  constexpr int kRanks = 16, kSteps = 200;
  double off_of_sums = 0, off_of_longest = 0;
  constexpr unsigned kSeeds = 20;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Tasks told{tasks(10, 60, 0.5, seed), 0};
    std::mt19937 random{seed + 1000};
    std::uniform_real_distribution<> length{1, 10}, chance{0, 1};
    std::exponential_distribution<> longer{1 / 0.5};
    double sum = 0, sum_told = 0, longest = 0, longest_told = 0, longest_recorded = 0;
    for (int s = 0; s < kSteps; ++s) {
      double most = 0, most_told = 0, most_recorded = 0;
      for (int r = 0; r < kRanks; ++r) {
        const double work = length(random) * 1e9, recorded = work * (1 + longer(random));
        const double warm = std::exp(told.log_warm(std::log(recorded), chance(random)));
        EXPECT_LE(warm, recorded * 1.0001);
        sum += work;
        sum_told += warm;
        most = std::max(most, work);
        most_told = std::max(most_told, warm);
        most_recorded = std::max(most_recorded, recorded);
      }
      longest += most;
      longest_told += most_told;
      longest_recorded += most_recorded;
    }
    EXPECT_NEAR(sum_told, sum, 0.2 * sum)
        << seed;  // 60 samples of such a range say their mean by a twentieth
    EXPECT_NEAR(longest_told, longest, 0.15 * longest) << seed;
    EXPECT_GT(longest_recorded, 1.6 * longest);
    off_of_sums += (sum_told / sum - 1) / kSeeds;
    off_of_longest += (longest_told / longest - 1) / kSeeds;
  }
  EXPECT_NEAR(off_of_sums, 0, 0.04);
  EXPECT_NEAR(off_of_longest, 0, 0.04);
}

TEST(Tasks, DoNotGoAlongWhereTheHostMakesTheDifference) {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) found += go_along(tasks(10, 20, 0.5, seed, false), 0.1) ? 1 : 0;
  EXPECT_EQ(found, 0);
}

TEST(Tasks, DoNotGoAlongByFewSamplesNorByANarrowRange) {
  EXPECT_FALSE(go_along(tasks(10, 5, 0.01), 0.1));
  EXPECT_FALSE(go_along(tasks(1.5, 50, 0.01), 0.6));
  EXPECT_FALSE(go_along({}, 0));
  EXPECT_FALSE(go_rather_along({}));
  const Measured same{{0, 0, 20.0F}, 19, false};
  EXPECT_FALSE(go_along(std::vector<Measured>(10, same), -1));
}

TEST(Tasks, OfWhichOneWasDisturbedGoAlongAllTheSame) {
  auto samples = tasks(10, 20, 0.05);
  samples[3].recorded.log_time += 2;
  EXPECT_TRUE(go_along(samples, 0.6));
}

TEST(Tasks, OfAHostThatIsSlowForAWhileGoAlongOnlyAsFarAsThat) {
  // Twin and stretch both take up to 1.6 times as long.
  EXPECT_FALSE(go_along(tasks(1.6, 50, 0.01), 0.6));
}

TEST(Tasks, WithoutSamplesAreAsRecorded) {
  EXPECT_DOUBLE_EQ(Tasks{0}.log_warm(21, 0.5), 21);
  EXPECT_DOUBLE_EQ(Tasks{-0.1}.log_warm(21, 0.5), 20.9);
}

TEST(Tasks, TheGreaterTheChanceAreTheShorter) {
  const Tasks told{tasks(10, 40, 0.3), 0};
  double last = INFINITY;
  for (double chance = 0; chance < 1; chance += 0.05) {
    const double warm = told.log_warm(std::log(5e9), chance);
    EXPECT_LE(warm, last);
    last = warm;
  }
  EXPECT_LT(last, std::log(3e9));
}

TEST(Tasks, OfTheSameLengthAllAreThatLong) {
  const Measured same{{0, 0, 20.0F}, 19, false};
  EXPECT_NEAR((Tasks{std::vector<Measured>(4, same), 0}.log_warm(20, 0.5)), 19, 0.05);
}

/// A rank's stretches, some of which take `longer` times as long; up to `host` more each.
std::vector<Recorded> by_turns(bool (*is_long)(unsigned), double longer, double host,
                               std::uint32_t count = 40) {
  std::mt19937 random{3};
  std::uniform_real_distribution<> more{0, host};
  std::vector<Recorded> all;
  for (std::uint32_t s = 0; s < count; ++s)
    all.push_back({0, s, static_cast<float>(std::log((is_long(s) ? longer : 1) * 4e9 * (1 + more(random))))});
  std::reverse(all.begin(), all.end());
  return all;
}

TEST(Tasks, OfTwoAmountsAreKnownByTurnsAndAtRandom) {
  const auto each_second = [](unsigned s) { return s % 2 == 1; };
  const auto at_random = [](unsigned s) { return (0x5a3c96e1b7d2f048U >> s & 1U) == 1; };
  EXPECT_TRUE(are_of_two_amounts(by_turns(each_second, 1.5, 0.1)));
  EXPECT_TRUE(are_of_two_amounts(by_turns(at_random, 1.5, 0.1)));
  EXPECT_FALSE(are_of_two_amounts(by_turns(each_second, 1.5, 0.6)));  // more noise than difference
  EXPECT_FALSE(are_of_two_amounts(by_turns(each_second, 1.05, 0)));   // too little
  EXPECT_FALSE(are_of_two_amounts(by_turns(each_second, 1.5, 0.1, 8)));
}

TEST(Tasks, ThatTakeLongerForAWhileMayBeTheHosts) {
  EXPECT_FALSE(are_of_two_amounts(by_turns([](unsigned s) { return s >= 25; }, 1.5, 0.05)));
  EXPECT_FALSE(are_of_two_amounts(by_turns([](unsigned s) { return s % 20 >= 12; }, 1.5, 0.05)));
}

TEST(Tasks, OfOneAmountAreNotOfTwo) {
  for (const double host : {0.01, 0.1, 0.5, 2.0})
    EXPECT_FALSE(are_of_two_amounts(by_turns([](unsigned) { return false; }, 1, host))) << host;
}

/// Levels that are too few for the samples' range tell them worse.
TEST(Tasks, AreToldWorseByLevelsWhereFewSamplesWereBelieved) {
  const auto samples = tasks(10, 30, 0.1);
  const std::vector<Measured> few{samples.begin(), samples.begin() + 3};
  EXPECT_LT(error_as_recorded(samples), error_of(Levels{few, {}}, samples) / 2);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
