#include "hypothesis/clock/lengths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace nplus1::hypothesis::clock {
namespace {

constexpr double kMicrosecond = 1e6;

class KindsOfLengths {
 public:
  /// `share` of a kind's stretches are of the second length, all of both scatter by half as much again.
  void add(std::uint32_t kind, int count, double us, double share = 0, double longer_us = 0, int ranks = 4) {
    std::lognormal_distribution<double> scatter{0, 0.4};
    std::bernoulli_distribution longer{share};
    for (int i = 0; i < count; ++i)
      kinds_[Kind{1, kind, 0}].take(RankId{i % ranks},
                                    (longer(random_) ? longer_us : us) * scatter(random_) * kMicrosecond);
  }
  /// In microseconds; 0: all stretches of the kind are of one.
  [[nodiscard]] double longer_from(std::uint32_t kind) const {
    const auto found = longer_ones(kinds_);
    const auto of = found.find(Kind{1, kind, 0});
    return of == found.end() ? 0 : of->second / kMicrosecond;
  }

 private:
  std::map<Kind, Lengths> kinds_;
  std::mt19937 random_{1};
};

TEST(Lengths, WhatAStepComputesIsToldFromTheSendsOfItsLoop) {
  KindsOfLengths program;
  program.add(1, 20000, 0.2, 0.02, 300);
  program.add(2, 20000, 0.5);
  EXPECT_GT(program.longer_from(1), 8);
  EXPECT_LT(program.longer_from(1), 150);
  EXPECT_EQ(program.longer_from(2), 0);
}

TEST(Lengths, TheOnlyKindHasLongerOnes) {
  KindsOfLengths program;
  program.add(1, 5000, 0.2, 0.2, 50);
  EXPECT_GT(program.longer_from(1), 0);
}

/// A rank that many wake, and is the only one of its kind: it is disturbed more often than the others, but at no certain stretches.
TEST(Lengths, AFewThatComeAtRandomAreTheHosts) {
  for (const bool regular : {false, true}) {
    std::map<Kind, Lengths> kinds;
    std::mt19937 random{4};
    std::bernoulli_distribution rarely{1.0 / 400};
    for (int i = 0; i < 6000; ++i) {
      const bool longer = regular ? i % 400 == 399 || i == 777 : rarely(random);
      kinds[Kind{1, 1, 0}].take(RankId{0}, (longer ? 150 : 0.2) * kMicrosecond);
      for (int r = 1; r < 5; ++r) kinds[Kind{1, 2, 0}].take(RankId{r}, 0.3 * kMicrosecond);
    }
    EXPECT_EQ(longer_ones(kinds).size(), regular ? 1U : 0U);
  }
}

TEST(Lengths, WhatAHostDoesToAllKindsAlikeIsNoKind) {
  KindsOfLengths program;
  for (std::uint32_t kind = 1; kind < 5; ++kind) program.add(kind, 10000, 0.65, 0.01, 30);
  for (std::uint32_t kind = 1; kind < 5; ++kind) EXPECT_EQ(program.longer_from(kind), 0);
}

TEST(Lengths, ColdCachesMakeNoKind) {
  KindsOfLengths program;
  program.add(1, 10000, 5, 0.3, 25);
  EXPECT_EQ(program.longer_from(1), 0);
}

TEST(Lengths, TasksOfAllLengthsAreOneKind) {
  std::map<Kind, Lengths> kinds;
  std::mt19937 random{2};
  std::uniform_real_distribution<double> any{std::log(10.0), std::log(5000.0)};
  for (int i = 0; i < 5000; ++i)
    kinds[Kind{1, 2, 0}].take(RankId{i % 8}, std::exp(any(random)) * kMicrosecond);
  EXPECT_TRUE(longer_ones(kinds).empty());
}

TEST(Lengths, WhatEachRankDoesOnceIsNoKind) {
  std::map<Kind, Lengths> kinds;
  for (int i = 0; i < 400; ++i) kinds[Kind{1, 1, 0}].take(RankId{i % 4}, (i < 4 ? 900 : 1) * kMicrosecond);
  EXPECT_TRUE(longer_ones(kinds).empty());
}

TEST(Lengths, NothingAndTheLongestAreCounted) {
  Lengths lengths;
  lengths.take(RankId{0}, 0);
  lengths.take(RankId{0}, 1e18);
  EXPECT_EQ(lengths.in(0), 1U);
  EXPECT_EQ(lengths.in(Lengths::kOctaves - 1), 1U);
  EXPECT_EQ(lengths.ranks(), 1U);
  EXPECT_DOUBLE_EQ(lengths.share_from(1), 0.5);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
