#include "simnode/node/test_delay.hpp"

#include <gtest/gtest.h>

namespace nplus1::simnode::node {
namespace {

TEST(TestDelay, IsNothingUnlessAskedFor) {
  for (const char* text : {"", "0", "random", "random:7", "nonsense", "-1"}) {
    TestDelay delay{text};
    EXPECT_EQ(delay.next().count(), 0.0) << text;
  }
}

TEST(TestDelay, IsTheSameAfterEachEvent) {
  TestDelay delay{"0.25"};
  EXPECT_EQ(delay.next().count(), 0.25);
  EXPECT_EQ(delay.next().count(), 0.25);
}

TEST(TestDelay, ComesFromTheSeed) {
  TestDelay one{"random:7:0.5"};
  TestDelay same{"random:7:0.5"};
  TestDelay other{"random:8:0.5"};
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const double length = one.next().count();
    EXPECT_GE(length, 0.0);
    EXPECT_LT(length, 0.5);
    EXPECT_EQ(length, same.next().count());
    differs = differs || length != other.next().count();
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace nplus1::simnode::node
