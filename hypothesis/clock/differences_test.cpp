#include "hypothesis/clock/differences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "hypothesis/clock/kind_model.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// Some steps of some ranks, with what a crowded host adds to each stretch: mostly a tenth, now and then half as much again.
std::vector<Recorded> stretches(const std::function<double(std::uint32_t, std::uint32_t)>& work,
                                unsigned seed = 1, std::uint32_t ranks = 16, std::uint32_t steps = 20) {
  std::mt19937 random{seed};
  std::exponential_distribution<double> often{10}, seldom{2};
  std::vector<Recorded> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t step = 0; step < steps; ++step) {
      const double longer = random() % 10 == 0 ? seldom(random) : often(random);
      all.push_back({rank, step, static_cast<float>(std::log(work(rank, step)) + longer)});
    }
  return all;
}

TEST(Differences, NoiseIsNone) {
  int found_any = 0;
  for (const std::uint32_t ranks : {2U, 3U, 16U})
    for (const std::uint32_t steps : {20U, 60U})
      for (unsigned seed = 0; seed < 200; ++seed) {
        const Differences found{stretches([](auto, auto) { return 1e9; }, seed, ranks, steps)};
        if (ranks == 16) {
          EXPECT_FALSE(found.by_rank() || found.by_step()) << seed;
        }
        found_any += static_cast<int>(found.by_rank() || found.by_step());
      }
  EXPECT_LE(found_any, 3);  // of 1,200
}

TEST(Differences, OfRanksAreFound) {
  const Differences found{stretches([](auto rank, auto) { return rank % 2 == 1 ? 1.5e9 : 1e9; })};
  ASSERT_TRUE(found.by_rank());
  EXPECT_FALSE(found.by_step());
  EXPECT_NEAR(found.of_rank(3) - found.of_rank(2), std::log(1.5), 0.04);
}

/// Noise makes ranks that differ a little differ by more.
TEST(Differences, OfRanksThatAreToBeBorneOutMayBeSmall) {
  constexpr auto kBetween = Differences::Between::kRanksToBeBorneOut;
  int by_themselves = 0, of_noise = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto all = stretches([](auto rank, auto) { return rank % 2 == 1 ? 1.06e9 : 1e9; }, seed, 16, 60);
    by_themselves += static_cast<int>(Differences{all}.by_rank());
    const Differences found{all, kBetween};
    ASSERT_TRUE(found.by_rank()) << seed;
    double odd = 0, even = 0;
    for (std::uint32_t rank = 0; rank < 16; rank += 2) {
      even += found.of_rank(rank) / 8;
      odd += found.of_rank(rank + 1) / 8;
    }
    EXPECT_NEAR(odd - even, std::log(1.06), 0.03) << seed;
    const Differences none{stretches([](auto, auto) { return 1e9; }, seed, 16, 60), kBetween};
    of_noise += static_cast<int>(none.by_rank());
  }
  EXPECT_LE(by_themselves, 20);  // of 200
  EXPECT_LE(of_noise, 10);       // of 200: it is for the samples to say so
}

TEST(Differences, OfStepsAreFound) {
  const Differences found{stretches([](auto, auto step) { return step % 2 == 1 ? 1.2e9 : 1e9; })};
  ASSERT_TRUE(found.by_step());
  EXPECT_FALSE(found.by_rank());
  EXPECT_NEAR(found.of_step(3) - found.of_step(2), std::log(1.2), 0.04);
}

/// What is there is mostly found, and then it is what it is.
TEST(Differences, OfStepsAreFoundOnTwoRanks) {
  int found_in = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto work = [](auto, auto step) { return step % 2 == 1 ? 1.5e9 : 1e9; };
    const Differences found{stretches(work, seed, 2, 60)};
    EXPECT_FALSE(found.by_rank()) << seed;
    if (!found.by_step()) continue;
    ++found_in;
    double odd = 0, even = 0;
    for (std::uint32_t step = 0; step < 60; step += 2) {
      even += found.of_step(step) / 30;
      odd += found.of_step(step + 1) / 30;
    }
    EXPECT_NEAR(odd - even, std::log(1.5), 0.1) << seed;
  }
  EXPECT_GE(found_in, 35);
}

/// 16 ranks, 200 steps; `more` of a step, logarithm.
template <class More>
std::vector<Recorded> steps_with(More more) {
  std::mt19937 random{1};
  std::exponential_distribution<> noise{20};
  std::vector<Recorded> all;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    for (std::uint32_t step = 0; step < 200; ++step)
      all.push_back({rank, step, static_cast<float>(17 + more(step) + noise(random))});
  return all;
}

/// A host that is busy for a while makes all ranks slower.
TEST(Differences, OfStepsThatTheHostMayHaveMadeAreNone) {
  constexpr auto kBoth = Differences::Between::kRanksAndSteps;
  constexpr double kLittle = 0.05, kMuch = 0.7;
  const std::vector<Recorded> busy = steps_with([](auto step) { return step / 30 % 3 == 1 ? 0.3 : 0; });
  EXPECT_TRUE((Differences{busy, kBoth, kLittle}.by_step()));
  EXPECT_FALSE((Differences{busy, kBoth, kMuch}.by_step()));
  const std::vector<Recorded> work = steps_with([](auto step) { return step % 2 == 0 ? 1.1 : 0; });
  EXPECT_TRUE((Differences{work, kBoth, kMuch}.by_step()));
  const std::vector<Recorded> rare = steps_with([](auto step) { return step % 25 == 7 ? 2.5 : 0; });
  EXPECT_TRUE((Differences{rare, kBoth, kMuch}.by_step()));
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

/// Twins of ranks that have less work, and which shared their cores, say nothing against what the others have more.
TEST(Differences, OfRanksThatHadNoTwinAreNotCutOffByThoseOfOthers) {
  KindModel kind;
  std::mt19937 random{7};
  std::uniform_real_distribution<> even{0, 1};
  constexpr std::uint32_t kRanks = 4, kSteps = 60;
  const auto stretch_of = [&](std::uint32_t rank, std::uint32_t step) {
    Stretch stretch{RankId{static_cast<std::int32_t>(rank)}, step,
                    (rank % 2 == 0 ? 130e6 : 260e6) * (1.05 + 0.2 * even(random))};
    if (rank % 2 == 0 && step == 20 + rank) {
      stretch.measured = 131e6;
      stretch.shared = stretch.rough = true;
    }
    return stretch;
  };
  for (std::uint32_t step = 0; step < kSteps; ++step)
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) kind.stretches().take(stretch_of(rank, step));
  kind.fit(Replicate{0}, 0);
  EXPECT_EQ(kind.model(), Model::kQuantile);
  const auto warm = [&](std::int32_t rank) {
    return kind.warm({RankId{rank}, 7, 300e6}, 0, Estimate::kBest);
  };
  EXPECT_NEAR(warm(1) / warm(0), 2, 0.1);
  EXPECT_LE(warm(0), 131e6 * 1.05);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
