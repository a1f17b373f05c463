#include "events/limits.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace nplus1::events {
namespace {

constexpr Duration kMost{std::numeric_limits<std::int64_t>::max()};
constexpr Duration kLeast{std::numeric_limits<std::int64_t>::min()};

TEST(Limits, SumsStayWhatNoEventCanHave) {
  EXPECT_EQ(sum_within(Duration{3}, Duration{4}), Duration{7});
  EXPECT_EQ(sum_within(Duration{kLatest}, Duration{-kLatest}), Duration{0});
  EXPECT_EQ(sum_within(Duration{kLatest}, Duration{1}), kBeyond);
  EXPECT_EQ(sum_within(kMost, kMost), kBeyond);
  EXPECT_EQ(sum_within(kLeast, kLeast), -kBeyond);
  EXPECT_EQ(sum_within(kBeyond, kBeyond), kBeyond);
  EXPECT_EQ(difference_within(Duration{3}, Duration{4}), Duration{-1});
  EXPECT_EQ(difference_within(kMost, kLeast), kBeyond);
  EXPECT_EQ(difference_within(kLeast, kMost), -kBeyond);
}

TEST(Limits, RoundingTakesAnyNumber) {
  EXPECT_EQ(rounded_within(1.5), Duration{2});
  EXPECT_EQ(rounded_within(static_cast<double>(kLatest)), Duration{kLatest});
  EXPECT_EQ(rounded_within(-1e300), -kBeyond);
  for (const double far :
       {1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(rounded_within(far), kBeyond);
  EXPECT_EQ(rounded_size(1.5), 2);
  EXPECT_EQ(rounded_size(-1), 0);
  EXPECT_EQ(rounded_size(std::numeric_limits<double>::infinity()), kMostBytes);
}

}  // namespace
}  // namespace nplus1::events
