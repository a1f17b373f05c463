#include "support/number_of.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace nplus1 {
namespace {

TEST(NumberOf, OneIsSingular) {
  EXPECT_EQ(number_of(1, "message"), "1 message");
  EXPECT_EQ(number_of(std::uint64_t{1}, "call was", "calls were"), "1 call was");
}

TEST(NumberOf, AllOthersArePluralNoneIncluded) {
  EXPECT_EQ(number_of(0, "message"), "0 messages");
  EXPECT_EQ(number_of(2, "call was", "calls were"), "2 calls were");
  EXPECT_EQ(number_of(-1, "place"), "-1 places");
  EXPECT_EQ(number_of(std::numeric_limits<std::uint64_t>::max(), "event"), "18446744073709551615 events");
}

}  // namespace
}  // namespace nplus1
