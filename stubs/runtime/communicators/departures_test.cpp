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
  const Departure gone = departures->take();
  EXPECT_EQ(gone.number, CommId{1});
  EXPECT_EQ(gone.key, 10U);
  EXPECT_TRUE(departures->empty());
}

TEST(Departures, OutliveWhoTellsOfThem) {
  auto departures = std::make_shared<Departures>();
  const std::weak_ptr<Departures> there = departures;
  {
    const Known last{departures, {CommId{2}, 20}};
    departures.reset();
    EXPECT_FALSE(there.expired());
  }
  EXPECT_TRUE(there.expired());
}

TEST(Departures, ThatComeWhileOneIsToldAreNotTakenForIt) {
  const auto departures = std::make_shared<Departures>();
  auto second = std::make_unique<Known>(departures, Departure{CommId{2}, 20});
  { const Known first{departures, {CommId{1}, 10}}; }
  const Departure told = departures->take();
  second.reset();
  EXPECT_EQ(told.key, 10U);
  ASSERT_FALSE(departures->empty());
  EXPECT_EQ(departures->take().key, 20U);
  EXPECT_TRUE(departures->empty());
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
    while (round == 1 && !departures->empty()) told += departures->take().key;
  }
  while (!departures->empty()) told += departures->take().key;
  EXPECT_EQ(told, keys);
}

}  // namespace
}  // namespace nplus1::stubs
