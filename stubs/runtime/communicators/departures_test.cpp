#include "stubs/runtime/communicators/departures.hpp"

#include <gtest/gtest.h>

namespace nplus1::stubs {
namespace {

TEST(Departures, AreOfWhatWasKnownAndIsNoMore) {
  const auto departures = std::make_shared<Departures>();
  {
    Known held;
    {
      Known first{departures, {CommId{1}, 10}};
      held = std::move(first);
    }
    EXPECT_TRUE(departures->empty());
    const Known unknown;
  }
  ASSERT_FALSE(departures->empty());
  EXPECT_EQ(departures->last().number, CommId{1});
  EXPECT_EQ(departures->last().key, 10U);
  departures->pop();
  EXPECT_TRUE(departures->empty());
}

TEST(Departures, OutliveWhoTellsOfThem) {
  auto departures = std::make_shared<Departures>();
  const Known last{departures, {CommId{2}, 20}};
  departures.reset();
}

TEST(Departures, OfManyAreToldInAnyOrderWithNoneLost) {
  const auto departures = std::make_shared<Departures>();
  constexpr std::uint32_t kMany = 1000;
  std::uint64_t keys = 0, told = 0;
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::vector<Known> all;
    for (std::uint32_t i = 1; i <= kMany; ++i) {
      all.emplace_back(departures, Departure{CommId{i}, i});
      keys += i;
    }
    for (; round == 1 && !departures->empty(); departures->pop()) told += departures->last().key;
  }
  for (; !departures->empty(); departures->pop()) told += departures->last().key;
  EXPECT_EQ(told, keys);
}

}  // namespace
}  // namespace nplus1::stubs
