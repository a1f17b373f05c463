#include "hypothesis/clock/groups.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kLog = 21;

OfRank rank_of(int count, const std::function<Recorded(int)>& recorded) {
  OfRank rank;
  for (int i = 0; i < count; ++i) rank.some.push_back(recorded(i));
  rank.all = rank.count = static_cast<std::uint64_t>(count);
  return rank;
}

Recorded at(double log, Core core) {
  return {0, 0, static_cast<float>(log), core};
}

/// Every second stretch is 1.5 times as long, and all lie within 2 %.
double longer_of(const std::function<Core(bool is_longer, int i)>& core) {
  const Groups groups{
      {rank_of(40, [&](int i) { return at(kLog + 0.4 * (i % 2) + 0.0005 * i, core(i % 2 == 1, i)); })}};
  return groups.longer(at(kLog + 0.42, Core::kOwn));
}

TEST(Groups, AreAmountsOfWorkThatWereRecordedApart) {
  EXPECT_NEAR(longer_of([](bool, int) { return Core::kUnknown; }), 0.01, 0.002);
  EXPECT_NEAR(longer_of([](bool, int) { return Core::kShared; }), 0.01, 0.002);  // a core that is never alone
  EXPECT_NEAR(longer_of([](bool, int i) { return i % 8 < 4 ? Core::kShared : Core::kOwn; }), 0.01, 0.002);
}

/// Then all are one group, whose median is one of either.
TEST(Groups, AreNoneWhereTheLongerOnesSharedTheirCore) {
  const double in_one = longer_of([](bool longer, int) { return longer ? Core::kShared : Core::kOwn; });
  EXPECT_NEAR(in_one, 0.01, 0.011);
  const Groups groups{{rank_of(
      41, [](int i) { return at(kLog + (i > 20 ? 0.4 : 0), i > 20 ? Core::kShared : Core::kUnknown); })}};
  EXPECT_NEAR(groups.longer(at(kLog + 0.4, Core::kShared)), 0.4, 1e-5);
}

TEST(Groups, AreSeveralOfLongStretchesWhereThreeRanksOfFourHaveThem) {
  const auto are_several = [](double log_time, int ranks_with, double share) {
    std::vector<OfRank> ranks;
    for (int rank = 0; rank < 8; ++rank)
      ranks.push_back(rank_of(40, [&](int i) {
        return at(log_time + (rank < ranks_with && i < share * 40 ? 0.4 : 0), Core::kUnknown);
      }));
    return Groups{ranks}.are_several();
  };
  EXPECT_TRUE(are_several(std::log(0.3e9), 6, 0.2));
  EXPECT_FALSE(are_several(std::log(0.3e9), 5, 0.2));
  EXPECT_FALSE(are_several(std::log(0.3e9), 8, 0.12));  // as often as a host has tails
  EXPECT_FALSE(are_several(std::log(0.1e9), 8, 0.2));   // 0.05 ms apart: what caches make
}

TEST(Groups, HaveFourMembersEachAndNothingBetweenThem) {
  const Groups few{{rank_of(40, [](int i) { return at(kLog + (i < 3 ? 0.4 : 0), Core::kUnknown); })}};
  EXPECT_NEAR(few.longer(at(kLog + 0.4, Core::kUnknown)), 0.4, 1e-5);
  const Groups range{{rank_of(40, [](int i) { return at(kLog + 0.02 * i, Core::kUnknown); })}};
  EXPECT_NEAR(range.longer(at(kLog + 0.02 * 39, Core::kUnknown)), 0.02 * 19, 1e-5);
}

TEST(Groups, SayNothingOfRanksWithFewStretchesOrNone) {
  const Groups groups{{rank_of(3, [](int) { return at(kLog, Core::kUnknown); })}};
  EXPECT_TRUE(std::isnan(groups.longer(at(kLog, Core::kUnknown))));
  EXPECT_TRUE(std::isnan(groups.longer({1, 0, static_cast<float>(kLog), Core::kUnknown})));
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
