#include "hypothesis/clock/sharing.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "hypothesis/clock/kind_model.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// Logarithms of `count` samples in a range of 1 % around `middle`.
std::vector<double> around(double middle, int count) {
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) samples.push_back(middle - 0.005 + 0.01 * (i + 0.5) / count);
  return samples;
}

OwnAndShared kind(double log_own, double longer, int own, int shared) {
  OwnAndShared both;
  both.own = around(log_own, own);
  both.shared = around(log_own + longer, shared);
  both.log_time = log_own;
  return both;
}

OwnAndShared of_data(std::vector<double> own, std::vector<double> shared) {
  OwnAndShared both;
  both.own = std::move(own);
  both.shared = std::move(shared);
  both.log_time = 17;
  return both;
}

/// Between what it makes of chains and of other authors' programs, and it is not known which.
TEST(Sharing, MakesSomethingBetweenWhereNoKindTells) {
  Sharing sharing;
  const auto untold = [&] {
    const Sharing::Longer longer = sharing.longer(kind(17, 0, 0, 3));
    EXPECT_GT(longer.common_error, 0.12);
    return longer.log;
  };
  const double usual = untold();
  EXPECT_NEAR(usual, Sharing::kOfOthers / 2, 1e-9);
  sharing.learn(kind(17, 0, 0, 9));  // one of the two is missing: tells nothing
  sharing.learn(kind(17, 0, 9, 0));
  sharing.learn(of_data({15, 17}, {15, 16, 17, 18}));  // other work
  EXPECT_EQ(untold(), usual);
  sharing.learn(kind(22, 0.3, 9, 9));  // far longer
  EXPECT_NEAR(untold(), usual, 0.01);
  sharing.learn(kind(17, 0.3, 9, 9));
  sharing.learn(kind(17.5, 0.3, 9, 9));
  const Sharing::Longer told = sharing.longer(kind(17, 0, 0, 3));
  EXPECT_NEAR(told.log, 0.27, 0.03);
  EXPECT_LT(told.common_error, 0.08);
}

/// On a core that is never alone: chains are recorded within 2 % there, what sharing makes longer scatters, as strangers come and go.
TEST(Sharing, MakesNothingWhereRecordedStretchesOfSharedCoresAreAlike) {
  OwnAndShared both;
  both.log_time = 21;
  for (int i = 0; i < 40; ++i) both.recorded_shared.push_back(0.0005 * i);
  EXPECT_NEAR(Sharing{}.longer(both).log, 0.01, 0.02);
  for (double& longer : both.recorded_shared) longer *= 5;
  EXPECT_NEAR(Sharing{}.longer(both).log, Sharing::kOfOthers / 2, 1e-9);
}

/// ... and so are twins of each amount of work, if there are two of one.
TEST(Sharing, MakesLittleWhereTwinsOfEachAmountOfWorkAreAlike) {
  EXPECT_NEAR(Sharing{}.longer(of_data({}, {20, 20.002, 20.003, 20.7, 20.702})).log, 0.03, 0.03);
  EXPECT_NEAR(Sharing{}.longer(of_data({}, {20, 20.002, 20.3, 20.7, 21})).log, Sharing::kOfOthers / 2, 1e-9);
}

TEST(Sharing, IsThereForTheLastMillisecondsOfALongStretchAndAsOftenAsElseBefore) {
  const Sharing sharing{0.2};
  EXPECT_EQ(sharing.part_of(std::log(1e9)), 1);
  EXPECT_NEAR(sharing.part_of(std::log(4e9)), 0.7, 1e-9);
  EXPECT_NEAR(sharing.part_of(std::log(1e12)), 0.202, 1e-9);
}

TEST(Sharing, MakesWhatItMadeOfOtherKinds) {
  for (const double longer : {0.0, 0.4}) {
    Sharing sharing;
    for (int k = 0; k < 12; ++k) sharing.learn(kind(16 + 0.1 * k, longer, 5, 5));
    EXPECT_NEAR(sharing.longer(kind(17, 0, 0, 3)).log, longer, 0.03);
  }
}

TEST(Sharing, IsToldByKindsOfALikeLength) {
  Sharing sharing;
  for (int k = 0; k < 6; ++k) {
    sharing.learn(kind(14, 0.1, 5, 5));
    sharing.learn(kind(20, 0.4, 5, 5));
  }
  EXPECT_NEAR(sharing.longer(kind(14, 0, 0, 3)).log, 0.1, 0.02);
  EXPECT_NEAR(sharing.longer(kind(20, 0, 0, 3)).log, 0.38, 0.02);
}

TEST(Sharing, IsToldByTheKindsOwnSamplesAsFarAsTheyTell) {
  const Sharing sharing;
  const Sharing::Longer by_many = sharing.longer(kind(17, 0.5, 20, 20)),
                        by_two = sharing.longer(kind(17, 0.5, 2, 1));
  EXPECT_NEAR(by_many.log, 0.5, 0.04);
  EXPECT_GT(by_two.log, 0.2);
  EXPECT_LT(by_two.log, 0.45);
  EXPECT_LT(by_many.common_error, by_two.common_error / 4);
  EXPECT_LT(by_many.own_error, by_two.own_error / 2);
}

/// Recorded stretches show a part of it, since who shared the core where they ended had it for a part of them.
TEST(Sharing, IsToldByRecordedStretches) {
  for (const double longer : {0.0, 0.3}) {
    OwnAndShared kind;
    kind.of_either_own = around(20, 30);
    kind.of_either_shared = around(20 + 0.62 * longer, 30);
    kind.log_time = 20;
    const Sharing::Longer told = Sharing{}.longer(kind);
    EXPECT_NEAR(told.log, longer, 0.05);
    EXPECT_LT(told.common_error + told.own_error, 0.13);
  }
}

/// Those that also began on such cores show all of it, where strangers stay for long.
TEST(Sharing, IsToldByRecordedStretchesThatBeganAndEndedOnSharedCores) {
  OwnAndShared kind;
  kind.of_either_own = around(20, 30);
  kind.of_either_shared = around(20.4, 30);
  kind.all_own = around(20, 20);
  kind.all_shared = around(20.4, 20);
  kind.log_time = 20;
  EXPECT_NEAR(Sharing{}.longer(kind).log, 0.4, 0.05);
}

/// Work is of any length, which the twin and its stretch have in common.
TEST(Sharing, IsToldByTwinsAgainstTheirStretchesHoweverLongTheirDataMakesThem) {
  for (const double longer : {0.0, 0.3}) {
    OwnAndShared kind;
    for (int i = 0; i < 24; ++i) {
      const bool shared = i % 2 != 0, recorded_shared = i % 3 != 0;
      const double noise = 0.01 * (i % 5 - 2);
      kind.against_recorded.push_back(
          {(shared ? longer : 0) - (recorded_shared ? 0.62 * longer : 0) - 0.05 + noise, shared,
           recorded_shared});
      (shared ? kind.shared : kind.own).push_back(20 + 0.1 * (i * 7 % 24));
    }
    kind.log_time = 20;
    EXPECT_NEAR(Sharing{}.longer(kind).log, longer, 0.03);
  }
}

TEST(Sharing, MakesLittleOfWhatTakesTheSameWhoeverShares) {
  OwnAndShared kind;
  kind.shared = {20, 20.001, 20.002, 20.004, 20.3};
  kind.log_time = 20;
  const Sharing::Longer told = Sharing{}.longer(kind);
  EXPECT_LT(told.log, 0.06);
  EXPECT_GT(told.common_error + told.own_error, 0.05) << "some of others' programs are alike, too";
}

TEST(Sharing, IsNotWhatDataMake) {
  const Sharing sharing;
  EXPECT_NEAR(sharing.longer(of_data({16}, {16, 17, 18, 19, 20})).log, Sharing::kOfOthers / 2, 1e-9);
}

TEST(Sharing, MakesMoreWhereLoadsWereSlowedByMoreThanIsUsual) {
  EXPECT_EQ(Sharing::part(0.05), 1);
  EXPECT_EQ(Sharing::part(0.3), 1);
  EXPECT_NEAR(Sharing::part(0.57), 1.44, 1e-9);
}

TEST(Sharing, IsInTheShortestOfWhatWasRecordedAsOftenAsThereIsAny) {
  EXPECT_EQ(Sharing{0.0}.in_shortest_recorded(0.3), 0);
  EXPECT_NEAR(Sharing{0.25}.in_shortest_recorded(0.3), 0.15, 1e-9);
  EXPECT_NEAR(Sharing{0.6}.in_shortest_recorded(0.3), 0.3, 1e-9);
  EXPECT_NEAR(Sharing{0.95}.in_shortest_recorded(0.3), 0.8, 1e-9) << "and what strangers do to the memory";
}

/// What shared its core was shorter: then sharing made no difference.
/// Of a single twin that shared its core: what was recorded tells of work without sharing where there is any, else the twin does.
TEST(Sharing, IsTakenOffASingleTwinWhereCoresAreAlwaysShared) {
  for (const bool always : {false, true}) {
    KindModel kind;
    for (std::uint32_t i = 0; i < 120; ++i) {
      Stretch stretch{RankId{static_cast<std::int32_t>(i % 2)}, i / 2, 2.4e9 * (1 + 0.001 * (i % 40))};
      if (i == 50) {
        stretch.measured = 2.3e9;
        stretch.shared = stretch.rough = true;
        stretch.log_shared = 0.3;
      }
      kind.stretches().take(stretch);
    }
    kind.fit(Replicate{0}, 0, HostNoise{always ? 1.0 : 0.5}, Sharing{always ? 1.0 : 0.5});
    EXPECT_EQ(kind.model(), always ? Model::kConstant : Model::kQuantile);
    if (always) {
      EXPECT_LT(kind.warm({RankId{0}, 3, 2.4e9}, 0, Estimate::kBest), 2.1e9);
    }
  }
}

/// One in ten whose core was looked at when the stranger was not there; a tenth shorter, they tell what the others would have taken.
TEST(Sharing, OfHardlyAnySamplesOnOwnCoresThatTookLongerWasSeenAtTheWrongMoments) {
  for (const double log_own : {-0.1, 0.1})
    for (const int own : {3, 4}) {
      std::vector<Measured> samples;
      for (int i = 0; i < 30 + own; ++i) {
        samples.push_back({{}, 18 + (i < own ? log_own : 0.001 * i)});
        samples.back().shared = i >= own;
      }
      const OwnAndShared both = own_and_shared(samples, {}, 1e8);
      EXPECT_EQ(both.own.size(), log_own > 0 && own == 3 ? 0U : static_cast<std::size_t>(own));
      EXPECT_EQ(both.shared.size(), 30U);
    }
}

TEST(Sharing, MakesNothingShorter) {
  const Sharing sharing;
  EXPECT_GE(sharing.longer(kind(17, -0.5, 20, 20)).log, 0);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
