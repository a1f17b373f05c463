// Computing, MPI and waiting, by rank, call site, communicator and over time: streams with an answer by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "patterns/first_screen.hpp"
#include "patterns/own_overhead.hpp"
#include "patterns/patterns_json.hpp"
#include "patterns/testing/streams.hpp"
#include "report/exact_time.hpp"

namespace nplus1::patterns {
namespace {

constexpr std::int64_t kUs = 1'000'000;  // picoseconds

TEST(Times, ALateSenderOfFiveMillisecondsIsFiveMillisecondsOfWaiting) {
  MessageStatistics statistics{2};
  feed(statistics, 1, call(EventKind::kRecv, 2 * kUs, 2 * kUs), 5002 * kUs);
  const RankTotals rank = statistics.patterns().rank[1];
  EXPECT_EQ(rank.compute, Duration{2 * kUs});
  EXPECT_EQ(rank.mpi, Duration{5000 * kUs});
  EXPECT_EQ(rank.waiting, Duration{5000 * kUs});
  EXPECT_EQ(rank.end, Duration{5002 * kUs});
}

TEST(Times, ACallsOwnOverheadIsMpiTimeButNotWaiting) {
  const auto network = netmodel::parse("loggops:L=1e-6,o=2e-6,G=0").value()->describe();
  const auto model = netmodel::parse(network);
  MessageStatistics statistics{2, model.value().get()};
  feed(statistics, 0, send_event(1, 8), 2 * kUs);
  events::Answer answer;
  answer.source = 0;
  answer.size = 8;
  statistics.on_event({RankId{1}, call(EventKind::kRecv), {}, Time{Duration{5 * kUs}}, answer});
  const auto ranks = statistics.patterns().rank;
  EXPECT_EQ(ranks[0].mpi, Duration{2 * kUs});
  EXPECT_EQ(ranks[0].waiting, Duration{0});
  EXPECT_EQ(ranks[1].waiting, Duration{3 * kUs});
}

TEST(Times, AWaitIsChargedTheReceivesThatItCompletesAndNoOthers) {
  const auto model = netmodel::parse("loggops:o=2e-6");
  MessageStatistics statistics{1, model.value().get()};
  for (const std::uint32_t request : {1U, 2U, 3U}) {
    events::Answer match;
    match.request = RequestId{request};
    statistics.on_match(RankId{0}, match);
  }
  const std::vector<std::uint32_t> ids{1, 2, 9};
  Event wait = call(EventKind::kWait);
  feed(statistics, 0, wait, 10 * kUs, {ids, {}});  // two receives of 2 us each; 9 was a send
  EXPECT_EQ(statistics.patterns().rank[0].waiting, Duration{6 * kUs});
  const std::vector<std::uint32_t> some{7, 3};
  const std::vector<std::uint32_t> positions{1};
  wait.operation = static_cast<std::uint8_t>(events::CompletionMode::kAny);
  wait.entry_ps = 10 * kUs;
  statistics.on_event({RankId{0}, wait, {some, {}}, Time{Duration{15 * kUs}}, events::kNoAnswer, positions});
  EXPECT_EQ(statistics.patterns().rank[0].waiting, Duration{9 * kUs});
}

/// A blocking receive from any source is told its match like a non-blocking one, and is complete by itself.
TEST(Times, ABlockingReceiveFromAnySourceIsNotRemembered) {
  const auto model = netmodel::parse("loggops:o=2e-6");
  OwnOverhead own{1, model.value().get()};
  events::Answer match;
  match.request = RequestId{5};
  match.source = 0;
  match.size = 8;
  own.on_match(RankId{0}, match);
  EXPECT_EQ(own.remembered(RankId{0}), 1U);
  Event receive = call(EventKind::kRecv);
  receive.request = RequestId{5};
  EXPECT_EQ(own.of({RankId{0}, receive, {}, Time{Duration{9 * kUs}}, match}), Duration{2 * kUs});
  EXPECT_EQ(own.remembered(RankId{0}), 0U);
}

TEST(Times, TestsAndNonBlockingCallsNeverWait) {
  MessageStatistics statistics{1};
  feed(statistics, 0, call(EventKind::kTest), kUs);
  feed(statistics, 0, call(EventKind::kIrecv, kUs), 2 * kUs);
  EXPECT_EQ(statistics.patterns().rank[0].mpi, Duration{2 * kUs});
  EXPECT_EQ(statistics.patterns().rank[0].waiting, Duration{0});
}

TEST(Times, ACallThatNeverReturnedCountsWithoutTime) {
  MessageStatistics statistics{2};
  statistics.on_event({RankId{0}, call(EventKind::kRecv, 7 * kUs, 7 * kUs), {}, events::kUnfinished});
  const Patterns patterns = statistics.patterns();
  EXPECT_EQ(patterns.virtual_time(), Duration{7 * kUs});
  EXPECT_EQ(patterns.rank[0].mpi, Duration{0});
  EXPECT_EQ(patterns.call_sites.at(0).calls, 1U);
  EXPECT_FALSE(patterns.complete);
}

TEST(Times, UnmodelledCallsAreMpiTimeOfTheirCallSite) {
  const Patterns patterns = sample();
  EXPECT_EQ(patterns.rank[1].mpi, Duration{kUs});
  EXPECT_EQ(patterns.unmodelled.calls, 1U);
  EXPECT_EQ(patterns.unmodelled.time, Duration{kUs});
  const auto put = std::find_if(patterns.call_sites.begin(), patterns.call_sites.end(),
                                [](const CallSiteUse& site) { return site.call == "MPI_Put"; });
  ASSERT_NE(put, patterns.call_sites.end());
  EXPECT_EQ(put->time, Duration{kUs});
}

/// Each has 46 days; a Duration holds 106.
TEST(Times, WhatManyRanksHaveTogetherIsAtMostWhatADurationHolds) {
  constexpr std::int64_t kLong = 3'900'000'000'000'000'000;
  MessageStatistics statistics{4};
  for (std::int32_t r = 0; r < 4; ++r) {
    feed(statistics, r, call(EventKind::kRecv), kLong);
    feed(statistics, r, call(EventKind::kFinalize, kLong, 0), kLong);
  }
  const Patterns patterns = statistics.patterns();
  ASSERT_FALSE(patterns.call_sites.empty());
  EXPECT_EQ(patterns.call_sites.front().time, Duration::max());
  EXPECT_EQ(patterns.call_sites.front().waiting, Duration::max());
  EXPECT_EQ(patterns.communicators.at(0).waiting, Duration::max());
  for (const Duration in_bin : patterns.over_time.mpi) EXPECT_GT(in_bin, Duration::zero());
  const auto read = parse_patterns(patterns_json(patterns), "x");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(read.value() == patterns);
  EXPECT_NE(first_screen(patterns, {}).find(report::readable(Duration{kLong})), std::string::npos);
}

TEST(Times, ImbalanceOfManyRanksIsThatOfFew) {
  constexpr std::int64_t kLong = 3'000'000'000'000'000'000;
  MessageStatistics statistics{4};
  for (std::int32_t r = 0; r < 4; ++r)
    feed(statistics, r, call(EventKind::kFinalize, kLong, r == 2 ? kLong : kLong - 4 * kUs), kLong);
  EXPECT_EQ(statistics.patterns().imbalance().compute_time, Duration{3 * kUs});
}

TEST(Times, ImbalanceIsMostOverMeanMinusOne) {
  MessageStatistics statistics{4};
  for (std::int32_t r = 0; r < 4; ++r) {
    const std::int64_t compute = r == 2 ? 7 * kUs : kUs;  // mean 2.5
    feed(statistics, r, call(EventKind::kFinalize, compute, compute), compute);
  }
  const Patterns patterns = statistics.patterns();
  const Imbalance imbalance = patterns.imbalance();
  EXPECT_DOUBLE_EQ(imbalance.compute, 7 / 2.5 - 1);
  EXPECT_EQ(imbalance.compute_time, Duration{4'500'000});
  EXPECT_EQ(imbalance.most_loaded_rank, 2);
  EXPECT_EQ(imbalance.waiting, 0);
  EXPECT_TRUE(patterns.complete);
}

TEST(Times, PartnersAreDistinctOtherRanks) {
  MessageStatistics statistics{4};
  for (const std::int32_t to : {0, 1, 1, 2}) feed(statistics, 0, send_event(to, 1));
  feed(statistics, 1, send_event(0, 1));
  feed(statistics, 3, send_event(0, 1));
  const RankTotals rank = statistics.patterns().rank[0];
  EXPECT_EQ(rank.destinations, 2U);
  EXPECT_EQ(rank.sources, 2U);
  EXPECT_EQ(rank.partners, 3U);
  EXPECT_EQ(rank.messages_sent, 4U);
  EXPECT_EQ(rank.messages_received, 3U);
}

TEST(Times, CallSitesAreToldApartByPathAndFunction) {
  MessageStatistics statistics{2};
  Event send = send_event(1, 10);
  send.site = CallSiteId{1};
  for (const std::int64_t exit : {kUs, 3 * kUs}) feed(statistics, 0, send, exit);
  send.site = CallSiteId{2};
  feed(statistics, 0, send);
  send.call = static_cast<std::uint16_t>(MpiCall::MPI_Ssend);
  feed(statistics, 0, send);
  const auto sites = statistics.patterns().call_sites;
  ASSERT_EQ(sites.size(), 3U);
  EXPECT_EQ(sites[0].path, 1U);
  EXPECT_EQ(sites[0].calls, 2U);
  EXPECT_EQ(sites[0].bytes, 20U);
  EXPECT_EQ(sites[0].time, Duration{4 * kUs});
  EXPECT_EQ(sites[0].longest, Duration{3 * kUs});
  EXPECT_EQ(sites[1].call, "MPI_Send");
  EXPECT_EQ(sites[2].call, "MPI_Ssend");
}

TEST(Times, ACallPathMayComeAgainWithItsLines) {
  MessageStatistics statistics{1};
  Event recv = call(EventKind::kRecv);
  recv.site = CallSiteId{4};
  statistics.on_call_path({CallSiteId{4}, {{"app", "", 16, "", "", 0}}});
  feed(statistics, 0, recv);
  statistics.on_call_path({CallSiteId{4}, {{"app", "", 16, "main", "app.c", 3}}});
  EXPECT_EQ(statistics.patterns().call_sites.at(0).frames.at(0).line, 3U);
}

TEST(Times, CommunicatorsShowTheirTrafficAndMembers) {
  MessageStatistics statistics{8};
  statistics.on_communicator({CommId{2}, {RankId{0}, RankId{1}, RankId{2}, RankId{6}, RankId{7}, RankId{4}}});
  Event send = send_event(2, 30);
  send.comm = CommId{2};
  feed(statistics, 0, send, kUs);
  feed(statistics, 1, collective_event(CollectiveKind::kBarrier, -1, 0, CommId{2}), kUs);
  const auto uses = statistics.patterns().communicators;
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0], (CommunicatorUse{2, 6, 0, "0-2,6,7,4", 1, 30, 1, Duration{2 * kUs}, Duration{2 * kUs}}));
}

TEST(TimeBins, WidthDoublesAndNothingIsLost) {
  TimeBins bins{2};
  std::int64_t computed = 0;
  for (std::int64_t at = 0; at < 1000 * kUs; at += 7 * kUs) {
    bins.add_message(Time{Duration{at}}, 5);
    bins.add_compute(RankId{0}, Time{Duration{at}}, Time{Duration{at + 3 * kUs}});
    computed += 3 * kUs;
  }
  const OverTime result = bins.result();
  EXPECT_GE(result.messages.size(), 129U);
  EXPECT_LE(result.messages.size(), 256U);
  EXPECT_EQ(std::accumulate(result.messages.begin(), result.messages.end(), 0ULL), 143U);
  EXPECT_EQ(std::accumulate(result.bytes.begin(), result.bytes.end(), 0ULL), 143U * 5);
  EXPECT_EQ(std::accumulate(result.compute.begin(), result.compute.end(), Duration{}), Duration{computed});
  EXPECT_EQ(result.busy.size(), 2U);
}

TEST(TimeBins, DoNotDependOnTheOrderOfTheCalls) {
  TimeBins forwards{1};
  TimeBins backwards{1};
  const auto add = [](TimeBins& bins, std::int64_t i) {
    bins.add_mpi(Time{Duration{i * i * 100}}, Time{Duration{i * i * 100 + 55555}});
    bins.add_collective(Time{Duration{i * i * 100}});
  };
  for (std::int64_t i = 0; i < 500; ++i) add(forwards, i);
  for (std::int64_t i = 499; i >= 0; --i) add(backwards, i);
  EXPECT_EQ(forwards.result(), backwards.result());
}

TEST(TimeBins, AnIntervalOverManyBinsFillsThem) {
  TimeBins bins{1};
  const std::int64_t end = 256 * 1024;  // all bins of the first width, exactly
  bins.add_compute(RankId{0}, Time{Duration{512}}, Time{Duration{end}});
  const OverTime result = bins.result();
  EXPECT_EQ(result.bin, Duration{1024});
  ASSERT_EQ(result.busy[0].size(), 256U);
  EXPECT_EQ(result.busy[0][0], 0.5);
  EXPECT_EQ(result.busy[0][1], 1);
  EXPECT_EQ(result.busy[0][255], 1);
}

TEST(TimeBins, ManyRanksShareRows) {
  TimeBins bins{1000};
  bins.add_compute(RankId{999}, Time{Duration{0}}, Time{Duration{1024}});
  const OverTime result = bins.result();
  EXPECT_EQ(result.ranks_per_row, 4U);
  ASSERT_EQ(result.busy.size(), 250U);
  EXPECT_EQ(result.busy[249].at(0), 0.25);
}

}  // namespace
}  // namespace nplus1::patterns
