#include "patterns/wire.hpp"

#include <gtest/gtest.h>

#include "patterns/layers.hpp"
#include "patterns/patterns_json.hpp"
#include "patterns/testing/streams.hpp"

namespace nplus1::patterns {
namespace {

netmodel::Selection chosen(const char* text) {
  return netmodel::Selection::parse(text).value();
}

std::string wire_text(Patterns patterns) {
  if (patterns.wire) patterns.layers.push_back(*patterns.wire);
  return layer_text(patterns, "wire");
}

// A binomial tree on 8 ranks, written by hand: r sends to r + 4, r + 2, r + 1 below its lowest set bit.
constexpr const char* kBinomial8 = "0>1 1/100 0>2 1/100 0>4 1/100 2>3 1/100 4>5 1/100 4>6 1/100 6>7 1/100";

TEST(Wire, ABinomialBroadcastIsTheTreeAndNotTheFan) {
  const netmodel::Selection binomial = chosen("bcast=binomial");
  MessageStatistics statistics{8, nullptr, &binomial};
  all_call(statistics, 8, collective_event(CollectiveKind::kBcast, 0, 100));
  const Patterns patterns = statistics.patterns();
  EXPECT_EQ(wire_text(patterns), kBinomial8);
  EXPECT_EQ(patterns.wire->messages, 7U);
  EXPECT_EQ(patterns.wire->bytes, 700U);
  EXPECT_EQ(patterns.wire_collectives, "bcast=binomial");
  EXPECT_EQ(layer_text(patterns, "bcast").substr(0, 22), "0>1 1/100 0>2 1/100 0>");
}

TEST(Wire, HasThePointToPointMessagesToo) {
  const netmodel::Selection linear = chosen("bcast=linear");
  MessageStatistics statistics{3, nullptr, &linear};
  feed(statistics, 0, send_event(1, 8));
  feed(statistics, 2, send_event(0, 16));
  all_call(statistics, 3, collective_event(CollectiveKind::kBcast, 0, 100));
  EXPECT_EQ(wire_text(statistics.patterns()), "0>1 2/108 0>2 1/100 2>0 1/16");
}

TEST(Wire, IsLeftOutWithoutCollectivesAndWithoutAChoice) {
  const netmodel::Selection mpich;
  MessageStatistics messages{2, nullptr, &mpich};
  feed(messages, 0, send_event(1, 8));
  EXPECT_FALSE(messages.patterns().wire);
  MessageStatistics unchosen{2};
  all_call(unchosen, 2, collective_event(CollectiveKind::kBcast, 0, 100));
  EXPECT_FALSE(unchosen.patterns().wire);
}

TEST(Wire, NamesRanksOfTheWorldOnOtherCommunicators) {
  const netmodel::Selection chain = chosen("bcast=chain");
  MessageStatistics statistics{4, nullptr, &chain};
  statistics.on_communicator({CommId{1}, {RankId{3}, RankId{1}, RankId{2}}});
  for (const std::int32_t r : {1, 2, 3})
    feed(statistics, r, collective_event(CollectiveKind::kBcast, 0, 5, CommId{1}));
  EXPECT_EQ(wire_text(statistics.patterns()), "1>2 1/5 3>1 1/5");
}

TEST(Wire, SkipsCallsThatContradictThemselves) {
  const netmodel::Selection mpich;
  MessageStatistics statistics{2, nullptr, &mpich};
  feed(statistics, 0, collective_event(CollectiveKind::kBcast, 7, 100));
  EXPECT_FALSE(statistics.patterns().wire);
}

TEST(Wire, IsWrittenAndReadBack) {
  const netmodel::Selection mpich;
  MessageStatistics statistics{8, nullptr, &mpich};
  all_call(statistics, 8, collective_event(CollectiveKind::kAllreduce, -1, 4096));
  const Patterns patterns = statistics.patterns();
  const auto again = parse_patterns(patterns_json(patterns), "test");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value(), patterns);
}

TEST(Wire, IsChosenAloneAndIsNotInAll) {
  const netmodel::Selection mpich;
  MessageStatistics statistics{8, nullptr, &mpich};
  all_call(statistics, 8, collective_event(CollectiveKind::kBcast, 0, 100));
  const Patterns patterns = statistics.patterns();
  EXPECT_EQ(combine(patterns, parse_layers("wire", patterns).value()).messages, 7U);
  EXPECT_EQ(parse_layers("all", patterns).value(), (std::vector<std::string>{"point_to_point", "bcast"}));
  EXPECT_FALSE(parse_layers("p2p,wire", patterns).ok());
}

}  // namespace
}  // namespace nplus1::patterns
