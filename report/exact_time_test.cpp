#include "report/exact_time.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace nplus1::report {
namespace {

TEST(ExactTime, EveryPicosecondShows) {
  EXPECT_EQ(exact_seconds(Duration{0}), "0.000000000000");
  EXPECT_EQ(exact_seconds(Duration{1}), "0.000000000001");
  EXPECT_EQ(exact_seconds(Duration{1'979'378'000}), "0.001979378000");
  EXPECT_EQ(exact_seconds(Duration{3'000'000'000'001}), "3.000000000001");
  EXPECT_EQ(exact_seconds(Duration{-1'500'000'000'000}), "-1.500000000000");
}

TEST(ExactTime, TheExtremesDoNotOverflow) {
  EXPECT_EQ(exact_seconds(Duration{std::numeric_limits<std::int64_t>::max()}), "9223372.036854775807");
  EXPECT_EQ(exact_seconds(Duration{std::numeric_limits<std::int64_t>::min()}), "-9223372.036854775808");
}

TEST(ExactTime, PeopleGetThreeDigitsAndTheFittingUnit) {
  EXPECT_EQ(readable(Duration{0}), "0 s");
  EXPECT_EQ(readable(Duration{999}), "999 ps");
  EXPECT_EQ(readable(Duration{1'979'378'000}), "1.98 ms");
  EXPECT_EQ(readable(Duration{999'900'000}), "1 ms");
  EXPECT_EQ(readable(std::chrono::seconds{2}), "2 s");
}

}  // namespace
}  // namespace nplus1::report
