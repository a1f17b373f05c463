#include "hypothesis/transform/counterparts.hpp"

#include <gtest/gtest.h>

namespace nplus1::hypothesis::transform {
namespace {

using Groups = std::vector<Counterparts::Group>;

// Call paths of a wavefront of two kernels: receive, compute, send.
constexpr std::uint32_t kReceive = 1, kSend = 2, kReceiveOther = 3, kSendOther = 4;

/// The intervals of ranks, one by one: {call path before, call path behind, us}.
struct Intervals {
  void add(std::size_t rank, IntervalKind kind, float us) {
    if (rank >= ranks.size()) ranks.resize(rank + 1);
    const auto number = kinds.emplace(kind, static_cast<std::uint32_t>(kinds.size())).first->second;
    ranks[rank].push_back({number, us * 1e6F});
  }
  [[nodiscard]] Counterparts counterparts() const { return {ranks, kinds}; }
  std::vector<std::vector<ComputedInterval>> ranks;
  std::map<IntervalKind, std::uint32_t> kinds;
};

/// Of three ranks; the first receives nothing, the last sends nothing, the middle one computes `passing` in between as well.
Intervals wavefront(float passing) {
  Intervals all;
  for (int step = 0; step < 10; ++step) {
    const auto us = static_cast<float>(step);
    all.add(0, {step == 0 ? 0 : kSendOther, kSend}, 10 + us);
    all.add(0, {kSend, kSendOther}, 100 + us);
    if (step > 0) all.add(1, {kSendOther, kReceive}, passing);
    all.add(1, {kReceive, kSend}, 20 + us);
    all.add(1, {kSend, kReceiveOther}, passing);
    all.add(1, {kReceiveOther, kSendOther}, 200 + us);
    all.add(2, {kReceive, kReceiveOther}, 30 + us);
    all.add(2, {kReceiveOther, step == 9 ? 0 : kReceive}, 300 + us);
  }
  return all;
}

TEST(Counterparts, RanksOfAWavefrontComputeAtTheSamePlaces) {
  const Counterparts parts = wavefront(0.1F).counterparts();
  ASSERT_EQ(parts.groups().size(), 2U);
  for (const Counterparts::Group& group : parts.groups()) {
    EXPECT_EQ(group.ranks, (std::vector<std::size_t>{0, 1, 2}));
    ASSERT_EQ(group.sums.size(), 10U);
    const double first = group.sums[0];
    EXPECT_TRUE(first == 60e6 || first == 600e6) << first;
    for (std::size_t step = 0; step < 10; ++step)
      EXPECT_DOUBLE_EQ(group.sums[step], first + 3e6 * static_cast<double>(step));
  }
  EXPECT_EQ(parts.group(RankId{0}, {kSendOther, kSend}), parts.group(RankId{2}, {kReceive, kReceiveOther}));
  EXPECT_NE(parts.group(RankId{0}, {kSend, kSendOther}), parts.group(RankId{2}, {kReceive, kReceiveOther}));
}

TEST(Counterparts, WhatIsComputedInPassingBelongsToNothing) {
  const Counterparts parts = wavefront(0.1F).counterparts();
  EXPECT_FALSE(parts.group(RankId{1}, {kSend, kReceiveOther}));
  EXPECT_FALSE(parts.group(RankId{1}, {kSendOther, kReceive}));
  EXPECT_FALSE(parts.group(RankId{1}, {99, 99}));
  EXPECT_FALSE(parts.group(RankId{7}, {kReceive, kSend}));
}

/// Here it is no passing: it leads from one place to the next, and all are one, where ranks are unequally often.
TEST(Counterparts, NobodyIsPairedWhereRanksComputeUnequallyOften) {
  const Counterparts parts = wavefront(50).counterparts();
  ASSERT_EQ(parts.groups().size(), 1U);
  EXPECT_EQ(parts.groups()[0].ranks, (std::vector<std::size_t>{0, 2}));
}

TEST(Counterparts, ARankAloneHasNone) {
  Intervals all;
  for (int step = 0; step < 3; ++step) all.add(0, {1, 2}, 10);
  for (int step = 0; step < 4; ++step) all.add(1, {1, 2}, 10);
  all.add(2, {5, 6}, 10);
  EXPECT_TRUE(all.counterparts().groups().empty());
  EXPECT_FALSE(all.counterparts().group(RankId{0}, {1, 2}));
  EXPECT_TRUE(Intervals{}.counterparts().groups().empty());
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
