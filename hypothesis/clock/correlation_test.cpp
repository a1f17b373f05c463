#include "hypothesis/clock/correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nplus1::hypothesis::clock {
namespace {

TEST(StudentsT, IsThatOfSpearmansCorrelation) {
  // r = 0.8
  EXPECT_NEAR(students_t({1, 2, 3, 4, 5}, {2, 1, 4, 3, 9}), 2.309401, 1e-6);
  EXPECT_NEAR(students_t({1, 2, 3, 4, 5}, {2, 1, 4, 3, 1e9}), 2.309401, 1e-6);
  EXPECT_NEAR(students_t({1, 2, 3, 4, 5}, {-2, -1, -4, -3, -9}), -2.309401, 1e-6);
}

TEST(StudentsT, OfEqualValuesIsNothing) {
  EXPECT_EQ(students_t({1, 1, 1, 1}, {1, 2, 3, 4}), 0);
  EXPECT_EQ(students_t({1, 2, 3, 4}, {5, 5, 5, 5}), 0);
}

TEST(StudentsT, OfWhatGoesTogetherIsLargeAndFinite) {
  const double t = students_t({1, 2, 3, 4}, {10, 20, 30, 40});
  EXPECT_GT(t, 1000);
  EXPECT_TRUE(std::isfinite(t));
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
