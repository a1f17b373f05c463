// What ranks do with files, counted by hand.
#include "patterns/file_statistics.hpp"

#include <gtest/gtest.h>

#include "events/mpi_call.hpp"
#include "patterns/message_statistics.hpp"

namespace nplus1::patterns {
namespace {

using events::Event;
using events::EventKind;
using events::FileOperation;
using events::MpiCall;
using std::chrono::microseconds;

constexpr CommId kFile{3};

Event on_file(FileOperation what, MpiCall call, std::int64_t size = 0, std::int32_t manner = 0) {
  Event event;
  event.kind = EventKind::kFileAccess;
  event.operation = static_cast<std::uint8_t>(what);
  event.call = static_cast<std::uint16_t>(call);
  event.comm = kFile;
  event.size = size;
  event.tag = manner;
  return event;
}

Event opening(std::uint64_t name) {
  Event event = on_file(FileOperation::kOpen, MpiCall::MPI_File_open, 0, events::kCollectiveAccess);
  event.aux = name;
  return event;
}

void feed_call(MessageStatistics& statistics, int rank, const Event& event, Duration time,
               Duration behind = {}) {
  events::Answer answer;
  answer.aux = static_cast<std::uint64_t>(behind.count());
  statistics.on_event({RankId{rank}, event, {}, kTimeZero + time, answer});
}

TEST(FileStatistics, CountsAccessesByFileAndRank) {
  MessageStatistics statistics{2};
  statistics.on_region({RegionId{7}, "data/out.nc"});
  feed_call(statistics, 0, opening(7), microseconds{5});
  feed_call(statistics, 0, on_file(FileOperation::kWrite, MpiCall::MPI_File_write_at, 1000), microseconds{10},
            microseconds{4});
  feed_call(statistics, 1,
            on_file(FileOperation::kRead, MpiCall::MPI_File_read_all, 50,
                    events::kCollectiveAccess | events::kScatteredAccess),
            microseconds{3});
  const auto io = statistics.patterns().io;
  ASSERT_TRUE(io);
  ASSERT_EQ(io->files.size(), 1U);
  EXPECT_EQ(io->files[0].name, "data/out.nc");
  const FileCounts all = io->files[0].counts;
  EXPECT_EQ(all, io->totals());
  EXPECT_EQ(all.opens, 1U);
  EXPECT_EQ(std::pair(all.writes, all.bytes_written), std::pair(std::uint64_t{1}, std::uint64_t{1000}));
  EXPECT_EQ(std::pair(all.reads, all.bytes_read), std::pair(std::uint64_t{1}, std::uint64_t{50}));
  EXPECT_EQ(std::pair(all.collective, all.scattered), std::pair(std::uint64_t{1}, std::uint64_t{1}));
  EXPECT_EQ(all.time, microseconds{18});
  EXPECT_EQ(all.waiting, microseconds{4});
  EXPECT_EQ(io->rank[1].time, microseconds{3});
  EXPECT_EQ(io->write_sizes.sum, 1000U);
}

TEST(FileStatistics, ACallOfAllMembersIsOneAndItsMeetingIsItsTime) {
  MessageStatistics statistics{1};
  statistics.on_communicator({kFile, {RankId{0}}, 0});
  feed_call(statistics, 0, opening(1), microseconds{1});
  Event meeting;
  meeting.kind = EventKind::kCollective;
  meeting.operation = static_cast<std::uint8_t>(CollectiveKind::kSynchronize);
  meeting.call = static_cast<std::uint16_t>(MpiCall::MPI_File_write_all);
  meeting.comm = kFile;
  feed_call(statistics, 0, meeting, microseconds{20});
  feed_call(statistics, 0,
            on_file(FileOperation::kWrite, MpiCall::MPI_File_write_all, 8, events::kCollectiveAccess),
            microseconds{2});
  const Patterns patterns = statistics.patterns();
  EXPECT_EQ(patterns.io->files[0].counts.time, microseconds{23});
  EXPECT_EQ(patterns.io->files[0].counts.waiting, microseconds{20});
  EXPECT_TRUE(patterns.communicator_calls.empty());
  for (const CallSiteUse& site : patterns.call_sites) {
    if (site.call != "MPI_File_write_all") continue;
    EXPECT_EQ(site.calls, 1U);
  }
}

TEST(FileStatistics, ATurnIsTheBeginningOfItsCall) {
  EXPECT_TRUE(
      begins_file_call(on_file(FileOperation::kTurn, MpiCall::MPI_File_write_shared, 0, events::kInTurn)));
  EXPECT_FALSE(
      begins_file_call(on_file(FileOperation::kWrite, MpiCall::MPI_File_write_shared, 8, events::kInTurn)));
  EXPECT_TRUE(begins_file_call(on_file(FileOperation::kWrite, MpiCall::MPI_File_write_at, 8)));
  EXPECT_TRUE(begins_file_call(on_file(FileOperation::kWrite, MpiCall::MPI_File_iwrite_all, 8,
                                       events::kCollectiveAccess | events::kMeetFirst)));
}

TEST(FileStatistics, WhatProcessesReadAndWriteByThemselvesStandsInTheirLastEvent) {
  MessageStatistics statistics{2};
  Event last;
  last.kind = EventKind::kFinalize;
  const std::vector<std::int64_t> numbers{10, 20, 3, 4};
  statistics.on_event({RankId{1}, last, {{}, numbers}, kTimeZero});
  const auto io = statistics.patterns().io;
  ASSERT_TRUE(io);
  EXPECT_EQ(io->system_totals(), (SystemCounts{10, 20, 3, 4}));
  EXPECT_EQ(io->system[0], SystemCounts{});
  EXPECT_TRUE(io->files.empty());
}

TEST(FileStatistics, WhereNoFileWasUsedThereIsNothing) {
  MessageStatistics statistics{1};
  Event send;
  send.kind = EventKind::kSend;
  feed_call(statistics, 0, send, microseconds{1});
  EXPECT_FALSE(statistics.patterns().io);
}

TEST(FileStatistics, OfManyFilesTheLargestStay) {
  MessageStatistics statistics{1};
  for (std::uint32_t name = 1; name <= 1200; ++name) {
    feed_call(statistics, 0, opening(name), {});
    feed_call(statistics, 0, on_file(FileOperation::kWrite, MpiCall::MPI_File_write, name), {});
  }
  const auto io = statistics.patterns().io;
  ASSERT_EQ(io->files.size(), 1000U);
  EXPECT_EQ(io->files_left_out, 200U);
  EXPECT_EQ(io->files[0].counts.bytes_written, 1200U);
}

}  // namespace
}  // namespace nplus1::patterns
