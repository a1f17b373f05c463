#include "hypothesis/clock/host_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nplus1::hypothesis::clock {
namespace {

TEST(HostNoise, IsToldByStretchesOfALikeLength) {
  HostNoise noise;
  for (int i = 0; i <= 10; ++i) {
    noise.learn(std::log(1e9), 0.01 * i);
    noise.learn(std::log(1e6), 0.1 * i);
  }
  const auto of_milliseconds = noise.at(std::log(3e9)), of_microseconds = noise.at(std::log(0.4e6));
  ASSERT_TRUE(of_milliseconds && of_microseconds);
  EXPECT_NEAR(of_milliseconds->usual, 0.05, 1e-9);
  EXPECT_NEAR(of_milliseconds->most, 0.09, 1e-9);
  EXPECT_NEAR(of_microseconds->most, 0.9, 1e-9);
  EXPECT_FALSE(noise.at(std::log(30e9)));
}

/// Where nothing was learned: others who share cores make what takes milliseconds differ by more.
TEST(HostNoise, OfAnyHostIsMoreWhereCoresAreShared) {
  const double alone = HostNoise{}.most_of_any_host(1e9);
  EXPECT_NEAR(alone, 0.8, 1e-9);
  EXPECT_NEAR(HostNoise{0.15}.most_of_any_host(1e9), alone + 0.25, 1e-9);
  EXPECT_NEAR(HostNoise{0.9}.most_of_any_host(1e9), alone + 0.5, 1e-9);
  EXPECT_EQ(HostNoise{0.9}.most_of_any_host(8e9), HostNoise{}.most_of_any_host(8e9));
  EXPECT_TRUE(std::isinf(HostNoise{}.most_of_any_host(0.2e9)));
}

TEST(HostNoise, IsNotToldByFew) {
  HostNoise noise;
  for (int i = 0; i < 3; ++i) noise.learn(20, 0.1);
  EXPECT_FALSE(noise.at(20));
}

/// Where somebody always has a part of every core, by twins that shared it, as long as these and stretches are recorded alike.
TEST(HostNoise, OfCoresThatAreAlwaysSharedIsToldByTwinsThatSharedThem) {
  const auto of = [](double share_shared, double longer) {
    HostNoise noise{share_shared};
    for (int i = 0; i <= 10; ++i) noise.learn_shared(20, longer * 0.1 * i, 1 + 0.05 * i);
    return noise;
  };
  const auto little = of(0.95, 0.08).of_shared_at(20.5);
  ASSERT_TRUE(little);
  EXPECT_NEAR(little->noise.usual, 0.04, 1e-9);
  EXPECT_NEAR(little->noise.most, 0.072, 1e-9);
  EXPECT_NEAR(little->parts, 0.4, 1e-9);
  EXPECT_FALSE(of(0.95, 0.08).at(20.5));
  EXPECT_FALSE(of(0.5, 0.08).of_shared_at(20.5));
  EXPECT_FALSE(of(0.95, 0.2).of_shared_at(20.5));
  EXPECT_FALSE(of(0.95, 0.08).of_shared_at(23));
}

TEST(HostNoise, IsNoneWhereStretchesWereRecordedAsShorterThanTheirTwins) {
  HostNoise noise;
  for (int i = 0; i < 8; ++i) noise.learn(20, -0.01);
  EXPECT_EQ(noise.at(20)->most, 0);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
