// Hand-counted streams: each test states what a reader would count by hand.
#include "patterns/message_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "events/mpi_call.hpp"

namespace nplus1::patterns {
namespace {

using events::Event;
using events::EventKind;

Event call(EventKind kind) {
  Event event;
  event.kind = kind;
  return event;
}

Event send(std::int32_t to, std::int64_t size, EventKind kind = EventKind::kSend) {
  Event event = call(kind);
  event.peer = to;
  event.size = size;
  return event;
}

Event collective(CollectiveKind kind, std::int32_t root, CommId comm = CommId{0}) {
  Event event = call(EventKind::kCollective);
  event.operation = static_cast<std::uint8_t>(kind);
  event.peer = root;
  event.comm = comm;
  return event;
}

void feed(MessageStatistics& statistics, std::int32_t rank, const Event& event, Duration exit = {}) {
  statistics.on_event({RankId{rank}, event, {}, kTimeZero + exit});
}

report::RunSummary summary_of(const MessageStatistics& statistics) {
  report::RunSummary summary;
  statistics.fill(summary);
  return summary;
}

TEST(MessageStatistics, CountsBlockingAndNonBlockingSendsBySenderAndReceiver) {
  MessageStatistics statistics{4};
  feed(statistics, 0, send(1, 100));
  feed(statistics, 0, send(1, 50, EventKind::kIsend));
  feed(statistics, 3, send(3, 7));
  const auto summary = summary_of(statistics);
  EXPECT_EQ(summary.messages.at(RankId{0}, RankId{1}), 2U);
  EXPECT_EQ(summary.bytes.at(RankId{0}, RankId{1}), 150U);
  EXPECT_EQ(summary.messages.at(RankId{3}, RankId{3}), 1U);
  EXPECT_EQ(summary.messages.total(), 3U);
}

TEST(MessageStatistics, ReceivesAndSendsToProcNullAreNotMessages) {
  MessageStatistics statistics{2};
  feed(statistics, 0, send(kProcNull.value, 8));
  Event receive = call(EventKind::kRecv);
  receive.peer = 1;
  feed(statistics, 0, receive);
  EXPECT_EQ(summary_of(statistics).messages.total(), 0U);
}

TEST(MessageStatistics, BucketLimitsBelongToTheSmallerBucket) {
  EXPECT_EQ(size_bucket(bytes(0)), 0U);
  EXPECT_EQ(size_bucket(bytes(16)), 0U);
  EXPECT_EQ(size_bucket(bytes(17)), 1U);
  EXPECT_EQ(size_bucket(bytes(64)), 1U);
  EXPECT_EQ(size_bucket(bytes(67108864)), 11U);
  EXPECT_EQ(size_bucket(bytes(67108865)), 12U);
}

TEST(MessageStatistics, TheLastBucketHasNoLimit) {
  MessageStatistics statistics{2};
  feed(statistics, 0, send(1, 1LL << 40));
  const auto summary = summary_of(statistics);
  ASSERT_EQ(summary.message_sizes.size(), kSizeBuckets);
  EXPECT_EQ(summary.message_sizes[11].upper, bytes(67108864));
  EXPECT_FALSE(summary.message_sizes[12].upper.has_value());
  EXPECT_EQ(summary.message_sizes[12].count, 1U);
}

TEST(MessageStatistics, CollectivesAreToldApartByCommunicatorSizeAndRoot) {
  MessageStatistics statistics{3};
  statistics.on_communicator({CommId{5}, {RankId{0}, RankId{2}}});
  for (const std::int32_t rank : {0, 1, 2}) feed(statistics, rank, collective(CollectiveKind::kBcast, 1));
  for (const std::int32_t rank : {0, 2})
    feed(statistics, rank, collective(CollectiveKind::kBcast, 1, CommId{5}));
  feed(statistics, 0, collective(CollectiveKind::kBarrier, -1));
  const auto summary = summary_of(statistics);
  ASSERT_EQ(summary.collectives.size(), 3U);
  EXPECT_EQ(summary.collectives[0].name, "MPI_Barrier");
  EXPECT_FALSE(summary.collectives[0].root.has_value());
  EXPECT_EQ(summary.collectives[1].comm_size, 2U);
  EXPECT_EQ(summary.collectives[1].calls_per_rank, (std::vector<std::uint64_t>{1, 0, 1}));
  EXPECT_EQ(summary.collectives[2].comm_size, 3U);
  EXPECT_EQ(summary.collectives[2].root, 1);
}

TEST(MessageStatistics, NonBlockingCollectivesKeepTheirOwnName) {
  MessageStatistics statistics{1};
  Event ibcast = collective(CollectiveKind::kBcast, 0);
  ibcast.kind = EventKind::kIcollective;
  feed(statistics, 0, ibcast);
  EXPECT_EQ(summary_of(statistics).collectives.at(0).name, "MPI_Ibcast");
}

TEST(MessageStatistics, LargeCountFormsCountAsTheFunctionTheyEnlarge) {
  MessageStatistics statistics{1};
  Event bcast = collective(CollectiveKind::kBcast, 0);
  bcast.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Bcast_c);
  feed(statistics, 0, bcast);
  bcast.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Bcast);
  feed(statistics, 0, bcast);
  const auto summary = summary_of(statistics);
  ASSERT_EQ(summary.collectives.size(), 1U);
  EXPECT_EQ(summary.collectives[0].name, "MPI_Bcast");
  EXPECT_EQ(summary.collectives[0].calls_per_rank.at(0), 2U);
}

TEST(MessageStatistics, CreationOfCommunicatorsIsNotCountedAmongTheCollectives) {
  MessageStatistics statistics{1};
  feed(statistics, 0, collective(CollectiveKind::kSynchronize, -1));
  const auto summary = summary_of(statistics);
  EXPECT_TRUE(summary.collectives.empty());
  EXPECT_EQ(summary.communicator_calls.size(), 1U);
}

TEST(MessageStatistics, UnmodelledShareIsTimeInsideOverTimeOfAllRanks) {
  using std::chrono::milliseconds;
  MessageStatistics statistics{2};
  Event enter = call(EventKind::kUnmodelledEnter);
  enter.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Put);
  enter.entry_ps = Duration{milliseconds{2}}.count();
  feed(statistics, 0, enter, milliseconds{2});
  feed(statistics, 0, call(EventKind::kUnmodelledExit), milliseconds{5});
  feed(statistics, 0, call(EventKind::kFinalize), milliseconds{10});
  feed(statistics, 1, call(EventKind::kFinalize), milliseconds{20});
  const auto summary = summary_of(statistics);
  EXPECT_EQ(summary.unmodelled.calls, 1U);
  EXPECT_DOUBLE_EQ(summary.unmodelled.share, 0.1);
  EXPECT_EQ(summary.unmodelled.by_name.at(0).name, "MPI_Put");
  EXPECT_EQ(summary.virtual_time, milliseconds{20});
}

/// The events of threads come one thread after the other, at times that overlap.
TEST(MessageStatistics, UnmodelledTimeOfSeveralThreadsIsCountedOnce) {
  using std::chrono::milliseconds;
  MessageStatistics statistics{1};
  const auto inside = [&](int from, int to) {
    Event enter = call(EventKind::kUnmodelledEnter);
    enter.entry_ps = Duration{milliseconds{from}}.count();
    feed(statistics, 0, enter, milliseconds{from});
    feed(statistics, 0, call(EventKind::kUnmodelledExit), milliseconds{to});
  };
  inside(2, 8);
  inside(4, 6);
  inside(5, 9);
  feed(statistics, 0, call(EventKind::kFinalize), milliseconds{10});
  EXPECT_DOUBLE_EQ(summary_of(statistics).unmodelled.share, 0.7);
}

TEST(MessageStatistics, ThreeHundredRanksAreCountedLikeTwo) {
  MessageStatistics statistics{300};
  feed(statistics, 299, send(298, 64));
  const auto summary = summary_of(statistics);
  EXPECT_EQ(summary.messages.row(RankId{299}).at(298), 1U);
  EXPECT_EQ(summary.bytes.at(RankId{299}, RankId{298}), 64U);
  EXPECT_EQ(summary.messages.at(RankId{298}, RankId{299}), 0U);
}

Event of(events::MpiCall function, EventKind kind) {
  Event event = call(kind);
  event.call = static_cast<std::uint16_t>(function);
  event.peer = kind == EventKind::kIsend || kind == EventKind::kIrecv ? 1 : -1;
  return event;
}

std::uint64_t calls(const MessageStatistics& statistics) {
  std::uint64_t total = 0;
  for (const CallSiteUse& use : statistics.patterns().call_sites) total += use.calls;
  return total;
}

TEST(MessageStatistics, ACallOfSeveralEventsIsOneCall) {
  using events::MpiCall;
  for (const auto& kinds : {std::vector{EventKind::kIsend, EventKind::kIrecv, EventKind::kWait}}) {
    for (const MpiCall function :
         {MpiCall::MPI_Sendrecv, MpiCall::MPI_Sendrecv_replace, MpiCall::MPI_Sendrecv_c}) {
      MessageStatistics statistics{2};
      for (int i = 0; i < 5; ++i)
        for (const EventKind kind : kinds) feed(statistics, 0, of(function, kind));
      EXPECT_EQ(calls(statistics), 5U);
    }
  }
  MessageStatistics statistics{2};
  for (int i = 0; i < 5; ++i)
    for (const EventKind kind : {EventKind::kIsend, EventKind::kIrecv})
      feed(statistics, 0, of(MpiCall::MPI_Isendrecv, kind));
  EXPECT_EQ(calls(statistics), 5U);
}

TEST(MessageStatistics, TheConnectionOfAnIntercommunicatorAndItsEndAreOneCall) {
  MessageStatistics statistics{2};
  feed(statistics, 0, of(events::MpiCall::MPI_Intercomm_create, EventKind::kUnmodelledEnter));
  feed(statistics, 0, of(events::MpiCall::MPI_Intercomm_create, EventKind::kUnmodelledExit));
  Event end = of(events::MpiCall::MPI_Intercomm_create, EventKind::kCollective);
  end.operation = static_cast<std::uint8_t>(CollectiveKind::kSynchronize);
  feed(statistics, 0, end);
  EXPECT_EQ(calls(statistics), 1U);
}

TEST(MessageStatistics, AStartallIsOneCallHoweverManyRequestsItStarts) {
  MessageStatistics statistics{2};
  events::Detail detail;
  const Event start = of(events::MpiCall::MPI_Startall, EventKind::kIsend);
  for (int i = 1; i <= 3; ++i) {
    detail.wall_entry_ns = i;
    for (int request = 0; request < 4; ++request)
      statistics.on_event({RankId{0}, start, {}, kTimeZero, events::kNoAnswer, {}, &detail});
  }
  EXPECT_EQ(calls(statistics), 3U);
}

TEST(MessageStatistics, APersistentCollectiveHasTheNameOfWhatMadeIt) {
  MessageStatistics statistics{2};
  Event start = of(events::MpiCall::MPI_Start, EventKind::kIcollective);
  start.operation = static_cast<std::uint8_t>(CollectiveKind::kBcast);
  start.peer = 0;
  feed(statistics, 0, start);
  const auto summary = summary_of(statistics);
  ASSERT_EQ(summary.collectives.size(), 1U);
  EXPECT_EQ(summary.collectives[0].name, "MPI_Bcast_init");
  ASSERT_EQ(statistics.patterns().call_sites.size(), 1U);
  EXPECT_EQ(statistics.patterns().call_sites[0].call, "MPI_Start") << "what stands in that line";
}

TEST(MessageStatistics, ANeighbourGetsWhatIsSentToIt) {
  MessageStatistics statistics{3};
  statistics.on_communicator({CommId{0}, {RankId{0}, RankId{1}, RankId{2}}, 0});
  Event event = collective(CollectiveKind::kNeighborAlltoall, -1);
  event.size = 50;  // the mean
  const std::vector<std::uint32_t> words{0, 2, 1, 2, 10, 0, 90, 0};
  events::Extension extension;
  extension.words = words;
  statistics.on_event({RankId{0}, event, extension, kTimeZero});
  const auto patterns = statistics.patterns();
  const auto layer = std::find_if(patterns.layers.begin(), patterns.layers.end(),
                                  [](const auto& l) { return l.name == "neighbor_alltoall"; });
  ASSERT_NE(layer, patterns.layers.end());
  ASSERT_EQ(layer->rows.size(), 1U);
  ASSERT_EQ(layer->rows[0].cells.size(), 2U);
  EXPECT_EQ(layer->rows[0].cells[0].bytes, 10U);
  EXPECT_EQ(layer->rows[0].cells[1].bytes, 90U);
}

TEST(MessageStatistics, AnEventOfAnUnknownRankThrows) {
  MessageStatistics statistics{2};
  EXPECT_THROW(feed(statistics, 2, call(EventKind::kLocal)), std::out_of_range);
  EXPECT_THROW(feed(statistics, 0, send(2, 1)), std::out_of_range);
}

}  // namespace
}  // namespace nplus1::patterns
