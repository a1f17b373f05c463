#include "support/units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace nplus1 {
namespace {

TEST(Units, SecondsAreRoundedToTheNearestPicosecond) {
  EXPECT_EQ(from_seconds(1e-12), Duration{1});
  EXPECT_EQ(from_seconds(1.4e-12), Duration{1});
  EXPECT_EQ(from_seconds(-1.6e-12), Duration{-2});
  EXPECT_EQ(from_seconds(9e6), Duration{9'000'000'000'000'000'000});
}

TEST(Units, SecondsBeyondAllTimesAreTheLongest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double s : {9.3e6, 1e300, kInfinity, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(from_seconds(s), Duration::max()) << s;
  for (const double s : {-9.3e6, -1e300, -kInfinity}) EXPECT_EQ(from_seconds(s), -Duration::max()) << s;
}

}  // namespace
}  // namespace nplus1
