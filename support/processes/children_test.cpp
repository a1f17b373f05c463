#include "support/processes/children.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/stopped.hpp"

namespace nplus1::processes {
namespace {

using namespace std::chrono_literals;

TEST(InChildren, GivesTheResultsInOrder) {
  const auto twice = [](std::size_t i) -> Result<std::string> { return std::to_string(2 * i); };
  const auto results = in_children(5, {.jobs = 2}, twice);
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
    return in_children(2, {.jobs = 2}, for_ever).error();
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto results = in_children(1, {.limit = 50ms}, with_children);
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
  EXPECT_TRUE(in_children(3, {.limit = 60s}, at_once));
}

TEST(InChildren, AreNotBegunAfterUntilAndThoseUnderWayEnd) {
  const auto begin = std::chrono::steady_clock::now();
  const auto slow = [](std::size_t i) -> Result<std::string> {
    if (i < 2) usleep(200'000);
    return std::to_string(i);
  };
  const auto results = in_children(4, {.jobs = 2, .until = begin + 100ms}, slow);
  ASSERT_TRUE(results);
  EXPECT_EQ(results.value(), (std::vector<std::string>{"0", "1", "", ""}));
  const auto none = in_children(4, {.jobs = 2, .until = begin}, slow);
  ASSERT_TRUE(none);
  EXPECT_EQ(none.value(), std::vector<std::string>(4));
}

TEST(InChildren, SayWhatStoppedThem) {
  const auto work = [](std::size_t) -> Result<int> {
    throw Stopped{{"no network", "name one", Fault::kUsage}};
  };
  const auto results = in_children(1, {}, work);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().what, "no network");
  EXPECT_EQ(results.error().remedy, "name one");
  EXPECT_EQ(results.error().fault, Fault::kUsage);
}

struct Inner {
  std::string name;
  std::optional<double> share;
  static constexpr auto kMembers = std::tuple{&Inner::name, &Inner::share};
};
struct Outer {
  std::vector<Inner> all;
  std::map<std::string, std::pair<int, std::string>> by_name;
  bool last = false;
  static constexpr auto kMembers = std::tuple{&Outer::all, &Outer::by_name, &Outer::last};
};

TEST(Codec, GivesBackWhatItWasGiven) {
  const std::string with_zero{"a\0b", 3};
  const Outer outer{{{with_zero, 0.5}, {"", {}}}, {{"one", {1, "x"}}}, true};
  const auto results = in_children(1, {}, [&](std::size_t) -> Result<Outer> { return outer; });
  ASSERT_TRUE(results);
  const Outer& back = results.value().front();
  ASSERT_EQ(back.all.size(), 2U);
  EXPECT_EQ(back.all[0].name, with_zero);
  EXPECT_EQ(back.all[0].share, 0.5);
  EXPECT_EQ(back.all[1].share, std::nullopt);
  EXPECT_EQ(back.by_name, outer.by_name);
  EXPECT_TRUE(back.last);
}

TEST(Codec, SaysThatBytesAreCut) {
  std::string bytes = encode(Outer{{{"name", 1.0}}, {}, false});
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_THROW(static_cast<void>(decode<Outer>(bytes)), std::runtime_error);
  }
}

}  // namespace
}  // namespace nplus1::processes
