// Recordings written by hand, as no live run is sure to make them: decisions that another network would make
// differently, threads out of order, calls that are missing.
#include "hypothesis/replay/replay.hpp"

#include <gtest/gtest.h>

#include "hypothesis/testing/written_recording.hpp"

namespace nplus1::hypothesis {
namespace {

/// Rank 1 computes 1 us and sends; rank 0 waits for it: the end is 1 us + L.
TEST_F(ReplayOfWritten, AMessageTakesTheNewNetworksTime) {
  begin(2);
  write({1, EventKind::kSend, 1 * kUs, 1 * kUs, 1 * kUs, 0});
  write({0, EventKind::kRecv, 0, 3 * kUs, 0, 1, 0, 0, {}, {}, {.source = 1}});
  write({0, EventKind::kFinalize, 3 * kUs, 3 * kUs, 0, 0, 1});
  write({1, EventKind::kFinalize, 1 * kUs, 1 * kUs, 0, 0, 1});
  const ReplayResult result = replayed("lsb:latency=10us,bandwidth=1e9");
  EXPECT_EQ(end(result, 0), 11 * kUs);
  EXPECT_EQ(end(result, 1), 1 * kUs);
  EXPECT_EQ(result.recorded_makespan(), Time{Duration{3 * kUs}});
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
}

/// An Irecv from any source got rank 2's message; on another network rank 1's would be there first. Rank 0
/// then receives from rank 1 by name: only if the decision is repeated does everybody reach the end.
TEST_F(ReplayOfWritten, ReceivesFromAnySourceGetTheMessageThatTheyGot) {
  begin(3);
  write({0, EventKind::kIrecv, 0, 0, 0, kAnySource.value, 0, 1});
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  write({2, EventKind::kSend, 6 * kUs, 6 * kUs, 6 * kUs, 0});
  write_match(0, 1, 2);
  write({0, EventKind::kWait, 0, 8 * kUs, 0, 0, 1, 0, {1}});
  write({0, EventKind::kRecv, 8 * kUs, 9 * kUs, 0, 1, 2, 0, {}, {}, {.source = 1}});
  for (std::int32_t r = 0; r < 3; ++r)
    write({r, EventKind::kFinalize, 10 * kUs, 10 * kUs, r == 0 ? 1 * kUs : 0, 0, r == 0 ? 3U : 1U});
  const ReplayResult repeated = replayed("lsb:latency=1us");
  EXPECT_EQ(repeated.state, simnode::engine::State::kFinished);
  EXPECT_EQ(end(repeated, 0), 8 * kUs);  // rank 2's message at 7 us, rank 1's is there, 1 us of compute
  const ReplayResult decided_anew = replayed("lsb:latency=1us", Decisions::kSimulated);
  ASSERT_EQ(decided_anew.blocked.size(), 1U);
  EXPECT_EQ(decided_anew.blocked[0], RankId{0});
}

/// MPI_Waitany completed the second of two; the program then waited for the first.
TEST_F(ReplayOfWritten, WaitanyCompletesWhatItCompleted) {
  begin(3);
  write({0, EventKind::kIrecv, 0, 0, 0, 1, 0, 1});
  write({0, EventKind::kIrecv, 0, 0, 0, 2, 1, 2});
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  write({2, EventKind::kSend, 6 * kUs, 6 * kUs, 6 * kUs, 0});
  write(
      {0, EventKind::kWait, 0, 7 * kUs, 0, 0, 2, 0, {1, 2}, {1}, {.index = 1}, events::CompletionMode::kAny});
  write({0, EventKind::kWait, 17 * kUs, 17 * kUs, 10 * kUs, 0, 3, 0, {1}});
  for (std::int32_t r = 0; r < 3; ++r)
    write({r, EventKind::kFinalize, 17 * kUs, 17 * kUs, 0, 0, r == 0 ? 4U : 1U});
  const ReplayResult result = replayed("lsb:latency=1us");
  EXPECT_EQ(end(result, 0), 17 * kUs);  // max(6 + 1 us) + 10 us of compute; rank 1's is there
}

/// Three failed tests of 2 us each, then a success: the wait ends when the message comes.
TEST_F(ReplayOfWritten, PollingIsWaiting) {
  begin(2);
  write({0, EventKind::kIrecv, 0, 0, 0, 1, 0, 1});
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  for (std::int64_t i = 0; i < 3; ++i)
    write({0,
           EventKind::kTest,
           2 * i * kUs,
           2 * (i + 1) * kUs,
           0,
           0,
           static_cast<std::uint64_t>(i) + 1,
           0,
           {1},
           {},
           {.flag = 0}});
  write({0, EventKind::kTest, 6 * kUs, 6 * kUs, 0, 0, 4, 0, {1}, {}, {.flag = 1}});
  write({0, EventKind::kFinalize, 6 * kUs, 6 * kUs, 0, 0, 5});
  write({1, EventKind::kFinalize, 5 * kUs, 5 * kUs, 0, 0, 1});
  const ReplayResult slow = replayed("lsb:latency=100us");
  EXPECT_EQ(end(slow, 0), 105 * kUs);
}

/// Calls that are not modelled take what they took.
TEST_F(ReplayOfWritten, UnmodelledTimeIsReplayedAsRecordedAndNotScaled) {
  begin(1);
  write({0, EventKind::kUnmodelledEnter, 2 * kUs, 2 * kUs, 2 * kUs});
  write({0, EventKind::kUnmodelledExit, 9 * kUs, 9 * kUs, 0, 0, 1});
  write({0, EventKind::kFinalize, 10 * kUs, 10 * kUs, 1 * kUs, 0, 2});
  const ReplayResult result = replayed("lsb");
  EXPECT_EQ(end(result, 0), 10 * kUs);
  EXPECT_EQ(result.ranks[0].unexplained.count(), 7 * kUs);
  EXPECT_EQ(result.ranks[0].compute.count(), 3 * kUs);
  EXPECT_DOUBLE_EQ(result.unexplained_share(), 0.7);
}

/// Two threads send to rank 1 in the order of their ordinals, not in that of the recording.
TEST_F(ReplayOfWritten, CallsOfThreadsGoInTheProcesssOrder) {
  begin(2);
  WrittenCall later{0, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 1, 1};
  WrittenCall earlier{0, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 1, 0};
  earlier.thread = 1;
  write(later);
  write(earlier);
  write({1, EventKind::kRecv, 0, 6 * kUs, 0, 0, 0, 0, {}, {}, {.source = 0}});
  write({1, EventKind::kRecv, 6 * kUs, 6 * kUs, 0, 0, 1, 0, {}, {}, {.source = 0, .sequence = 1}});
  write({1, EventKind::kFinalize, 6 * kUs, 6 * kUs, 0, 0, 2});
  write({0, EventKind::kFinalize, 5 * kUs, 5 * kUs, 0, 0, 2});
  const ReplayResult result = replayed("lsb:latency=1us");
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
  EXPECT_EQ(result.gaps, 0U);
  EXPECT_EQ(end(result, 1), 6 * kUs);
}

/// The send of a message is not in the recording: what was before it is replayed, and the rest is told.
TEST_F(ReplayOfWritten, WhatIsMissingIsToldAndTheRestReplayed) {
  begin(2);
  write({0, EventKind::kRecv, 3 * kUs, 4 * kUs, 3 * kUs, 1, 0, 0, {}, {}, {.source = 1}});
  write({1, EventKind::kFinalize, 8 * kUs, 8 * kUs, 1 * kUs, 0, 7});
  const ReplayResult result = replayed("lsb");
  ASSERT_EQ(result.blocked.size(), 1U);
  EXPECT_EQ(result.blocked[0], RankId{0});
  EXPECT_EQ(result.gaps, 1U);
  EXPECT_EQ(end(result, 1), 8 * kUs);
  EXPECT_EQ(result.ranks[1].unexplained.count(), 7 * kUs);
}

TEST_F(ReplayOfWritten, ARecordingThatContradictsItselfIsPlayedUpToThere) {
  begin(1);
  Event barrier;
  barrier.kind = EventKind::kCollective;
  barrier.comm = CommId{7};  // which nobody has defined
  barrier.peer = -1;
  writer_->on_event({RankId{0}, barrier, {}, kTimeZero});
  ASSERT_FALSE(writer_->close().has_value());
  auto reader = Reader::open(folder_.path() / "recording");
  ASSERT_TRUE(reader.ok());
  const auto model = netmodel::parse("lsb");
  ReplayOptions options;
  options.network = model.value().get();
  const auto result = replay(reader.value(), options);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result.value().coverage.complete);
  EXPECT_NE(result.value().coverage.stopped.find("events.n1r"), std::string::npos)
      << result.value().coverage.stopped;
}

}  // namespace
}  // namespace nplus1::hypothesis
