#include "hypothesis/clock/warmer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace nplus1::hypothesis::clock {
namespace {

TEST(Warmer, SaysOfOneMeasuredKindTwoThirdsOfItsOwn) {
  Warmer warmer;
  warmer.learn(std::log(100e6), std::log(50e6));
  const Warmer::Shorter found = warmer.at(std::log(100e6), Replicate{}, 1);
  EXPECT_NEAR(found.mean, -std::log(2) / 1.5, 1e-12);
  EXPECT_NEAR(found.most, -std::log(2), 1e-12);
}

TEST(Warmer, SaysLessTheFartherOffInLength) {
  Warmer warmer;
  warmer.learn(std::log(100e6), std::log(50e6));
  const double off = 0.7;  // one standard deviation of the weight
  const double weight = std::exp(-0.5);
  EXPECT_NEAR(warmer.at(std::log(100e6) + off, Replicate{}, 1).mean, -weight * std::log(2) / (weight + 0.5),
              1e-12);
  const Warmer::Shorter far = warmer.at(std::log(100e6) + 3 * off, Replicate{}, 1);
  EXPECT_GT(far.mean, -0.03);
  EXPECT_EQ(far.most, 0);
}

TEST(Warmer, MakesNothingLonger) {
  Warmer warmer;
  warmer.learn(std::log(10e6), std::log(30e6));
  EXPECT_EQ(warmer.at(std::log(10e6), Replicate{}, 1).mean, 0);
}

TEST(Warmer, OfReplicatesScatters) {
  Warmer warmer;
  warmer.learn(std::log(100e6), std::log(50e6));
  warmer.learn(std::log(100e6), std::log(90e6));
  double least = 0, most = -1;
  for (std::uint32_t i = 1; i < 50; ++i) {
    const double mean = warmer.at(std::log(100e6), Replicate{i}, 1).mean;
    EXPECT_LE(mean, 0);
    EXPECT_GE(mean, -std::log(2));
    least = std::min(least, mean);
    most = std::max(most, mean);
  }
  EXPECT_LT(least + 0.1, most);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
