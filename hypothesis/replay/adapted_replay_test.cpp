// Replays in which calls come out otherwise than recorded: figure 3 of Boehme et al. 2011, and its relatives.
// Latencies are chosen so that every end is a sum that can be done by hand.
#include "hypothesis/testing/written_recording.hpp"

namespace nplus1::hypothesis {
namespace {

using events::CompletionMode;

constexpr const char* kMicrosecond = "lsb:latency=1us";
const Answer kYes{.flag = 1};
const Answer kNo{.flag = 0};

class AdaptedReplay : public ReplayOfWritten {
 protected:
  /// Rank 0 receives from `senders` (requests 1, 2, ...); each sends at its number of microseconds.
  void receive_from(const std::vector<std::int64_t>& senders) {
    begin(static_cast<std::int32_t>(senders.size()) + 1);
    for (std::size_t i = 0; i < senders.size(); ++i) {
      const auto rank = static_cast<std::int32_t>(i) + 1;
      write({0, EventKind::kIrecv, 0, 0, 0, rank, next_++, static_cast<std::uint32_t>(rank)});
      write({rank, EventKind::kSend, senders[i] * kUs, senders[i] * kUs, senders[i] * kUs, 0});
      write({rank, EventKind::kFinalize, senders[i] * kUs, senders[i] * kUs, 0, 0, 1});
    }
  }
  /// Rank 0 calls, `compute` microseconds after its last call returned; the recorded exit does not matter.
  void complete(EventKind kind, CompletionMode mode, std::int64_t compute,
                std::vector<std::uint32_t> requests, std::vector<std::uint32_t> positions,
                const Answer& answer) {
    write({0, kind, now_ + compute * kUs, now_ + compute * kUs, compute * kUs, 0, next_++, 0,
           std::move(requests), std::move(positions), answer, mode});
    now_ += compute * kUs;
  }
  void wait_any(std::int64_t compute, std::vector<std::uint32_t> requests, std::uint32_t position) {
    complete(EventKind::kWait, CompletionMode::kAny, compute, std::move(requests), {position},
             {.index = static_cast<std::int32_t>(position)});
  }
  void test(std::int64_t compute, std::uint32_t request, const Answer& answer) {
    complete(EventKind::kTest, CompletionMode::kAll, compute, {request}, {}, answer);
  }
  void finalize(std::int64_t compute = 0) {
    write({0, EventKind::kFinalize, now_ + compute * kUs, now_ + compute * kUs, compute * kUs, 0, next_});
  }
  ReplayResult adapted(const char* network = kMicrosecond) { return replayed(network, Decisions::kAdapted); }

  /// Probes found rank 2's message, which was then received by name, then rank 1's. Now rank 1's is first.
  void check_receives_after(EventKind probe) {
    begin(3);
    write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
    write({2, EventKind::kSend, 30 * kUs, 30 * kUs, 30 * kUs, 0});
    std::uint64_t ordinal = 0;
    for (const std::int32_t source : {2, 1}) {
      write({0, probe, 0, 0, 0, kAnySource.value, ordinal++, 0, {}, {}, {.flag = 1, .source = source}});
      write({0, EventKind::kRecv, 0, 0, 0, source, ordinal++, 0, {}, {}, {.source = source}});
      write({0, EventKind::kLocal, 10 * kUs, 10 * kUs, 10 * kUs, 0, ordinal++});
    }
    for (std::int32_t r = 0; r < 3; ++r) write({r, EventKind::kFinalize, 0, 0, 0, 0, r == 0 ? ordinal : 1U});
    const ReplayResult result = adapted();
    EXPECT_EQ(result.state, simnode::engine::State::kFinished);
    EXPECT_EQ(end(result, 0), 41 * kUs);  // 6 + 10, 31 + 10
    EXPECT_EQ(result.adaptation.other_message, 2U);
  }

  std::int64_t now_ = 0;
  std::uint64_t next_ = 0;
};

/// Figure 3a, 3b: recorded 2, then 1; now 1 is there first, at 6 us. The later wait for 1 is one for 2.
TEST_F(AdaptedReplay, WaitanyTakesTheRequestThatCompletesNowAndTheNextWaitTheOther) {
  receive_from({5, 30});
  wait_any(0, {1, 2}, 1);
  complete(EventKind::kWait, CompletionMode::kAll, 10, {1}, {}, {});
  finalize(2);
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 33 * kUs);  // max(6 + 10, 30 + 1) + 2
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
  EXPECT_EQ(result.adaptation.swapped, 1U);
  EXPECT_EQ(result.adaptation.gave_up, 0U);
}

TEST_F(AdaptedReplay, TheDeterministicReplayOfTheSameWaitsForTheRecordedOne) {
  receive_from({5, 30});
  wait_any(0, {1, 2}, 1);
  complete(EventKind::kWait, CompletionMode::kAll, 10, {1}, {}, {});
  finalize(2);
  EXPECT_EQ(end(replayed(kMicrosecond, Decisions::kRecorded), 0), 43 * kUs);  // 31 + 10 + 2
}

/// A loop of Waitany over all, 10 us of work for each message; recorded in the order 3, 2, 1.
TEST_F(AdaptedReplay, LoopsOfWaitanyFollowTheNewOrderToTheEnd) {
  receive_from({5, 30, 90});
  wait_any(0, {1, 2, 3}, 2);
  wait_any(10, {1, 2}, 1);
  wait_any(10, {1}, 0);
  finalize(10);
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 101 * kUs);      // 6 + 10, 31 + 10, 91 + 10
  EXPECT_EQ(result.adaptation.swapped, 1U);  // the second comes out as recorded
}

TEST_F(AdaptedReplay, WaitanyThatComesOutAsRecordedSwapsNothing) {
  receive_from({5, 30});
  wait_any(0, {1, 2}, 0);
  wait_any(0, {2}, 0);
  finalize();
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 31 * kUs);
  EXPECT_TRUE(result.adaptation.as_recorded());
}

/// Figure 3c, 3d: the second of two tests had succeeded; now the first does. The other is left out, the
/// computation before it is not.
TEST_F(AdaptedReplay, ATestThatSucceedsEarlierIsTheLastOne) {
  receive_from({5});
  test(10, 1, kNo);
  test(10, 1, kYes);
  finalize(1);
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 21 * kUs);
  EXPECT_EQ(result.adaptation.predrawn, 1U);
  EXPECT_EQ(result.adaptation.left_out, 1U);
  EXPECT_EQ(result.adaptation.recorded_tests, 2U);
  EXPECT_EQ(result.adaptation.tests, 1U);
  EXPECT_EQ(result.adaptation.tested, 1U);
}

TEST_F(AdaptedReplay, ATestThatWouldSucceedLaterWaits) {
  receive_from({5});
  test(1, 1, kNo);
  test(1, 1, kYes);
  finalize(1);
  const ReplayResult result = adapted("lsb:latency=100us");
  EXPECT_EQ(end(result, 0), 106 * kUs);
  EXPECT_EQ(result.adaptation.waited_tests, 1U);
  EXPECT_EQ(result.adaptation.predrawn, 0U);
  EXPECT_EQ(result.adaptation.tests, 2U);
}

/// The program gave up after three tests and freed the request.
TEST_F(AdaptedReplay, TestsThatNeverSucceedCostWhatTheyCost) {
  receive_from({500});
  for (int i = 0; i < 3; ++i) test(1, 1, kNo);
  write({0, EventKind::kRequestFree, now_, now_, 0, 0, next_++, 1});
  finalize(1);
  const ReplayResult result = adapted();
  const std::int64_t polls = 3 * semantics::PollCost{}.next().count();
  EXPECT_GE(end(result, 0), 4 * kUs + polls);
  EXPECT_LT(end(result, 0), 8 * kUs);
  EXPECT_TRUE(result.adaptation.as_recorded());
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
}

TEST_F(AdaptedReplay, ARequestThatATestCompletesNowIsNotFreedAgain) {
  receive_from({1});
  test(10, 1, kNo);
  write({0, EventKind::kRequestFree, now_, now_, 0, 0, next_++, 1});
  finalize();
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 10 * kUs);
  EXPECT_EQ(result.adaptation.predrawn, 1U);
}

/// Recorded: too late for the first Testall, then 1 alone and 2 by Waitall. Now both are there at once.
TEST_F(AdaptedReplay, TestallPreDrawsAllItsRequests) {
  receive_from({1, 2});
  complete(EventKind::kTest, CompletionMode::kAll, 10, {1, 2}, {}, kNo);
  test(1, 1, kYes);
  complete(EventKind::kWait, CompletionMode::kAll, 1, {2}, {}, {});
  finalize();
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 12 * kUs);
  EXPECT_EQ(result.adaptation.predrawn, 2U);
  EXPECT_EQ(result.adaptation.left_out, 2U);
}

TEST_F(AdaptedReplay, TestanySwapsAsWaitanyDoes) {
  receive_from({1, 40});
  complete(EventKind::kTest, CompletionMode::kAny, 10, {1, 2}, {1}, kYes);
  complete(EventKind::kTest, CompletionMode::kAny, 10, {1}, {0}, kYes);
  finalize();
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 41 * kUs);
  EXPECT_EQ(result.adaptation.swapped, 1U);
  EXPECT_EQ(result.adaptation.waited_tests, 1U);  // the second, until 2 is there
}

/// Recorded: both at once. Now 2 comes at 41 us: the program goes on as if it had both, so it waits for both.
TEST_F(AdaptedReplay, WaitsomeWithFewerThanRecordedWaitsForTheRest) {
  receive_from({1, 40});
  complete(EventKind::kWait, CompletionMode::kSome, 10, {1, 2}, {0, 1}, {.index = 2});
  finalize(1);
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 42 * kUs);
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
}

/// Recorded: 3 alone, then 1 and 2. Now 1 and 2 are there at the first call, and the second waits for 3.
TEST_F(AdaptedReplay, WaitsomeWithMoreThanRecordedPreDrawsTheOthers) {
  receive_from({1, 2, 50});
  complete(EventKind::kWait, CompletionMode::kSome, 10, {1, 2, 3}, {2}, {.index = 1});
  complete(EventKind::kWait, CompletionMode::kSome, 10, {1, 2}, {0, 1}, {.index = 2});
  finalize(1);
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 52 * kUs);
  EXPECT_EQ(result.adaptation.swapped, 1U);
  EXPECT_EQ(result.adaptation.predrawn, 1U);
}

/// Request 3 is a new start of what was request 1; 1 stands for the slower 2 meanwhile.
TEST_F(AdaptedReplay, PersistentRequestsAreRequestsOfEachStart) {
  begin(3);
  const auto start = [this](std::int32_t source, std::uint32_t id) {
    WrittenCall receive{0, EventKind::kIrecv, now_, now_, 0, source, next_++, id};
    receive.flags = events::kPersistent;
    write(receive);
  };
  start(1, 1);
  start(2, 2);
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  write({1, EventKind::kSend, 50 * kUs, 50 * kUs, 45 * kUs, 0, 1});
  write({2, EventKind::kSend, 70 * kUs, 70 * kUs, 70 * kUs, 0});
  wait_any(0, {1, 2}, 1);
  start(1, 3);
  wait_any(0, {1, 3}, 1);
  wait_any(0, {1}, 0);
  finalize();
  for (std::int32_t r = 1; r < 3; ++r) write({r, EventKind::kFinalize, 0, 0, 0, 0, r == 1 ? 2U : 1U});
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 71 * kUs);
  EXPECT_EQ(result.adaptation.swapped, 1U);
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
}

/// What is cancelled is what has not completed: now that is 2, whose message is never sent.
TEST_F(AdaptedReplay, CancelsFollowTheirRequest) {
  receive_from({5});
  write({0, EventKind::kIrecv, 0, 0, 0, 1, next_++, 2});
  wait_any(0, {1, 2}, 1);
  write({0, EventKind::kCancelled, now_, now_, 0, 0, next_++, 1});
  complete(EventKind::kWait, CompletionMode::kAll, 1, {1}, {}, {});
  finalize();
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 7 * kUs);
  EXPECT_EQ(result.adaptation.gave_up, 0U);
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
}

TEST_F(AdaptedReplay, ACancelThatComesTooLateIsCounted) {
  receive_from({1});
  test(10, 1, kNo);
  write({0, EventKind::kCancelled, now_, now_, 0, 0, next_++, 1});
  complete(EventKind::kWait, CompletionMode::kAll, 1, {1}, {}, {});
  finalize();
  const ReplayResult result = adapted();
  EXPECT_EQ(result.adaptation.gave_up, 1U);
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
}

TEST_F(AdaptedReplay, TheReceiveAfterAProbeGetsTheMessageThatWasProbed) {
  check_receives_after(EventKind::kProbe);
}

/// At first neither is there.
TEST_F(AdaptedReplay, TheReceiveAfterAProbeThatFailsNowWaitsForWhatAProbeFinds) {
  check_receives_after(EventKind::kIprobe);
}

/// A program that probes for anything, so that its library makes progress, once saw a message that came before its receive was posted.
/// Now it comes later, and no probe will ever find it.
TEST_F(AdaptedReplay, AProbeWhoseFindingNobodyReceivesWaitsForNothing) {
  begin(2);
  write({0, EventKind::kIprobe, 0, 0, 0, kAnySource.value, 0, 0, {}, {}, {.flag = 1, .source = 1}});
  write({0, EventKind::kLocal, 0, 0, 0, 0, 1});
  write({0, EventKind::kTest, 0, 0, 0, 0, 2, 0, {7}, {}, kYes});
  write({0, EventKind::kIrecv, 0, 0, 0, 1, 3, 1});
  write({0, EventKind::kSend, 0, 0, 0, 1, 4});
  write({0, EventKind::kWait, 0, 0, 0, 0, 5, 0, {1}});
  write({1, EventKind::kRecv, 0, 0, 0, 0, 0, 0, {}, {}, {.source = 0}});
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0, 1});
  for (std::int32_t r = 0; r < 2; ++r) write({r, EventKind::kFinalize, 0, 0, 0, 0, r == 0 ? 6U : 2U});
  const ReplayResult result = adapted();
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
  constexpr std::int64_t kPoll = kUs / 10;
  EXPECT_EQ(end(result, 0), 7 * kUs + 2 * kPoll);  // 1 + 5 + 1
}

/// It had seen rank 2's message; now it sees rank 1's. The receives that are posted behind the test are no business of the probe's.
TEST_F(AdaptedReplay, AProbeWhoseFindingNobodyReceivesSendsNoReceiveElsewhere) {
  begin(3);
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  write({2, EventKind::kSend, 30 * kUs, 30 * kUs, 30 * kUs, 0});
  write({0,
         EventKind::kIprobe,
         10 * kUs,
         10 * kUs,
         10 * kUs,
         kAnySource.value,
         0,
         0,
         {},
         {},
         {.flag = 1, .source = 2}});
  write({0, EventKind::kTest, 10 * kUs, 10 * kUs, 0, 0, 1, 0, {7}, {}, kYes});
  for (const std::int32_t source : {2, 1}) {
    const auto s = static_cast<std::uint64_t>(source);
    write({0, EventKind::kRecv, 0, 0, 0, source, 4 - s, 0, {}, {}, {.source = source}});
  }
  for (std::int32_t r = 0; r < 3; ++r) write({r, EventKind::kFinalize, 0, 0, 0, 0, r == 0 ? 4U : 1U});
  const ReplayResult result = adapted();
  EXPECT_EQ(result.state, simnode::engine::State::kFinished);
  EXPECT_EQ(end(result, 0), 31 * kUs);
}

TEST_F(AdaptedReplay, TheReceiveAfterAMatchingProbeGetsTheMessageThatWasTaken) {
  begin(3);
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  write({2, EventKind::kSend, 30 * kUs, 30 * kUs, 30 * kUs, 0});
  std::uint64_t ordinal = 0;
  for (const std::int32_t source : {2, 1}) {
    WrittenCall probe{0, EventKind::kProbe, 0, 0, 0, kAnySource.value, ordinal++};
    probe.answer = {.flag = 1, .source = source};
    probe.flags = events::kTakesMessage;
    write(probe);
  }
  for (const std::int32_t source : {2, 1}) {
    WrittenCall receive{0, EventKind::kRecv, 0, 0, 10 * kUs, source, ordinal++};
    receive.answer = {.source = source};
    receive.flags = events::kMatched;
    write(receive);
  }
  for (std::int32_t r = 0; r < 3; ++r) write({r, EventKind::kFinalize, 0, 0, 0, 0, r == 0 ? ordinal : 1U});
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 51 * kUs);  // both probed at 31, then 10 + 10
  EXPECT_EQ(result.counters.order_inversions, 0U);
}

TEST_F(AdaptedReplay, ReceivesFromAnySourceMayGetAnothersMessage) {
  begin(3);
  write({0, EventKind::kIrecv, 0, 0, 0, kAnySource.value, 0, 1});
  write_match(0, 1, 2);
  write({0, EventKind::kWait, 0, 0, 0, 0, 1, 0, {1}});
  write({0, EventKind::kRecv, 0, 0, 0, kAnySource.value, 2, 0, {}, {}, {.source = 1}});
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  write({2, EventKind::kSend, 30 * kUs, 30 * kUs, 30 * kUs, 0});
  for (std::int32_t r = 0; r < 3; ++r) write({r, EventKind::kFinalize, 0, 0, 0, 0, r == 0 ? 3U : 1U});
  const ReplayResult result = adapted();
  EXPECT_EQ(end(result, 0), 31 * kUs);
  EXPECT_EQ(result.adaptation.other_message, 2U);
}

/// The limit that the paper states: what follows a wildcard by name may never come.
TEST_F(AdaptedReplay, WhatTheHeuristicsCannotFollowIsTold) {
  begin(3);
  write({0, EventKind::kRecv, 0, 0, 0, kAnySource.value, 0, 0, {}, {}, {.source = 2}});
  write({0, EventKind::kRecv, 0, 0, 0, 1, 1, 0, {}, {}, {.source = 1}});
  write({1, EventKind::kSend, 5 * kUs, 5 * kUs, 5 * kUs, 0});
  write({2, EventKind::kSend, 30 * kUs, 30 * kUs, 30 * kUs, 0});
  for (std::int32_t r = 0; r < 3; ++r) write({r, EventKind::kFinalize, 0, 0, 0, 0, r == 0 ? 2U : 1U});
  const ReplayResult result = adapted();
  ASSERT_EQ(result.blocked.size(), 1U);
  EXPECT_EQ(result.blocked[0], RankId{0});
}

}  // namespace
}  // namespace nplus1::hypothesis
