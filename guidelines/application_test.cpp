#include "guidelines/application.hpp"

#include <gtest/gtest.h>

#include "guidelines/testing/synthetic.hpp"

namespace nplus1::guidelines {
namespace {

constexpr CommId kWorld{0};

/// A program of four ranks that makes collective calls, as a recording hands them on.
class Program {
 public:
  Program() {
    counter_.on_communicator({kWorld, {RankId{0}, RankId{1}, RankId{2}, RankId{3}}, 0});
    counter_.on_communicator({CommId{7}, {RankId{0}, RankId{1}}, 1});  // an intercommunicator
  }
  void call(CollectiveKind kind, std::int64_t size, int times = 1,
            events::EventKind event_kind = events::EventKind::kCollective, CommId comm = kWorld) {
    events::Event event;
    event.kind = event_kind;
    event.operation = static_cast<std::uint8_t>(kind);
    event.size = size;
    event.comm = comm;
    for (int i = 0; i < times; ++i)
      for (std::int32_t rank = 0; rank < 4; ++rank) counter_.on_event({RankId{rank}, event, {}, Time{}});
  }
  [[nodiscard]] std::map<Place, double> calls() const { return counter_.calls(); }

 private:
  CallCounter counter_;
};

/// On 4 processes: Bcast(1024) is 3 us slower than one mock-up and 1 us than another; Bcast(8) is not.
Analysis bcast_analysis() {
  const auto catalogue = parse_catalogue(R"([{"orig": "Bcast", "mock": "Bcast_with_Allgatherv"},
                                             {"orig": "Bcast", "mock": "Bcast_with_Scatter_Allgather"}])",
                                         "test");
  Data data;
  data.simulated = {{{4, "Bcast", 8}, exactly(2e-6)},
                    {{4, "Bcast", 1024}, exactly(10e-6)},
                    {{4, "Bcast_with_Allgatherv", 8}, exactly(3e-6)},
                    {{4, "Bcast_with_Allgatherv", 1024}, exactly(9e-6)},
                    {{4, "Bcast_with_Scatter_Allgather", 1024}, exactly(7e-6)}};
  return analyse(catalogue.value(), data, {});
}

TEST(CallCounter, CountsACallOfAllMembersOnce) {
  Program program;
  program.call(CollectiveKind::kBcast, 1024, 5);
  program.call(CollectiveKind::kReduceScatter,
               4000);  // the event has the whole vector, the catalogue the block
  const auto calls = program.calls();
  EXPECT_EQ(calls.at({4, "Bcast", 1024}), 5);
  EXPECT_EQ(calls.at({4, "Reduce_scatter", 1000}), 1);
}

TEST(CallCounter, KnowsNoCallsOfNobody) {
  CallCounter counter;
  counter.on_communicator({CommId{3}, {}, 0});
  events::Event event;
  event.kind = events::EventKind::kCollective;
  event.operation = static_cast<std::uint8_t>(CollectiveKind::kReduceScatter);
  event.size = 8;
  event.comm = CommId{3};
  counter.on_event({RankId{0}, event, {}, Time{}});
  EXPECT_TRUE(counter.calls().empty());
}

TEST(CallCounter, LeavesOutWhatTheCatalogueDoesNotMeasure) {
  Program program;
  program.call(CollectiveKind::kBarrier, 0);
  program.call(CollectiveKind::kAlltoallv, 100);
  program.call(CollectiveKind::kBcast, 100, 1, events::EventKind::kIcollective);
  program.call(CollectiveKind::kBcast, 100, 1, events::EventKind::kCollective, CommId{7});
  EXPECT_TRUE(program.calls().empty());
}

TEST(Gains, AreCallsTimesTheMeasuredDifferenceAndTheBestCountsOnce) {
  const Analysis analysis = bcast_analysis();
  const ApplicationGains gains = gains_of(analysis, {{{4, "Bcast", 1024}, 1000}, {{4, "Bcast", 8}, 10}});
  ASSERT_EQ(gains.gains.size(), 2U);
  EXPECT_EQ(gains.gains[0].violation->right.test, "Bcast_with_Scatter_Allgather");
  EXPECT_NEAR(gains.gains[0].seconds, 1000 * 3e-6, 1e-12);
  EXPECT_NEAR(gains.gains[1].seconds, 1000 * 1e-6, 1e-12);
  EXPECT_NEAR(gains.seconds, 3e-3, 1e-12);
  EXPECT_NEAR(gains.measured_seconds, 1000 * 10e-6 + 10 * 2e-6, 1e-12);
  EXPECT_EQ(gains.uncovered, 0);
}

TEST(Gains, ACallCountsForTheNearestSizeWithinAFactorOfTwo) {
  const Analysis analysis = bcast_analysis();
  EXPECT_EQ(gains_of(analysis, {{{4, "Bcast", 2000}, 1}}).gains.size(), 2U);
  EXPECT_EQ(gains_of(analysis, {{{4, "Bcast", 2049}, 3}}).uncovered, 3);
  EXPECT_EQ(gains_of(analysis, {{{4, "Bcast", 16}, 1}}).uncovered, 0);
  EXPECT_EQ(gains_of(analysis, {{{4, "Bcast", 0}, 1}}).uncovered, 1);
}

TEST(Gains, OtherProcessesAndFunctionsAreNotCovered) {
  const ApplicationGains gains =
      gains_of(bcast_analysis(), {{{8, "Bcast", 1024}, 1}, {{4, "Scan", 1024}, 1}});
  EXPECT_EQ(gains.calls, 2);
  EXPECT_EQ(gains.uncovered, 2);
  EXPECT_TRUE(gains.gains.empty());
}

TEST(Gains, WhatWasNotConfirmedGainsNothing) {
  Analysis analysis = bcast_analysis();
  for (Comparison& c : analysis.comparisons) c.confirmed = false;
  EXPECT_TRUE(gains_of(analysis, {{{4, "Bcast", 1024}, 1}}).gains.empty());
}

}  // namespace
}  // namespace nplus1::guidelines
