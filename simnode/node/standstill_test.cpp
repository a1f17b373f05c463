#include "simnode/node/standstill.hpp"

#include <gtest/gtest.h>

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;

/// Two ranks that wait inside MPI, seen every tenth of a second.
struct StandstillTest : testing::Test {
  bool look_for(std::chrono::milliseconds time, std::uint32_t looks_of_first, std::uint32_t looks_of_second) {
    for (std::chrono::milliseconds passed{}; passed < time; passed += 100ms) {
      now += 100ms;
      ranks[0].looks += looks_of_first;
      ranks[1].looks += looks_of_second;
      if (standstill.look(ranks, now)) return true;
    }
    return false;
  }

  Standstill standstill;
  Standstill::Instant now{};
  std::vector<Standstill::Sample> ranks{2};
};

TEST_F(StandstillTest, IsSeenWhenAllHaveLookedInVainForLong) {
  EXPECT_FALSE(look_for(5s, 10, 10));
  EXPECT_TRUE(look_for(200ms, 10, 10));
}

TEST_F(StandstillTest, IsNoneWhileOneRankDoesNotLook) {
  EXPECT_FALSE(look_for(60s, 10, 0));
}

TEST_F(StandstillTest, TakesLongerWhereRanksLookSeldom) {
  EXPECT_FALSE(look_for(9s, 10, 1));
  EXPECT_TRUE(look_for(2s, 10, 1));
}

TEST_F(StandstillTest, BeginsAnewWithEveryMove) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(look_for(4s, 10, 10));
    ++(i % 2 == 0 ? ranks[0].moves : ranks[1].activity);
  }
}

TEST_F(StandstillTest, BeginsAnewWhenTheCallerSaysSo) {
  EXPECT_FALSE(look_for(4s, 10, 10));
  standstill.reset();
  EXPECT_FALSE(look_for(4s, 10, 10));
}

TEST_F(StandstillTest, DoesNotWaitForWhoHasFinalized) {
  ranks[1].over = true;
  EXPECT_TRUE(look_for(6s, 10, 0));
}

}  // namespace
}  // namespace nplus1::simnode::node
