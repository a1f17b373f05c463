// Each wait state, built to an exact length by the engine and found with that length; and near-misses.
// A message of 1000 bytes takes 2 us, of 0 bytes 1 us; all computing is given.
#include <gtest/gtest.h>

#include "hypothesis/testing/wait_states_world.hpp"
#include "hypothesis/waitstates/report.hpp"

namespace nplus1::hypothesis {
namespace {

using events::CompletionMode;
using events::SendMode;

constexpr auto kSynchronous = SendMode::kSynchronous;

TEST(WaitStates, LateSenderOfFiveMilliseconds) {
  Program p{2};
  p.recv(1, 0, 7);
  p.after(5000).send(0, 1, 7, 1000);
  const auto r = p.end();
  EXPECT_EQ(states_text(r.total), "late_sender 5000, transfer 2");
  EXPECT_EQ(states_text(r.ranks[1]), "late_sender 5000, transfer 2");
  EXPECT_EQ(states_text(r.ranks[0]), "");
}

TEST(WaitStates, ReceiveOfAMessageThatIsThereWaitsForNobody) {
  Program p{2};
  p.send(0, 1, 7, 1000);
  p.after(10).recv(1, 0, 7);
  p.after(10).send(1, 0, 8, 1000);
  p.after(50).recv(0, 1, 8);
  EXPECT_EQ(states_text(p.end().total), "");
}

TEST(WaitStates, MessageThatIsUnderWayIsTransferOnly) {
  Program p{2};
  p.send(0, 1, 7, 1000);
  p.after(1).recv(1, 0, 7);
  EXPECT_EQ(states_text(p.end().total), "transfer 1");
}

TEST(WaitStates, LateReceiverOfFiveMillisecondsHoldsASynchronousSend) {
  Program p{2};
  p.send(0, 1, 7, 1000, kSynchronous);
  p.after(5000).recv(1, 0, 7);
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "late_receiver 5000, transfer 2");
  EXPECT_EQ(states_text(r.ranks[1]), "transfer 2");
}

TEST(WaitStates, LateReceiverHoldsAMessageAboveTheEagerThreshold) {
  Program p{2, "lsb:latency=1e-06,bandwidth=1e+09,eager=100"};
  p.send(0, 1, 7, 1000);
  p.after(30).irecv(1, 0, 7);
  p.wait(1, {1});
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "late_receiver 30, transfer 2");
  EXPECT_EQ(states_text(r.ranks[1]), "transfer 2");
}

TEST(WaitStates, WaitForAReceiveCountsFromTheWait) {
  Program p{2};
  p.irecv(1, 0, 7);
  p.after(20).wait(1, {1});
  p.after(50).send(0, 1, 7, 1000);
  EXPECT_EQ(states_text(p.end().total), "late_sender 30, transfer 2");
}

TEST(WaitStates, WaitForASendCountsFromTheWaitToTheReceive) {
  Program p{2};
  p.isend(0, 1, 7, 1000, kSynchronous);
  p.after(10).wait(0, {1});
  p.after(40).recv(1, 0, 7);
  EXPECT_EQ(states_text(p.end().ranks[0]), "late_receiver 30, transfer 2");
}

TEST(WaitStates, WaitallWaitsForTheLastOfItsMessages) {
  Program p{3};
  p.irecv(0, 1, 7);
  p.irecv(0, 2, 7);
  p.wait(0, {1, 2});
  p.after(10).send(1, 0, 7, 30000);  // there at 41
  p.after(20).send(2, 0, 7, 1000);   // there at 22
  EXPECT_EQ(states_text(p.end().ranks[0]), "late_sender 10, transfer 31");
}

TEST(WaitStates, EagerSendInAWaitallIsNotWhatIsWaitedFor) {
  Program p{2};
  for (const int me : {0, 1}) {
    p.irecv(me, 1 - me, 7);
    p.after(me == 0 ? 0 : 25).isend(me, 1 - me, 7, 1000);
    p.wait(me, {1, 2});
  }
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "late_sender 25, transfer 2");
  EXPECT_EQ(states_text(r.ranks[1]), "");
}

TEST(WaitStates, WaitanyWaitsForTheOneThatCompletes) {
  Program p{3};
  p.irecv(0, 1, 7);
  p.irecv(0, 2, 7);
  p.wait(0, {1, 2}, CompletionMode::kAny);
  p.after(30).send(1, 0, 7, 1000);
  p.after(10).send(2, 0, 7, 1000);
  p.finalize(1);
  p.finalize(2);
  p.engine().decide();
  p.wait(0, {1, 2}, CompletionMode::kAny);
  p.engine().decide();
  p.finalize(0);
  const auto r = p.search().result();
  EXPECT_EQ(states_text(r.ranks[0]), "late_sender 28, transfer 4");  // 10 + 2, then 12 to 30 + 2
}

TEST(WaitStates, ProbeForALateMessageIsALateSender) {
  Program p{2};
  p.probe(1, 0, 7);
  p.after(15).send(0, 1, 7, 1000);
  p.recv(1, 0, 7);
  EXPECT_EQ(states_text(p.end().ranks[1]), "late_sender 15, transfer 2");
}

TEST(WaitStates, TestsThatFailBeforeTheSendAreALateSender) {
  simnode::engine::World::List id{1};
  Program p{2};
  p.irecv(1, 0, 7);
  p.after(10).test(1, id);  // 0.2 us each, then a little more: all of it is before the send
  p.after(10).test(1, id);
  p.after(100).send(0, 1, 7, 1000);
  p.after(200).test(1, id);
  p.finalize(0);
  p.engine().decide();
  p.finalize(1);
  const auto r = p.search().result();
  ASSERT_GT(r.ranks[1].polling, Duration::zero());
  EXPECT_EQ(state(r.ranks[1], WaitState::kLateSender), r.ranks[1].polling);
  EXPECT_EQ(r.ranks[1].waiting, Duration::zero());
}

TEST(WaitStates, TestsThatFailAfterTheSendAreTransfer) {
  Program p{2};
  p.send(0, 1, 7, 100'000);  // takes 101 us
  p.irecv(1, 0, 7);
  p.after(10).test(1, {1});
  p.after(10).test(1, {1});
  p.after(200).test(1, {1});
  p.finalize(0);
  p.engine().decide();
  p.finalize(1);
  const auto r = p.search().result();
  ASSERT_GT(r.ranks[1].polling, Duration::zero());
  EXPECT_EQ(r.ranks[1].transfer(), r.ranks[1].polling);
}

TEST(WaitStates, MessageThatWasSentEarlierAndReceivedLaterMakesWrongOrder) {
  Program p{3};
  p.recv(0, 1, 7);  // waits for 1 while 2's is there
  p.recv(0, 2, 7);
  p.after(10).send(1, 0, 7, 1000);
  p.after(3).send(2, 0, 7, 1000);
  EXPECT_EQ(states_text(p.end().ranks[0]), "late_sender 10, wrong_order 10, transfer 2");
}

TEST(WaitStates, MessagesInTheOrderOfTheirSendsAreInOrder) {
  Program p{3};
  p.recv(0, 2, 7);
  p.recv(0, 1, 7);
  p.after(10).send(1, 0, 7, 1000);
  p.after(3).send(2, 0, 7, 1000);
  EXPECT_EQ(states_text(p.end().ranks[0]), "late_sender 8, transfer 4");  // 3 + 2, then 5 to 10 + 2
}

TEST(WaitStates, BarrierWaitsForTheLastOne) {
  Program p{2};  // dissemination: one round of 1 us; the message to the last one is there when it comes
  p.collective(0, CollectiveKind::kBarrier, 0);
  p.after(5000).collective(1, CollectiveKind::kBarrier, 0);
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "wait_at_barrier 5000, barrier_completion 1");
  EXPECT_EQ(states_text(r.ranks[1]), "");
}

TEST(WaitStates, WhoLeavesABarrierAfterTheFirstWaitsForCompletion) {
  Program p{3};  // dissemination, 1 us a round: r hears of r-1 and of r-2, then of what these had heard
  p.collective(0, CollectiveKind::kBarrier, 0);
  p.collective(1, CollectiveKind::kBarrier, 0);
  p.after(10).collective(2, CollectiveKind::kBarrier, 0);
  const auto r = p.end();
  Duration completion{};
  Time first = kNever;
  for (int rank = 0; rank < 3; ++rank) first = std::min(first, p.calls(rank)[0].exit());
  for (int rank = 0; rank < 3; ++rank) completion += p.calls(rank)[0].exit() - first;
  EXPECT_EQ(state(r.total, WaitState::kWaitAtBarrier), us(20));
  EXPECT_EQ(state(r.total, WaitState::kBarrierCompletion), completion);
}

TEST(WaitStates, AllreduceWaitsAtNxN) {
  Program p{2};
  p.after(4).collective(0, CollectiveKind::kAllreduce, 8);
  p.after(24).collective(1, CollectiveKind::kAllreduce, 8);
  const auto r = p.end();
  EXPECT_EQ(state(r.ranks[0], WaitState::kWaitAtNxN), us(20));
  EXPECT_EQ(state(r.ranks[1], WaitState::kWaitAtNxN), Duration::zero());
}

TEST(WaitStates, LateRootIsALateBroadcast) {
  Program p{2};
  p.collective(1, CollectiveKind::kBcast, 1000, 0);
  p.after(40).collective(0, CollectiveKind::kBcast, 1000, 0);
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[1]), "late_broadcast 40, transfer 2");
  EXPECT_EQ(states_text(r.ranks[0]), "");
}

TEST(WaitStates, EarlyRootIsAnEarlyReduceUntilTheFirstContributes) {
  Program p{3};
  p.collective(0, CollectiveKind::kGather, 1000, 0);
  p.after(10).collective(1, CollectiveKind::kGather, 1000, 0);
  p.after(70).collective(2, CollectiveKind::kGather, 1000, 0);
  EXPECT_EQ(states_text(p.end().ranks[0]), "early_reduce 10, late_contributor 60, transfer 2");
}

TEST(WaitStates, ScanWaitsForEarlierMembersOnly) {
  Program p{2};
  p.after(9).collective(0, CollectiveKind::kScan, 8);
  p.collective(1, CollectiveKind::kScan, 8);
  const auto r = p.end();
  EXPECT_EQ(state(r.ranks[1], WaitState::kEarlyScan), us(9));
  EXPECT_EQ(state(r.ranks[0], WaitState::kEarlyScan), Duration::zero());
}

TEST(WaitStates, WaitForANonBlockingCollectiveCountsFromTheWait) {
  Program p{2};
  p.icollective(0, CollectiveKind::kBarrier, 0);
  p.after(10).wait(0, {1});
  p.after(35).icollective(1, CollectiveKind::kBarrier, 0);
  p.wait(1, {1});
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "wait_at_barrier 25, transfer 1");
}

TEST(WaitStates, ReceiveFromAnySourceWaitsForWhomItGot) {
  Program p{3};
  p.recv(0, simnode::engine::kAny, 7, events::kReportMatch);
  p.after(10).recv(0, simnode::engine::kAny, 7, events::kReportMatch);
  p.after(30).send(1, 0, 7, 1000);
  p.after(5).send(2, 0, 7, 1000);
  const auto r = p.end();
  EXPECT_EQ(states_text(r.ranks[0]), "late_sender 18, transfer 4");  // 5 + 2, computing 10, 17 to 30 + 2
  EXPECT_EQ(r.unresolved_calls, 0U);
}

TEST(WaitStates, CancelledAndFreedRequestsLeaveNothingBehind) {
  Program p{2};
  p.irecv(1, 0, 5);
  p.about(1, events::EventKind::kCancelled, 1);
  p.wait(1, {1});
  p.isend(0, 1, 7, 1000, kSynchronous);
  p.about(0, events::EventKind::kRequestFree, 1);
  p.irecv(1, 0, 7);
  p.about(1, events::EventKind::kRequestFree, 2);
  const auto r = p.end();
  EXPECT_EQ(states_text(r.total), "");
  EXPECT_EQ(p.search().under_way(), 0U);
}

TEST(WaitStates, MessageWithoutItsOtherHalfCountsAsUnresolved) {
  WaitStates search{2};
  events::Event recv;
  recv.kind = events::EventKind::kRecv;
  events::Answer answer;
  answer.source = 0;
  search.on_event({RankId{1}, recv, {}, kTimeZero + us(9), answer});
  const auto r = search.result();
  EXPECT_EQ(r.unresolved_calls, 1U);
  EXPECT_EQ(states_text(r.total), "transfer 9");
}

/// 46 days each: together more than a Duration holds.
TEST(WaitStates, WhatManyRanksHaveTogetherIsAtMostWhatADurationHolds) {
  constexpr Duration kLong{3'900'000'000'000'000'000};
  WaitStates search{4};
  events::Event recv;
  recv.kind = events::EventKind::kRecv;
  for (std::int32_t r = 0; r < 4; ++r) {
    events::Answer answer;
    answer.source = (r + 1) % 4;
    search.on_event({RankId{r}, recv, {}, kTimeZero + kLong, answer});
  }
  const auto all = search.result().total;
  EXPECT_EQ(all.time, Duration::max());
  EXPECT_EQ(all.waiting, Duration::max());
  EXPECT_GE(all.transfer(), Duration::zero());
  const auto e = efficiencies({kLong, kLong, kLong, kLong}, kLong, std::nullopt);
  EXPECT_DOUBLE_EQ(e.parallel, 1);
  EXPECT_DOUBLE_EQ(e.load_balance, 1);
}

/// Threads that call MPI side by side compute at the same time: a rank's sum may be more than the run's time.
TEST(WaitStates, EfficienciesAreOfThreadsThatCallMpi) {
  WaitStates search{1};
  const auto call = [&search](std::uint16_t thread, events::EventKind kind, int begin, int end) {
    events::Event event;
    event.kind = kind;
    event.thread = ThreadId{thread};
    event.peer = kProcNull.value;
    event.compute_ps = Duration{us(begin)}.count();
    event.entry_ps = event.compute_ps;
    search.on_event({RankId{0}, event, {}, kTimeZero + us(end), {}});
  };
  call(0, events::EventKind::kSend, 8, 10);
  call(1, events::EventKind::kSend, 6, 10);
  call(2, events::EventKind::kFinalize, 1, 1);  // has made none
  const auto r = search.result();
  ASSERT_EQ(r.thread_computing.size(), 2U);
  EXPECT_EQ(r.thread_computing[0], us(9));
  EXPECT_EQ(r.thread_computing[1], us(6));
  EXPECT_DOUBLE_EQ(efficiencies(r.thread_computing, us(10), std::nullopt).parallel, 0.75);
}

TEST(IdealReplay, OfEventsThatContradictEachOtherThereIsNone) {  // as the fuzzer had it
  IdealReplay ideal{2};
  events::Event send;
  send.kind = events::EventKind::kIsend;
  send.peer = 1;
  send.request = RequestId{0};
  ideal.on_event({RankId{0}, send, {}, kTimeZero});
  ideal.on_event({RankId{0}, send, {}, kTimeZero});
  EXPECT_FALSE(ideal.time());
}

TEST(WaitStates, ComputingIsToldByTheCallThatEndsIt) {
  Activity computing;
  computing.kind = "computing";
  EXPECT_EQ(activity_title(computing), "computing before the call at unknown");
  computing.frames.push_back({"/app", "", 0x10, "main", "/src/halo.c", 39});
  EXPECT_EQ(activity_title(computing), "computing before the call in main (halo.c:39)");
  computing.region = "solve";
  EXPECT_EQ(activity_title(computing), "computing in region solve");
}

}  // namespace
}  // namespace nplus1::hypothesis
