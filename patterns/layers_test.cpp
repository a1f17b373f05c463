// Layers by hand: which messages a collective stands for, and layers added up.
#include "patterns/layers.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "patterns/testing/streams.hpp"

namespace nplus1::patterns {
namespace {

std::string drawn(CollectiveKind kind, std::int32_t root, std::int64_t size,
                  std::vector<std::int64_t> sizes = {}) {
  MessageStatistics statistics{3};
  all_call(statistics, 3, collective_event(kind, root, size), {{}, sizes});
  return layer_text(statistics.patterns(), std::string{layer_name(kind)});
}

TEST(Layers, BcastScatterAndBarrierFanOutFromTheRoot) {
  EXPECT_EQ(drawn(CollectiveKind::kBcast, 1, 10), "1>0 1/10 1>2 1/10");
  EXPECT_EQ(drawn(CollectiveKind::kScatter, 2, 4), "2>0 1/4 2>1 1/4");
  EXPECT_EQ(drawn(CollectiveKind::kBarrier, -1, 0), "0>1 1/0 0>2 1/0");
}

TEST(Layers, ReduceAndGatherFanInToTheRoot) {
  EXPECT_EQ(drawn(CollectiveKind::kReduce, 1, 10), "0>1 1/10 2>1 1/10");
  EXPECT_EQ(drawn(CollectiveKind::kGather, 0, 4), "1>0 1/4 2>0 1/4");
  EXPECT_EQ(drawn(CollectiveKind::kGatherv, 0, 4), "1>0 1/4 2>0 1/4");
}

TEST(Layers, AllOthersGoToRankZeroWithWhatAMemberContributesAndBackWithWhatItGets) {
  EXPECT_EQ(drawn(CollectiveKind::kAllreduce, -1, 8), "0>1 1/8 0>2 1/8 1>0 1/8 2>0 1/8");
  EXPECT_EQ(drawn(CollectiveKind::kAllgather, -1, 8), "0>1 1/24 0>2 1/24 1>0 1/8 2>0 1/8");
  EXPECT_EQ(drawn(CollectiveKind::kAlltoall, -1, 8), "0>1 1/24 0>2 1/24 1>0 1/24 2>0 1/24");
  EXPECT_EQ(drawn(CollectiveKind::kReduceScatterBlock, -1, 8), "0>1 1/8 0>2 1/8 1>0 1/24 2>0 1/24");
  EXPECT_EQ(drawn(CollectiveKind::kScan, -1, 8), "0>1 1/8 0>2 1/8 1>0 1/8 2>0 1/8");
}

TEST(Layers, VectorFormsCountTheSizesOfEachMember) {
  EXPECT_EQ(drawn(CollectiveKind::kAllgatherv, -1, 5, {5, 5, 7}), "0>1 1/17 0>2 1/17 1>0 1/5 2>0 1/5");
  EXPECT_EQ(drawn(CollectiveKind::kReduceScatter, -1, 12, {1, 4, 7}), "0>1 1/4 0>2 1/7 1>0 1/12 2>0 1/12");
  EXPECT_EQ(drawn(CollectiveKind::kAlltoallv, -1, 6, {1, 2, 3, 10, 20, 30}),
            "0>1 1/60 0>2 1/60 1>0 1/6 2>0 1/6");
}

TEST(Layers, RootsOfOtherCommunicatorsAreNamedByTheirWorldRank) {
  MessageStatistics statistics{4};
  statistics.on_communicator({CommId{3}, {RankId{3}, RankId{1}}});
  for (const std::int32_t r : {3, 1})
    feed(statistics, r, collective_event(CollectiveKind::kBcast, 0, 9, CommId{3}));
  for (const std::int32_t r : {3, 1})
    feed(statistics, r, collective_event(CollectiveKind::kBarrier, -1, 0, CommId{3}));
  EXPECT_EQ(layer_text(statistics.patterns(), "bcast"), "3>1 1/9");
  EXPECT_EQ(layer_text(statistics.patterns(), "barrier"), "3>1 1/0");
}

TEST(Layers, OnIntercommunicatorsTheRootSendsToTheOtherGroup) {
  MessageStatistics statistics{4};
  statistics.on_communicator({CommId{1}, {RankId{0}, RankId{1}, RankId{2}, RankId{3}}, 2});
  const auto bcast = [](std::int32_t peer) {
    return collective_event(CollectiveKind::kBcast, peer, 5, CommId{1});
  };
  feed(statistics, 2, bcast(events::kIntercommRoot));
  feed(statistics, 3, bcast(kProcNull.value));
  feed(statistics, 0, bcast(0));
  feed(statistics, 1, bcast(0));
  EXPECT_EQ(layer_text(statistics.patterns(), "bcast"), "2>0 1/5 2>1 1/5");
  EXPECT_EQ(statistics.patterns().unplaced_messages, 0U);
}

TEST(Layers, NeighbourhoodCollectivesFollowTheirGraph) {
  MessageStatistics statistics{3};
  const std::vector<std::uint32_t> words{1, 2, 2, 0, 2};  // one source: 2; two destinations: 0 (itself) and 2
  feed(statistics, 0, collective_event(CollectiveKind::kNeighborAlltoall, -1, 16), 0, {words, {}});
  EXPECT_EQ(layer_text(statistics.patterns(), "neighbor_alltoall"), "0>2 1/16");
}

TEST(Layers, CallsOnUnknownCommunicatorsAndImpossibleRootsAreCountedAsUnplaced) {
  MessageStatistics statistics{2};
  feed(statistics, 0, collective_event(CollectiveKind::kBcast, 0, 5, CommId{9}));
  feed(statistics, 0, collective_event(CollectiveKind::kBcast, 2, 5));
  EXPECT_EQ(statistics.patterns().unplaced_messages, 2U);
  EXPECT_EQ(layer_text(statistics.patterns(), "bcast"), "");
  EXPECT_EQ(statistics.patterns().collectives.size(), 2U);
}

TEST(Layers, AMemberAloneSendsNothing) {
  MessageStatistics statistics{1};
  feed(statistics, 0, collective_event(CollectiveKind::kAllreduce, -1, 8));
  const Patterns patterns = statistics.patterns();
  ASSERT_EQ(patterns.layers.size(), 2U);
  EXPECT_EQ(patterns.layers[1].name, "allreduce");
  EXPECT_EQ(patterns.layers[1].messages, 0U);
}

TEST(Layers, CombinedLayersAreTheSumEntryByEntry) {
  MessageStatistics statistics{4};
  for (int i = 0; i < 1264; ++i) feed(statistics, 0, send_event(1, 8));
  feed(statistics, 0, send_event(0, 5600));
  all_call(statistics, 4, collective_event(CollectiveKind::kBarrier, -1, 0));
  const Patterns patterns = statistics.patterns();
  const Layer sum = combine(patterns, {"point_to_point", "barrier", "bcast"});
  ASSERT_EQ(sum.rows.size(), 1U);
  EXPECT_EQ(sum.rows[0].cells, (std::vector<Cell>{{0, 1, 5600}, {1, 1265, 1264 * 8}, {2, 1, 0}, {3, 1, 0}}));
  EXPECT_EQ(sum.messages, 1268U);
  EXPECT_EQ(sum.sizes.exact,
            (std::vector<std::pair<std::int64_t, std::uint64_t>>{{0, 3}, {8, 1264}, {5600, 1}}));
  EXPECT_EQ(sum.sizes.least, 0);
  EXPECT_EQ(sum.sizes.most, 5600);
}

TEST(Layers, NamesAreParsedOnceEachAndUnknownOnesRefused) {
  const Patterns patterns = sample();
  EXPECT_EQ(parse_layers("p2p,bcast,p2p", patterns).value(),
            (std::vector<std::string>{"point_to_point", "bcast"}));
  EXPECT_EQ(parse_layers("all", patterns).value(),
            (std::vector<std::string>{"point_to_point", "bcast", "reduce"}));
  EXPECT_NE(parse_layers("broadcast", patterns).error().remedy.find("bcast"), std::string::npos);
  EXPECT_FALSE(parse_layers("p2p,", patterns).ok());
}

}  // namespace
}  // namespace nplus1::patterns
