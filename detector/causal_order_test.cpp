#include "detector/causal_order.hpp"

#include <gtest/gtest.h>

namespace nplus1::detector {
namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::uint32_t kNowhere = CausalOrder::kNowhere;

TEST(CausalOrder, IsThatOfTheStreamWhereTheStreamIsCausal) {
  CausalOrder order{2};
  order.send(0, 0, 1);
  order.send(1, 0, 1);
  order.receive(1, 1);
  order.receive(0, 1);
  const auto places = order.take(2);
  EXPECT_EQ(places.sent_at, (Numbers{0, 1}));
  EXPECT_EQ(places.received_at, (Numbers{3, 2}));
}

/// Rank 2 waits for rank 1, which waits for rank 0: all that they did meanwhile moves behind the first send.
TEST(CausalOrder, ReceivesToldTooEarlyWaitForTheirSendsAndHoldUpTheirRanks) {
  CausalOrder order{3};
  order.receive(1, 2);
  order.receive(0, 1);
  order.send(1, 1, 2);
  order.send(0, 0, 1);
  const auto places = order.take(2);
  EXPECT_EQ(places.sent_at, (Numbers{0, 2}));
  EXPECT_EQ(places.received_at, (Numbers{1, 3}));
}

TEST(CausalOrder, WhatFollowsAReceiveWhoseSendIsMissingKeepsAPlace) {
  CausalOrder order{2};
  order.receive(0, 1);
  order.send(1, 1, 0);
  order.receive(1, 0);
  const auto places = order.take(2);
  EXPECT_EQ(places.sent_at, (Numbers{kNowhere, 0}));
  EXPECT_EQ(places.received_at, (Numbers{kNowhere, 1}));
}

TEST(CausalOrder, MessagesThatWaitForEachOtherHaveNone) {
  CausalOrder order{2};
  order.receive(0, 1);
  order.send(1, 1, 0);
  order.receive(1, 0);
  order.send(0, 0, 1);
  const auto places = order.take(2);
  EXPECT_EQ(places.sent_at, (Numbers{kNowhere, kNowhere}));
}

}  // namespace
}  // namespace nplus1::detector
