#include "overlap/chains.hpp"

#include "overlap/testing/program.hpp"

namespace nplus1::overlap {
namespace {

constexpr std::int64_t kBytes = 1000;

/// The paper's program: each iteration exchanges with the left and the right, then computes from what came.
OverlapProgram one_dimension(int ranks, int iterations) {
  OverlapProgram p{static_cast<std::size_t>(ranks)};
  for (int i = 0; i < iterations; ++i)
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t left = r > 0 ? r - 1 : kProcNull.value;
      const std::int32_t right = r + 1 < ranks ? r + 1 : kProcNull.value;
      p.compute(r, 10);
      p.line(r, 72);
      const auto a = p.exchange(r, left, right, kBytes);
      p.line(r, 76);
      const auto b = p.exchange(r, right, left, kBytes);
      p.compute(r, 3);
      p.touch(r, right == kProcNull.value ? b.received : a.received);
      p.compute(r, 20);
    }
  p.record();
  p.survey();
  return p;
}

TEST(Chains, ThePapersProgramIsOneChain) {
  const OverlapProgram p = one_dimension(4, 5);
  ASSERT_EQ(p.analysis().chains.size(), 1U);
  const Chain& chain = p.analysis().chains[0];
  EXPECT_EQ(chain.instances.size(), 20U);
  EXPECT_EQ(chain.ranks, 4U);
  EXPECT_EQ(chain.requests, 4U);
  const std::uint16_t sendrecv = static_cast<std::uint16_t>(MpiCall::MPI_Sendrecv);
  EXPECT_EQ(chain.contexts, (std::vector<Context>{{sendrecv, 72}, {sendrecv, 76}}));
  EXPECT_EQ(chain.ends(), EndedBy::kTouch);
  EXPECT_EQ(chain.touch.site, 90U);
  EXPECT_TRUE(p.analysis().not_deferrable.empty());
}

TEST(Chains, FourExchangesInTwoDimensionsAreOneOfEightRequests) {
  OverlapProgram p{4};
  for (std::int32_t r = 0; r < 4; ++r) {
    std::uint64_t last = 0;
    for (const std::int32_t d : {1, 3, 1, 3})
      last = p.exchange(r, (r + d) % 4, (r - d + 4) % 4, kBytes).received;
    p.touch(r, last);
  }
  p.record();
  p.survey();
  ASSERT_EQ(p.analysis().chains.size(), 1U);
  EXPECT_EQ(p.analysis().chains[0].requests, 8U);
  EXPECT_EQ(p.analysis().chains[0].contexts.size(), 4U);
}

TEST(Chains, AnEarlyReadBetweenTheCallsMakesTwo) {
  OverlapProgram p{2};
  for (int i = 0; i < 3; ++i)
    for (std::int32_t r = 0; r < 2; ++r) {
      p.line(r, 1);
      const auto a = p.exchange(r, 1 - r, 1 - r, kBytes);
      p.touch(r, a.received, Access::kFirstTouch, 50, 8);
      p.line(r, 2);
      const auto b = p.exchange(r, 1 - r, 1 - r, kBytes);
      p.touch(r, b.received);
    }
  p.record();
  p.survey();
  ASSERT_EQ(p.analysis().chains.size(), 2U);
  for (const Chain& chain : p.analysis().chains) EXPECT_EQ(chain.instances.size(), 6U);
  EXPECT_TRUE(std::any_of(p.analysis().chains.begin(), p.analysis().chains.end(),
                          [](const Chain& c) { return c.touch.site == 50 && c.touch.offset == 8; }));
}

/// Only writes of a send's buffer are told at all: an early read is nothing.
TEST(Chains, AnEarlyWriteOfASendBufferEndsTheChain) {
  OverlapProgram p{2};
  for (std::int32_t r = 0; r < 2; ++r) {
    const auto a = p.exchange(r, 1 - r, 1 - r, kBytes);
    p.touch(r, a.sent, Access::kFirstWrite, 60);
    const auto b = p.exchange(r, 1 - r, 1 - r, kBytes);
    p.touch(r, b.received);
  }
  p.record();
  p.survey();
  std::size_t instances = 0;
  for (const Chain& chain : p.analysis().chains) instances += chain.instances.size();
  EXPECT_EQ(instances, 4U);
}

TEST(Chains, ACollectiveGoesByUnlessItUsesTheMemory) {
  for (const bool overlaps : {false, true}) {
    OverlapProgram p{2};
    for (std::int32_t r = 0; r < 2; ++r) {
      p.line(r, 1);
      const auto a = p.exchange(r, 1 - r, 1 - r, kBytes);
      p.line(r, 7);
      if (overlaps) p.touch(r, a.received, Access::kFirstTouch, 7, 0, Toucher::kMpiCall);
      p.collective(r, CollectiveKind::kAllreduce, -1, 8);
      p.line(r, 2);
      const auto b = p.exchange(r, 1 - r, 1 - r, kBytes);
      p.touch(r, b.received);
    }
    p.record();
    p.survey();
    ASSERT_EQ(p.analysis().chains.size(), overlaps ? 2U : 1U);
    if (!overlaps) continue;
    const Chain& first = p.analysis().chains[p.analysis().chains[0].contexts[0].site == 1 ? 0 : 1];
    EXPECT_EQ(first.ends(), EndedBy::kCall);
  }
}

TEST(Chains, ABarrierEndsThem) {
  OverlapProgram p{2};
  for (std::int32_t r = 0; r < 2; ++r) {
    p.exchange(r, 1 - r, 1 - r, kBytes);
    p.collective(r, CollectiveKind::kBarrier);
    p.exchange(r, 1 - r, 1 - r, kBytes);
  }
  p.record();
  p.survey();
  std::map<EndedBy, std::uint64_t> ends;
  for (const Chain& chain : p.analysis().chains)
    for (const auto& [end, count] : chain.ended_by) ends[end] += count;
  EXPECT_EQ(ends, (std::map<EndedBy, std::uint64_t>{{EndedBy::kCall, 2}, {EndedBy::kFinalize, 2}}));
}

TEST(Chains, WhatCannotBeDeferredSaysWhy) {
  OverlapProgram p{2};
  p.line(0, 1);
  p.send(0, 1, 0);  // no data
  p.send(0, 1, kBytes);
  p.line(1, 2);
  p.receive(1, 0);
  p.line(1, 3);
  const std::uint64_t any = p.next_ordinal(1);
  p.receive(1, kAnySource.value, kAnyTag);
  p.touch(1, any, Access::kStatusUse);
  p.record();
  p.survey();
  std::map<std::uint32_t, std::string> reasons;
  for (const NotDeferrable& n : p.analysis().not_deferrable) reasons[n.context.site] += n.reason;
  EXPECT_NE(reasons[1].find("without data"), std::string::npos);
  EXPECT_NE(reasons[2].find("without data"), std::string::npos);
  EXPECT_NE(reasons[3].find("which one it got"), std::string::npos);
}

TEST(Chains, SayWhereNobodySeesTheUseOfAMessage) {
  OverlapProgram p{2};
  p.line(0, 1);
  p.send(0, 1, kBytes);
  p.line(1, 2);
  const std::uint64_t unseen = p.next_ordinal(1);
  p.receive(1, 0);
  p.touch(1, unseen, Access::kFirstTouch, 2, 0, Toucher::kProgram,
          true);  // in the call itself, as on the stack
  p.line(0, 3);
  p.send(0, 1, kBytes);
  p.line(1, 4);
  const std::uint64_t left_open = p.next_ordinal(1);
  p.receive(1, 0);
  p.touch(1, left_open, Access::kFirstTouch, 90, 0, Toucher::kProgram, true);
  p.record();
  p.survey();
  ASSERT_EQ(p.analysis().not_deferrable.size(), 1U);
  EXPECT_EQ(p.analysis().not_deferrable[0].context.site, 2U);
  EXPECT_NE(std::string{p.analysis().not_deferrable[0].reason}.find("on the stack"), std::string::npos);
}

TEST(Chains, ATouchBeforeTheWaitIsARace) {
  OverlapProgram p{2};
  p.line(0, 5);
  const std::uint64_t sent = p.next_ordinal(0);
  const std::uint32_t request = p.isend(0, 1, kBytes);
  p.touch(0, sent, Access::kEarlyTouch, 33, 16);
  p.wait(0, {request});
  p.receive(1, 0);
  p.record();
  p.survey();
  ASSERT_EQ(p.analysis().races.size(), 1U);
  EXPECT_EQ(p.analysis().races[0].request.site, 5U);
  EXPECT_EQ(p.analysis().races[0].touch.site, 33U);
  EXPECT_EQ(p.analysis().races[0].touch.offset, 16);
  EXPECT_FALSE(p.analysis().races[0].receive);
}

/// The second receive is into the memory of the first; what follows it may be started with the first chain.
TEST(Chains, WhatIsBehindAnOverlapMayBeMergedIntoTheChain) {
  OverlapProgram p{2};
  for (std::int32_t r = 0; r < 2; ++r) {
    p.compute(r, 10);
    p.line(r, 1);
    p.send(r, 1 - r, kBytes, 1);
    const std::uint64_t first = p.next_ordinal(r);
    p.receive(r, 1 - r, 1);
    p.line(r, 2);
    p.touch(r, first, Access::kFirstTouch, 2, 0, Toucher::kMpiCall);
    p.send(r, 1 - r, kBytes, 2);  // from what was received: stays
    p.line(r, 3);
    p.untouched_for(r, p.next_ordinal(r) + 1, 100);
    const std::uint64_t last = p.next_ordinal(r);
    p.receive(r, 1 - r, 2);  // elsewhere: may be posted before
    p.touch(r, last);
  }
  p.record();
  p.survey();
  const Chain* first = nullptr;
  for (const Chain& chain : p.analysis().chains)
    if (chain.contexts[0].site == 1) first = &chain;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->ends(), EndedBy::kOverlap);
  EXPECT_EQ(first->merges, (std::vector<Context>{{0, 3}}));
  // Both chains changed: that receive is started with the first, waited for with its own, and posted once.
  const Plan plan = plan_of(p.surveyed(), p.analysis(), p.all_chains(), Variant::kMerged);
  ASSERT_EQ(plan.size(), 2U);
  for (const auto& moves : plan)
    for (std::size_t i = 1; i < moves.size(); ++i) EXPECT_LT(moves[i - 1].end, moves[i].end);
  EXPECT_LE(p.makespan(plan), p.makespan(Variant::kGrouped));
}

}  // namespace
}  // namespace nplus1::overlap
