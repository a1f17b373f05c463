#include "hypothesis/children.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace nplus1::hypothesis {
namespace {

using namespace std::chrono_literals;

const auto no_progress = [](std::size_t) {};

TEST(InChildren, GivesTheResultsInOrder) {
  const auto twice = [](std::size_t i) -> Result<std::string> { return std::to_string(2 * i); };
  const auto results = in_children(5, 2, twice, no_progress);
  ASSERT_TRUE(results);
  EXPECT_EQ(results.value(), (std::vector<std::string>{"0", "2", "4", "6", "8"}));
}

TEST(InChildren, AreEndedWithTheirOwnWhenTheTimeIsUp) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto for_ever = [](std::size_t) -> Result<std::string> {
    for (;;) pause();
  };
  const auto with_children = [&](std::size_t) -> Result<std::string> {
    return in_children(2, 2, for_ever, no_progress).error();
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto results = in_children(1, 1, with_children, no_progress, 50ms);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().what, "the time for it was up");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  close(ends[1]);  // the others who hold it are the children's children
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST(InChildren, ThatAreInTimeAreNotEnded) {
  const auto at_once = [](std::size_t) -> Result<std::string> { return std::string{"done"}; };
  EXPECT_TRUE(in_children(3, 1, at_once, no_progress, 60s));
}

TEST(InChildren, AreNotBegunAfterUntilAndThoseUnderWayEnd) {
  const auto begin = std::chrono::steady_clock::now();
  const auto slow = [](std::size_t i) -> Result<std::string> {
    if (i < 2) usleep(200'000);
    return std::to_string(i);
  };
  const auto results = in_children(4, 2, slow, no_progress, {}, begin + 100ms);
  ASSERT_TRUE(results);
  EXPECT_EQ(results.value(), (std::vector<std::string>{"0", "1", "", ""}));
  const auto none = in_children(4, 2, slow, no_progress, {}, begin);
  ASSERT_TRUE(none);
  EXPECT_EQ(none.value(), std::vector<std::string>(4));
}

}  // namespace
}  // namespace nplus1::hypothesis
