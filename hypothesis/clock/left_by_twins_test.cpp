#include "hypothesis/clock/left_by_twins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hypothesis/clock/kind_model.hpp"

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::uint32_t kRanksOfKind = 8, kStepsOfRank = 40;

struct WithTwins {
  std::vector<OfRank> ranks = std::vector<OfRank>(kRanksOfKind);
  std::vector<Measured> measured;
};

/// Work of each rank of its own, every second stretch of it half as long again, each thirteenth with a twin, which makes it `left` longer.
WithTwins kind_with(double left, double noise) {
  WithTwins kind;
  std::mt19937 random{3};
  std::normal_distribution<double> normal{0, noise};
  std::uint32_t n = 0;
  for (std::uint32_t rank = 0; rank < kRanksOfKind; ++rank)
    for (std::uint32_t step = 0; step < kStepsOfRank; ++step, ++n) {
      const double work = 20 + 0.05 * rank + (random() % 2 == 0 ? 0 : std::log(1.5));
      const double log_time = work + 0.1 + normal(random);
      if (n % 13 == 5) {
        kind.measured.push_back({{rank, step, static_cast<float>(log_time + left)}, work});
        continue;
      }
      kind.ranks[rank].some.push_back({rank, step, static_cast<float>(log_time)});
      ++kind.ranks[rank].count;
    }
  return kind;
}

TEST(LeftByTwins, IsHowMuchLongerStretchesWithTwinsWereRecordedThanOthersOfAsMuchWork) {
  for (const double left : {0.0, 0.08}) {
    const WithTwins kind = kind_with(left, 0.01);
    const auto longer = LeftByTwins::of(kind.measured, kind.ranks);
    ASSERT_TRUE(longer);
    EXPECT_NEAR(longer->log, left, 0.01);
    EXPECT_NEAR(longer->error, 0.01 / std::sqrt(24), 0.002);
  }
}

/// Longer stretches have twins more rarely: those that have are no measure of what these make shorter.
TEST(LeftByTwins, IsNeverLess) {
  const WithTwins kind = kind_with(-0.08, 0.01);
  EXPECT_EQ(LeftByTwins::of(kind.measured, kind.ranks)->log, 0);
}

TEST(LeftByTwins, IsNotToldByThreeSamples) {
  WithTwins kind = kind_with(0.08, 0.01);
  kind.measured.resize(3);
  EXPECT_FALSE(LeftByTwins::of(kind.measured, kind.ranks));
}

TEST(LeftByTwins, IsToldByOthersOfALikeLengthWhereItIsNotKnown) {
  LeftByTwins left;
  EXPECT_EQ(left.at(20, {}), 0);
  for (int kind = 0; kind < 9; ++kind) left.learn(20, {0.1, 0.01});
  EXPECT_NEAR(left.at(20, {}), 0.1, 0.03);
  EXPECT_LT(left.at(25, {}), 0.001);  // 150 times as long
  EXPECT_NEAR(left.at(20, LeftByTwins::Longer{0.3, 0.2}), 0.1, 0.03);
  EXPECT_NEAR(left.at(20, LeftByTwins::Longer{0.3, 0.005}), 0.3, 0.01);
}

/// Tasks of 0.3 to 0.45 ms, to which the host adds a twentieth, and of which twins make the next one a fifth longer: told from the latter
/// alone, all would be a sixth shorter than recorded.
TEST(LeftByTwins, IsNotTakenOffTheOthers) {
  KindModel kind;
  std::vector<Stretch> stretches;
  std::mt19937 random{7};
  std::uniform_real_distribution<double> even{0, 1};
  double truth = 0, told = 0;
  for (std::uint32_t i = 0; i < 960; ++i) {
    const bool measured = i % 9 == 4;
    const double work = 0.3e9 * (1 + 0.5 * even(random));
    truth += work;
    const double recorded = work * (1.03 + 0.04 * even(random)) * (measured ? 1.2 : 1);
    stretches.push_back({RankId{static_cast<std::int32_t>(i % 16)}, i / 16, recorded, measured ? work : 0});
    kind.stretches().take(stretches.back());
  }
  LeftByTwins left;
  HostNoise noise;
  kind.stretches().tell(left);
  kind.stretches().take_off(left);
  kind.stretches().tell(noise);
  kind.fit(Replicate{0}, 0, noise);
  EXPECT_EQ(kind.model(), Model::kAlong);
  for (std::size_t i = 0; i < stretches.size(); ++i) told += kind.warm(stretches[i], i, Estimate::kBest);
  EXPECT_NEAR(told / truth, 1, 0.02);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
