#include "hypothesis/clock/differences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace nplus1::hypothesis::clock {
namespace {

/// 16 ranks, 20 steps, with what a crowded host adds to each stretch: mostly a tenth, now and then half as much again.
std::vector<Recorded> stretches(const std::function<double(std::uint32_t, std::uint32_t)>& work,
                                unsigned seed = 1) {
  std::mt19937 random{seed};
  std::exponential_distribution<double> often{10}, seldom{2};
  std::vector<Recorded> all;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    for (std::uint32_t step = 0; step < 20; ++step) {
      const double longer = random() % 10 == 0 ? seldom(random) : often(random);
      all.push_back({rank, step, static_cast<float>(std::log(work(rank, step)) + longer)});
    }
  return all;
}

TEST(Differences, NoiseIsNone) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Differences found{stretches([](auto, auto) { return 1e9; }, seed)};
    EXPECT_FALSE(found.by_rank() || found.by_step()) << seed;
  }
}

TEST(Differences, OfRanksAreFound) {
  const Differences found{stretches([](auto rank, auto) { return rank % 2 == 1 ? 1.5e9 : 1e9; })};
  ASSERT_TRUE(found.by_rank());
  EXPECT_FALSE(found.by_step());
  EXPECT_NEAR(found.of_rank(3) - found.of_rank(2), std::log(1.5), 0.04);
}

TEST(Differences, OfStepsAreFound) {
  const Differences found{stretches([](auto, auto step) { return step % 2 == 1 ? 1.2e9 : 1e9; })};
  ASSERT_TRUE(found.by_step());
  EXPECT_FALSE(found.by_rank());
  EXPECT_NEAR(found.of_step(3) - found.of_step(2), std::log(1.2), 0.04);
}

TEST(Differences, OfBothAddUp) {
  const Differences found{
      stretches([](auto rank, auto step) { return 1e9 * (rank == 7 ? 3 : 1) * (step < 10 ? 2 : 1); })};
  EXPECT_NEAR(found.of({7, 3, 0}) - found.of({6, 12, 0}), std::log(6), 0.1);
}

TEST(Differences, OneRankAloneHasNone) {
  std::vector<Recorded> all;
  for (std::uint32_t step = 0; step < 50; ++step) all.push_back({0, step, 20});
  const Differences found{all};
  EXPECT_FALSE(found.by_rank() || found.by_step());
  EXPECT_EQ(found.of({5, 700, 0}), 0);
  EXPECT_FALSE(Differences{{}}.by_rank());
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
