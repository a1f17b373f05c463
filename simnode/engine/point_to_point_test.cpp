// L = 1000 ns, B = 1 byte/ns unless a test says otherwise: a message of s bytes takes 1000 + s ns.
#include <gtest/gtest.h>

#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::SendMode;

constexpr const char* kHandshake = "lsb:latency=1e-06,bandwidth=1e+09,eager=100,handshake=2e-06";

TEST(PointToPoint, PingPongTakesTwiceLatencyPlusTransferPerRound) {
  World world{2};
  for (int round = 1; round <= 10; ++round) {
    world.send(0, 1, 0, 500);
    world.recv(1, 0, 0);
    world.send(1, 0, 0, 500);
    world.recv(0, 1, 0);
    EXPECT_EQ(world.exit(0), ns(round * 2 * 1500.0));
  }
}

TEST(PointToPoint, ALateSenderOfFiveMillisecondsCostsTheReceiverFiveMilliseconds) {
  World world{2};
  world.recv(1, 0, 0);
  EXPECT_TRUE(world.returned(1, 0));
  world.compute(5e6).send(0, 1, 0, 0);
  EXPECT_EQ(world.exit(1), ns(5e6 + 1000));
}

TEST(PointToPoint, AnEarlyMessageCostsTheReceiverNothing) {
  World world{2};
  world.send(0, 1, 0, 500);
  world.compute(7000).recv(1, 0, 0);
  EXPECT_EQ(world.exit(1), ns(7000));
}

TEST(PointToPoint, AnEagerSendReturnsAtOnce) {
  World world{2};
  world.send(0, 1, 0, 500);
  EXPECT_EQ(world.exit(0), ns(0));
}

TEST(PointToPoint, RendezvousWaitsForTheReceiver) {
  World world{2, kHandshake};
  world.send(0, 1, 0, 500);
  EXPECT_TRUE(world.returned(0, 0));
  world.compute(40000).recv(1, 0, 0);
  EXPECT_EQ(world.exit(0), ns(40000 + 2000 + 1500));
  EXPECT_EQ(world.exit(1), ns(40000 + 2000 + 1500));
}

TEST(PointToPoint, RendezvousWaitsForTheSender) {
  World world{2, kHandshake};
  world.recv(1, 0, 0);
  world.compute(40000).send(0, 1, 0, 500);
  EXPECT_EQ(world.exit(0), ns(40000 + 2000 + 1500));
  EXPECT_EQ(world.exit(1), ns(40000 + 2000 + 1500));
}

TEST(PointToPoint, RendezvousStartsWhenTheNonBlockingReceiveIsPosted) {
  World world{2, kHandshake};
  const auto request = world.compute(1000).irecv(1, 0, 0);
  world.send(0, 1, 0, 500);
  world.compute(50000).wait(1, {request});
  EXPECT_EQ(world.exit(0), ns(1000 + 2000 + 1500));
  EXPECT_EQ(world.exit(1), ns(51000));
}

TEST(PointToPoint, ANonBlockingRendezvousSendCompletesInItsWait) {
  World world{2, kHandshake};
  const auto request = world.isend(0, 1, 0, 500);
  EXPECT_EQ(world.exit(0), ns(0));
  world.compute(10).wait(0, {request});
  EXPECT_TRUE(world.returned(0, 1));
  world.compute(9000).recv(1, 0, 0);
  EXPECT_EQ(world.exit(0), ns(9000 + 2000 + 1500));
}

TEST(PointToPoint, SynchronousSendsWaitHoweverSmallAndBufferedOnesNever) {
  World world{2, kHandshake};
  world.send(0, 1, 0, 5000, SendMode::kBuffered);
  EXPECT_TRUE(world.returned(0, 1));
  world.send(0, 1, 0, 0, SendMode::kSynchronous);
  EXPECT_TRUE(world.returned(0, 1));
  world.recv(1, 0, 0);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.exit(0), ns(6000 + 2000 + 1000));
}

/// Seven messages of 1001 bytes meet at rank 0: they leave at o, the first byte of all is there L later, and the
/// interface takes one every g + 1000 G = 2 us; receiving costs o, while the next one is coming.
TEST(PointToPoint, MessagesOfManySendersQueueAtTheReceiversInterface) {
  World world{8, "loggops:L=2us,o=0.5us,g=1us,G=1ns,interfaces=both"};
  World::List requests;
  for (int sender = 1; sender < 8; ++sender) requests.push_back(world.irecv(0, sender, 0));
  world.wait(0, requests);
  for (int sender = 1; sender < 8; ++sender) world.send(sender, 0, 0, 1001);
  world.finalize_all(8);
  world.engine().decide();
  ASSERT_TRUE(world.returned(0, 9));
  EXPECT_EQ(world.calls(0)[7].exit(), ns(500 + 2000 + 1000 + 6 * 2000 + 500));
  for (int sender = 1; sender < 8; ++sender) EXPECT_EQ(world.calls(sender)[0].exit(), ns(500));
}

/// The same where nobody has asked yet, and where all wait for the receiver.
TEST(PointToPoint, TheReceiversInterfaceTakesMessagesBeforeTheirReceiveButNotRendezvous) {
  for (const bool eager : {true, false}) {
    World world{3, eager ? "loggops:L=2us,g=1us,G=1ns,interfaces=both"
                         : "loggops:L=2us,g=1us,G=1ns,S=0,interfaces=both"};
    for (int sender : {1, 2}) world.send(sender, 0, 0, 1001);
    world.compute(10000).recv(0, 1, 0);
    world.recv(0, 2, 0);
    world.finalize_all(3);
    world.engine().decide();
    ASSERT_TRUE(world.returned(0, 3));
    EXPECT_EQ(world.calls(0)[0].exit(), ns(eager ? 10000 : 13000));
    EXPECT_EQ(world.calls(0)[1].exit(), ns(eager ? 10000 : 16000));
    EXPECT_EQ(world.calls(2)[0].exit(), ns(eager ? 0 : 16000));
  }
}

TEST(PointToPoint, OverheadsOfLogGopsAreChargedToTheCaller) {
  World world{2, "loggops:L=1e-06,o=1e-07,g=0,G=1e-09,O=1e-09"};
  world.send(0, 1, 0, 50);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.exit(0), ns(150));
  EXPECT_EQ(world.exit(1), ns(150 + 1000 + 50 + 150));
}

TEST(PointToPoint, MessagesDoNotOvertakeWhateverTheirSize) {
  World world{2};
  world.send(0, 1, 0, 100000);
  world.send(0, 1, 0, 0);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.last(1).answer.size, 100000);
  EXPECT_EQ(world.exit(1), ns(101000));
  world.recv(1, 0, 0);
  EXPECT_EQ(world.last(1).answer.size, 0);
  EXPECT_EQ(world.exit(1), ns(101000));
}

TEST(PointToPoint, TagsSelectAndAnyTagTakesTheFirstSent) {
  World world{2};
  for (const int tag : {7, 8, 9}) world.send(0, 1, tag, tag);
  world.recv(1, 0, 8);
  EXPECT_EQ(world.last(1).answer.tag, 8);
  world.recv(1, 0, kAny);
  EXPECT_EQ(world.last(1).answer.tag, 7);
  world.recv(1, 0, kAny);
  EXPECT_EQ(world.last(1).answer.tag, 9);
}

TEST(PointToPoint, SequenceNumbersCountAllMessagesOfAPairOverCommunicators) {
  World world{3};
  events::Event other = World::transfer(events::EventKind::kSend, 1, 0, 0);
  other.comm = CommId{5};
  world.send(0, 1, 0, 0);
  world.push(0, other);
  world.send(0, 2, 0, 0);
  world.send(0, 1, 0, 0);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.last(1).answer.sequence, 0U);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.last(1).answer.sequence, 2U);
  world.recv(2, 0, 0);
  EXPECT_EQ(world.last(2).answer.sequence, 0U);
}

TEST(PointToPoint, SendsToSelfWork) {
  World world{1};
  const auto request = world.irecv(0, 0, 3);
  world.send(0, 0, 3, 500);
  world.wait(0, {request});
  EXPECT_EQ(world.exit(0), ns(1500));
}

TEST(PointToPoint, ProcNullIsDoneAtOnce) {
  World world{1};
  world.compute(10).send(0, kProcNull.value, 0, 500, SendMode::kSynchronous);
  world.recv(0, kProcNull.value, 0);
  EXPECT_EQ(world.last(0).answer.source, kProcNull.value);
  const auto request = world.irecv(0, kProcNull.value, 0);
  world.wait(0, {request});
  world.probe(0, kProcNull.value, 0);
  EXPECT_TRUE(world.returned(0, 5));
  EXPECT_EQ(world.exit(0), ns(10));
}

TEST(PointToPoint, ReportsTheMatchOfAReceiveBeforeItsWait) {
  World world{2};
  const auto request = world.irecv(1, 0, kAny, events::kReportMatch);
  EXPECT_TRUE(world.matches(1).empty());
  world.send(0, 1, 4, 500);
  ASSERT_EQ(world.matches(1).size(), 1U);
  EXPECT_EQ(world.matches(1)[0].request, RequestId{request});
  EXPECT_EQ(world.matches(1)[0].tag, 4);
  EXPECT_EQ(world.matches(1)[0].size, 500);
  EXPECT_EQ(world.matches(1)[0].exit(), ns(1500));
}

TEST(PointToPoint, ACancelledReceiveTakesNothing) {
  World world{2};
  const auto cancelled = world.irecv(1, 0, 0);
  const auto kept = world.irecv(1, 0, 0);
  world.compute(5).about(1, events::EventKind::kCancelled, cancelled);
  world.wait(1, {cancelled});
  EXPECT_EQ(world.exit(1), ns(5));
  world.send(0, 1, 0, 0);
  world.wait(1, {kept});
  EXPECT_EQ(world.exit(1), ns(1000));
}

events::Event cancelled_send(int to, std::uint32_t request, std::uint64_t sequence) {
  events::Event e = World::transfer(events::EventKind::kCancelled, to, 0, 0);
  e.request = RequestId{request};
  e.aux = sequence;
  return e;
}

TEST(PointToPoint, ACancelledSendIsNoMessage) {
  World world{2, kHandshake};
  const auto first = world.isend(0, 1, 0, 500);
  world.isend(0, 1, 0, 300);
  world.compute(5).push(0, cancelled_send(1, first, 0));
  world.wait(0, {first});
  EXPECT_EQ(world.exit(0), ns(5));
  world.recv(1, 0, 0);
  ASSERT_TRUE(world.returned(1, 1));
  EXPECT_EQ(world.last(1).answer.sequence, 1U);
  EXPECT_EQ(world.engine().counters().order_inversions, 0U);
}

TEST(PointToPoint, CancellingWhatTheEngineHasMatchedIsCounted) {
  World world{2, kHandshake};
  const auto sent = world.isend(0, 1, 0, 500);
  world.isend(0, 1, 9, 500);
  world.recv(1, 0, 0);
  world.push(0, cancelled_send(1, sent, 0));
  EXPECT_EQ(world.engine().counters().order_inversions, 1U);
  const auto received = world.irecv(1, 0, 9);
  world.about(1, events::EventKind::kCancelled, received);
  EXPECT_EQ(world.engine().counters().order_inversions, 2U);
}

TEST(PointToPoint, FreeingARequestThatIsCompleteChangesNoTimes) {
  World world{2};
  world.send(0, 1, 0, 0);
  const auto received = world.irecv(1, 0, 0);
  world.about(1, events::EventKind::kRequestFree, received);
  EXPECT_EQ(world.exit(1), kTimeZero);
  world.recv(1, 0, 1);
  world.send(0, 1, 1, 0);
  EXPECT_EQ(world.exit(1), ns(1000));
}

TEST(PointToPoint, AFreedRequestCompletesByItself) {
  World world{2, kHandshake};
  const auto request = world.isend(0, 1, 0, 500);
  world.about(0, events::EventKind::kRequestFree, request);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.exit(1), ns(2000 + 1500));
  EXPECT_EQ(world.engine().counters().unmatched_messages, 0U);
}

TEST(PointToPoint, EventsOfABlockedThreadWaitTheirTurn) {
  World world{2};
  world.recv(1, 0, 0);
  world.compute(100).send(1, 0, 1, 0);
  world.compute(100).send(1, 0, 2, 0);
  world.finalize(1);
  EXPECT_TRUE(world.returned(1, 0));
  world.send(0, 1, 0, 0);
  ASSERT_TRUE(world.returned(1, 4));
  EXPECT_EQ(world.exit(1), ns(1200));
  world.recv(0, 1, 2);
  EXPECT_EQ(world.exit(0), ns(2200));
}

TEST(PointToPoint, ThreadsHaveClocksOfTheirOwnAndShareTheMailbox) {
  World world{2};
  world.compute(9000).local(1);
  world.thread(1).compute(50).recv(1, 0, 0);
  world.thread(0).send(0, 1, 0, 0);
  EXPECT_EQ(world.exit(1, 1), ns(1000));
  EXPECT_EQ(world.exit(1, 0), ns(9000));
  world.send(0, 1, 0, 0);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.exit(1, 0), ns(9000));
}

TEST(PointToPoint, SendsOfSeveralThreadsAreNumberedInTheOrderOfTheStream) {
  World world{2};
  world.thread(0).recv(0, 1, 0);  // until rank 1 sends, what thread 0 does next waits
  world.send(0, 1, 5, 8);
  world.thread(1).send(0, 1, 6, 8);
  world.thread(0).send(1, 0, 0, 8);
  EXPECT_EQ(world.last(0, 0).answer.sequence, 0U);
  EXPECT_EQ(world.last(0, 1).answer.sequence, 1U);
  EXPECT_EQ(world.last(0, 0).event.aux, 0U);  // is told as it came
}

/// Thread 0 of rank 1 is blocked in its first receive, so that the engine comes to its second after thread 1's, which
/// the rank made later.
TEST(PointToPoint, ReceivesOfSeveralThreadsMatchInTheOrderOfTheStream) {
  World world{2};
  world.thread(0).recv(1, 0, 0);
  world.recv(1, 0, 0);
  world.thread(1).recv(1, 0, 0);
  world.recv(1, 0, 7);
  world.thread(0);
  for (const std::int64_t size : {100, 200, 300}) world.send(0, 1, 0, size);
  world.send(0, 1, 7, 400);
  ASSERT_TRUE(world.returned(1, 2, 0));
  ASSERT_TRUE(world.returned(1, 2, 1));
  EXPECT_EQ(world.calls(1, 0)[0].answer.size, 100);
  EXPECT_EQ(world.calls(1, 0)[1].answer.size, 200);
  EXPECT_EQ(world.calls(1, 1)[0].answer.size, 300);
  EXPECT_EQ(world.calls(1, 1)[1].answer.size, 400);
}

TEST(PointToPoint, AReceiveOfOtherMessagesNeedNotWaitForItsTurn) {
  World world{2};
  world.thread(0).recv(1, 0, 0);
  world.recv(1, 0, 0);
  world.thread(1).recv(1, 0, 1);
  world.thread(0).send(0, 1, 1, 100);
  EXPECT_TRUE(world.returned(1, 1, 1));
}

TEST(PointToPoint, AProbeDoesNotSeeWhatAnEarlierReceiveOfAnotherThreadWillTake) {
  World world{2};
  world.thread(0).recv(1, 0, 0);
  world.recv(1, 0, kAnyTag);
  world.thread(1).probe(1, 0, 5);
  world.thread(0).send(0, 1, 5, 100);  // what a receive with tag 0 leaves
  world.send(0, 1, 0, 200);
  EXPECT_TRUE(world.returned(1, 0, 1));
  world.send(0, 1, 5, 300);
  world.engine().decide();
  ASSERT_TRUE(world.returned(1, 1, 1));
  EXPECT_EQ(world.last(1, 0).answer.size, 100);
  EXPECT_EQ(world.last(1, 1).answer.size, 300);
}

TEST(PointToPoint, MessagesOfSeveralThreadsArriveInTheOrderOfTheStream) {
  World world{2};
  world.thread(0).recv(0, 1, 0);  // until rank 1 sends, what thread 0 does next waits
  world.send(0, 1, 5, 100);
  world.thread(1).send(0, 1, 5, 200);
  world.thread(0);
  const auto request = world.irecv(1, 0, 5);
  world.send(1, 0, 0, 8);
  world.wait(1, {request});
  world.recv(1, 0, 5);
  ASSERT_TRUE(world.returned(1, 4));
  EXPECT_EQ(world.last(1).answer.size, 200);
  EXPECT_EQ(world.engine().counters().unmatched_messages, 0U);
}

TEST(PointToPoint, AThreadWaitsForARequestThatAnotherHasStarted) {
  World world{2};
  world.thread(0).recv(1, 0, 0);
  const auto request = world.irecv(1, 0, 1);
  world.thread(1).wait(1, {request});
  EXPECT_TRUE(world.returned(1, 0, 1));
  world.thread(0).send(0, 1, 0, 8);
  EXPECT_TRUE(world.returned(1, 0, 1));
  world.compute(5000).send(0, 1, 1, 0);
  ASSERT_TRUE(world.returned(1, 1, 1));
  EXPECT_EQ(world.exit(1, 1), ns(6000));
}

/// As where a replay's send waits for its receive and the recorded one's did not.
TEST(PointToPoint, WhoeverAllWaitForGoesOutOfTurn) {
  World world{2, kHandshake};
  world.thread(0).send(0, 1, 0, 500);
  world.send(0, 1, 1, 8);
  world.thread(1).send(0, 1, 2, 8);  // behind the one before in the stream
  world.thread(0).recv(1, 0, 2);
  EXPECT_TRUE(world.returned(1, 0));
  world.engine().decide();
  ASSERT_TRUE(world.returned(1, 1));
  world.recv(1, 0, 0);
  world.recv(1, 0, 1);
  EXPECT_TRUE(world.returned(1, 3));
}

TEST(PointToPoint, CountsWhatIsNeverMatched) {
  World world{2};
  world.send(0, 1, 0, 0);
  world.irecv(1, 0, 5);
  EXPECT_EQ(world.engine().counters().unmatched_messages, 1U);
  EXPECT_EQ(world.engine().counters().unmatched_receives, 1U);
}

TEST(PointToPoint, RejectsRanksThatDoNotExist) {
  World world{2};
  EXPECT_THROW(world.send(0, 2, 0, 0), std::invalid_argument);
  EXPECT_THROW(world.send(7, 0, 0, 0), std::invalid_argument);
}

TEST(PointToPoint, RejectsTimesThatNoClockShows) {
  World world{2};
  events::Event computing;
  computing.kind = events::EventKind::kLocal;
  computing.compute_ps = (std::int64_t{1} << 62U) - 1;
  world.engine().push(RankId{0}, computing, {});
  EXPECT_THROW(world.engine().push(RankId{0}, computing, {}), std::invalid_argument);
}

}  // namespace
}  // namespace nplus1::simnode::engine
