// Figure 6 of Calotoiu et al. (2012) and what the paper says it does not find.
#include "detector/paper_method.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "detector/analysis.hpp"
#include "detector/testing/world.hpp"

namespace nplus1::detector {
namespace {

using Ranks = std::vector<std::int32_t>;

template <class Play>
std::vector<Finding> found(int ranks, const Play& play) {
  TransferCollector collector{ranks};
  World world{collector, ranks};
  play(world);
  const Transfers transfers = collector.take();
  return find_as_in_paper(transfers, collector);
}

/// Rank 0's data along the chain of all ranks.
void chain(World& w) {
  for (int r = 0; r + 1 < w.ranks(); ++r) w.send(r, 0, 8, r + 1, 0, {});
}

TEST(PaperMethod, ALinearBroadcastIsFoundAmongNoise) {
  const auto findings = found(4, [](World& w) {
    w.fill(0, 0, 8);
    w.fill(2, 100, 8);
    w.send(2, 100, 8, 1, 100, {});
    chain(w);
  });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, CollectiveKind::kBcast);
  EXPECT_EQ(findings[0].roots, (Ranks{0}));
  EXPECT_EQ(findings[0].messages, 3U);
}

/// Figure 6b: rank 1 has the data too, and tells rank 0 after both have sent them on.
TEST(PaperMethod, ARedundantMessageLeavesTwoChoicesForTheRoot) {
  const auto findings = found(4, [](World& w) {
    w.fill(0, 0, 8);
    std::ranges::copy(w.words(0, 0, 8), w.words(1, 0, 8).begin());
    const auto to_1 = w.post(0, 0, 8, 1, {});
    const auto to_0 = w.post(1, 0, 8, 0, {});
    w.send(1, 0, 8, 2, 0, {});
    w.send(2, 0, 8, 3, 0, {});
    w.send(0, 0, 8, 2, 0, {});
    w.send(2, 0, 8, 3, 0, {});
    w.receive(to_1, 0, {});
    w.receive(to_0, 0, {});
  });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].roots, (Ranks{0, 1}));
  EXPECT_EQ(findings[0].certainty, Certainty::kProbable);
}

TEST(PaperMethod, TheSameBroadcastTwiceIsOne) {
  const auto findings = found(4, [](World& w) {
    w.fill(0, 0, 8);
    chain(w);
    chain(w);
  });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 1U);
  EXPECT_EQ(findings[0].messages, 6U);
}

TEST(PaperMethod, ATokenThatGoesRoundTwiceHasEveryProcessAsARoot) {
  const auto findings = found(4, [](World& w) {
    w.fill(0, 0, 8);
    for (int i = 0; i < 8; ++i) w.send(i % 4, 0, 8, (i + 1) % 4, 0, {});
  });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].roots, (Ranks{0, 1, 2, 3}));
}

TEST(PaperMethod, ACommunicatorThatIsNotDefinedHasAllProcesses) {
  TransferCollector collector{4};
  World world{collector, 4};
  world.fill(0, 0, 8);
  chain(world);
  const Transfers transfers = collector.take();
  const auto findings = find_as_in_paper(transfers, events::DefinitionsCollector{});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].ranks, (Ranks{0, 1, 2, 3}));
}

TEST(PaperMethod, GroupsOfSomeProcessesAreNotRecognised) {
  EXPECT_TRUE(found(6, [](World& w) {
                w.fill(0, 0, 8);
                for (int r = 0; r + 1 < 4; ++r) w.send(r, 0, 8, r + 1, 0, {});
              }).empty());
}

TEST(PaperMethod, AScatterNeedsSendToSelf) {
  EXPECT_TRUE(found(4, [](World& w) {
                w.fill(0, 0, 32);
                for (int r = 1; r < 4; ++r) w.send(0, 8 * r, 8, r, 0, {});
              }).empty());
}

TEST(Analysis, IsTheSameAfterItWasSentAsBytes) {
  Analysis analysis;
  analysis.findings = found(4, [](World& w) {
    w.fill(0, 0, 8);
    chain(w);
  });
  analysis.findings.front().operation = Operation::kBxor;
  analysis.messages = 3;
  analysis.unknown = {1, 2, 3};
  analysis.unmatched = 2;
  analysis.damage = "cut off";
  const auto read = from_bytes(to_bytes(analysis));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(collectives_json(read.value().findings), collectives_json(analysis.findings));
  EXPECT_EQ(to_bytes(read.value()), to_bytes(analysis));
  EXPECT_FALSE(from_bytes("no answer").ok());
}

}  // namespace
}  // namespace nplus1::detector
