// Waits, tests, wildcards and probes: who is first in virtual time. L = 1000 ns, 1 byte/ns.
#include <gtest/gtest.h>

#include <stdexcept>

#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::CompletionMode;

TEST(Wildcard, IsDecidedByVirtualTimeAndNotByTheOrderOfPushing) {
  World world{4};
  world.recv(0, kAny, 0);
  world.recv(0, kAny, 0);
  world.recv(0, kAny, 0);
  world.compute(3000).send(1, 0, 0, 0);
  world.compute(2000).send(2, 0, 0, 0);
  world.compute(1000).send(3, 0, 0, 0);
  for (const int r : {1, 2, 3}) world.finalize(r);
  world.engine().decide();
  ASSERT_TRUE(world.returned(0, 3));
  EXPECT_EQ(world.calls(0)[0].answer.source, 3);
  EXPECT_EQ(world.calls(0)[1].answer.source, 2);
  EXPECT_EQ(world.calls(0)[2].answer.source, 1);
  EXPECT_EQ(world.exit(0), ns(4000));
}

TEST(Wildcard, WaitsWhileAnotherRankCanStillBeEarlier) {
  World world{3};
  world.recv(0, kAny, 0);
  world.compute(5000).send(1, 0, 0, 0);  // arrives at 6000
  world.finalize(1);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 0));
  EXPECT_EQ(world.engine().state(), State::kWaiting);
  EXPECT_EQ(world.engine().awaited(), RankId{2});
  world.engine().set_bound(RankId{2}, ns(5000));  // could arrive at 6000 too
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 0));
  world.engine().set_bound(RankId{2}, ns(5001));
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 1));
  EXPECT_EQ(world.exit(0), ns(6000));
}

TEST(Wildcard, AWithdrawnRankHoldsNobodyBackUntilItsNextEvent) {
  World world{3};
  world.recv(0, kAny, 0);
  world.compute(5000).send(1, 0, 0, 0);
  world.finalize(1);
  world.engine().withdraw(RankId{2});
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 1));
  EXPECT_EQ(world.engine().counters().forced_decisions, 1U);
  world.compute(10).send(2, 0, 0, 0);  // arrives at 1010, but 6000 was decided
  EXPECT_EQ(world.engine().counters().order_inversions, 1U);
  world.recv(0, kAny, 0);
  world.compute(1).local(2);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 2));  // rank 2 runs at 11: nothing can be as early as 1010
}

TEST(Wildcard, BehindANamedReceiveTakesTheSecondMessage) {
  World world{2};
  const auto named = world.irecv(0, 1, 0, events::kReportMatch);
  const auto any = world.irecv(0, kAny, 0, events::kReportMatch);
  world.send(1, 0, 0, 11);
  world.send(1, 0, 0, 22);
  world.wait(0, {named, any});
  world.finalize(1);
  world.engine().decide();
  ASSERT_EQ(world.matches(0).size(), 2U);
  EXPECT_EQ(world.matches(0)[0].request, RequestId{named});
  EXPECT_EQ(world.matches(0)[0].size, 11);
  EXPECT_EQ(world.matches(0)[1].request, RequestId{any});
  EXPECT_EQ(world.matches(0)[1].size, 22);
}

TEST(Wildcard, HoldsBackTheNamedReceiveBehindIt) {
  World world{3};
  world.irecv(0, kAny, 0, events::kReportMatch);
  const auto named = world.irecv(0, 1, 0, events::kReportMatch);
  world.compute(500).send(1, 0, 0, 11);
  EXPECT_TRUE(world.matches(0).empty());
  world.send(2, 0, 0, 22);
  world.wait(0, {named});
  world.engine().set_bound(RankId{1}, ns(1000));
  world.engine().set_bound(RankId{2}, ns(1000));
  world.engine().decide();
  ASSERT_EQ(world.matches(0).size(), 2U);
  EXPECT_EQ(world.matches(0)[0].source, 2);
  EXPECT_EQ(world.matches(0)[1].source, 1);
  EXPECT_EQ(world.exit(0), ns(1511));
}

TEST(Wildcard, OfARendezvousSendIsDecidedByItsAnnouncement) {
  World world{3, "lsb:latency=1e-06,bandwidth=1e+09,eager=100"};
  world.recv(0, kAny, 0);
  world.send(1, 0, 0, 5000);            // announced at 1000
  world.compute(500).send(2, 0, 0, 0);  // arrives at 1500
  world.finalize(2);
  world.engine().decide();
  EXPECT_EQ(world.last(0).answer.source, 1);
  EXPECT_EQ(world.exit(0), ns(6000));
}

TEST(Wildcard, WithoutLatencyTiesGoByRankOncePeersHavePassed) {
  World world{3, "lsb:latency=0,bandwidth=1e+09"};
  world.recv(0, kAny, 0);
  world.compute(100).send(2, 0, 0, 0);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 0));
  world.compute(100).send(1, 0, 0, 0);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 0));  // both still stand at 100
  world.compute(1).local(1);
  world.compute(1).local(2);
  world.engine().decide();
  EXPECT_EQ(world.last(0).answer.source, 1);
}

TEST(Waitany, ReturnsTheEarliestInVirtualTime) {
  World world{3};
  const auto a = world.irecv(0, 1, 0);
  const auto b = world.irecv(0, 2, 0);
  world.compute(9000).send(1, 0, 0, 0);
  world.wait(0, {a, b}, CompletionMode::kAny);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 2));  // rank 2 may be earlier
  world.compute(4000).send(2, 0, 0, 0);
  ASSERT_TRUE(world.returned(0, 3));  // all are known
  EXPECT_EQ(world.last(0).answer.index, 1);
  EXPECT_EQ(world.last(0).completed, World::List{1});
  EXPECT_EQ(world.exit(0), ns(5000));
  world.wait(0, {a, b}, CompletionMode::kAny);
  EXPECT_EQ(world.last(0).answer.index, 0);
  world.wait(0, {a, b}, CompletionMode::kAny);
  EXPECT_EQ(world.last(0).answer.index, -1);
}

TEST(Waitany, IsDecidedWithoutTheOthersOnceTheyAreTooLate) {
  World world{3};
  const auto a = world.irecv(0, 1, 0);
  const auto b = world.irecv(0, 2, 0);
  world.compute(4000).send(1, 0, 0, 0);
  world.wait(0, {a, b}, CompletionMode::kAny);
  world.compute(4500).local(2);
  world.compute(1).local(1);
  world.engine().decide();
  ASSERT_TRUE(world.returned(0, 3));
  EXPECT_EQ(world.last(0).answer.index, 0);
  EXPECT_EQ(world.exit(0), ns(5000));
  world.send(2, 0, 0, 0);
  world.wait(0, {b});
  EXPECT_EQ(world.exit(0), ns(5500));
}

TEST(Waitsome, ReturnsAllThatAreThereByTheFirst) {
  World world{4};
  const auto a = world.irecv(0, 1, 0);
  const auto b = world.irecv(0, 2, 0);
  const auto c = world.irecv(0, 3, 0);
  world.compute(4000).send(1, 0, 0, 0);
  world.compute(5000).send(2, 0, 0, 0);
  world.compute(4000).send(3, 0, 0, 0);
  world.wait(0, {a, b, c}, CompletionMode::kSome);
  EXPECT_EQ(world.last(0).completed, (World::List{0, 2}));
  EXPECT_EQ(world.last(0).answer.index, 2);
  EXPECT_EQ(world.exit(0), ns(5000));
  world.compute(10000).wait(0, {a, b, c}, CompletionMode::kSome);
  EXPECT_EQ(world.last(0).completed, World::List{1});
  EXPECT_EQ(world.exit(0), ns(15000));
  world.wait(0, {a, b, c}, CompletionMode::kSome);
  EXPECT_EQ(world.last(0).answer.index, -1);
}

TEST(Waitall, TakesLogGopsOverheadsInOrderOfArrival) {
  World world{3, "loggops:L=1e-06,o=1e-07,g=0,G=0,O=0"};
  const auto a = world.irecv(0, 1, 0);
  const auto b = world.irecv(0, 2, 0);
  world.wait(0, {a, b});
  world.compute(1000).send(1, 0, 0, 0);  // 2100
  world.compute(950).send(2, 0, 0, 0);   // 2050
  EXPECT_EQ(world.exit(0), ns(2050 + 100 + 100));
}

TEST(Test, SucceedsAtTheFirstPollAfterTheArrival) {
  const semantics::PollCost fixed{std::chrono::nanoseconds{300}, std::chrono::nanoseconds{300}};
  World world{2, "lsb:latency=1e-06,bandwidth=1e+09", {fixed, true, nullptr}};
  const auto request = world.irecv(0, 1, 0);
  world.send(1, 0, 0, 0);
  for (int poll = 0; poll < 4; ++poll) {
    world.test(0, {request});
    EXPECT_EQ(world.last(0).answer.flag, 0);
    EXPECT_EQ(world.exit(0), ns(300.0 * (poll + 1)));
  }
  world.test(0, {request});
  EXPECT_EQ(world.last(0).answer.flag, 1);
  EXPECT_EQ(world.exit(0), ns(1200));
}

TEST(Test, FailsOnlyOnceNoMessageCanArriveInTime) {
  World world{2};
  const auto request = world.irecv(0, 1, 0);
  world.compute(5000).test(0, {request});
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 1));
  world.engine().set_bound(RankId{1}, ns(4001));
  world.engine().decide();
  ASSERT_TRUE(world.returned(0, 2));
  EXPECT_EQ(world.last(0).answer.flag, 0);
}

TEST(Test, SomeAndAnyFollowTheirWaits) {
  World world{3};
  const auto a = world.irecv(0, 1, 0);
  const auto b = world.irecv(0, 2, 0);
  world.send(1, 0, 0, 100);
  world.send(2, 0, 0, 0);
  world.compute(1000).test(0, {a, b}, CompletionMode::kAny);
  EXPECT_EQ(world.last(0).answer.index, 1);
  world.compute(200).test(0, {a, b}, CompletionMode::kSome);
  EXPECT_EQ(world.last(0).completed, World::List{0});
  world.test(0, {a, b}, CompletionMode::kAny);
  EXPECT_EQ(world.last(0).answer.flag, 1);
  EXPECT_EQ(world.last(0).answer.index, -1);
}

TEST(Test, GetStatusLeavesTheRequest) {
  World world{2};
  const auto request = world.irecv(0, 1, 0);
  world.send(1, 0, 0, 0);
  world.compute(2000).test(0, {request}, CompletionMode::kAll, events::kKeepsRequests);
  EXPECT_EQ(world.last(0).answer.flag, 1);
  world.test(0, {request});
  EXPECT_EQ(world.last(0).answer.flag, 1);
}

TEST(Probe, NamedReturnsAtTheArrivalAndLeavesTheMessage) {
  World world{2};
  world.probe(0, 1, kAny);
  world.send(1, 0, 4, 500);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(1500));
  EXPECT_EQ(world.last(0).answer.tag, 4);
  EXPECT_EQ(world.last(0).answer.size, 500);
  world.recv(0, 1, 4);
  EXPECT_TRUE(world.returned(0, 2));
}

TEST(Probe, AnySourceReturnsTheEarliest) {
  World world{3};
  world.probe(0, kAny, 0);
  world.compute(500).send(1, 0, 0, 0);
  world.send(2, 0, 0, 0);
  world.finalize(1);
  world.finalize(2);
  world.engine().decide();
  EXPECT_EQ(world.last(0).answer.source, 2);
  EXPECT_EQ(world.exit(0), ns(1000));
}

TEST(Iprobe, SeesWhatHasArrivedAndNothingElse) {
  World world{2};
  world.send(1, 0, 0, 0);
  world.compute(999).iprobe(0, 1, 0);
  EXPECT_EQ(world.last(0).answer.flag, 0);
  world.iprobe(0, 1, 0);
  EXPECT_EQ(world.last(0).answer.flag, 1);
  EXPECT_EQ(world.last(0).answer.source, 1);
  world.iprobe(0, kAny, 7);
  world.finalize(1);
  world.engine().decide();
  EXPECT_EQ(world.last(0).answer.flag, 0);
}

TEST(Mprobe, TakesTheMessageForItsReceiveAlone) {
  World world{2};
  world.send(1, 0, 0, 11);
  world.send(1, 0, 0, 22);
  world.probe(0, 1, 0, events::kTakesMessage);
  EXPECT_EQ(world.last(0).answer.sequence, 0U);
  world.recv(0, 1, 0);
  EXPECT_EQ(world.last(0).answer.size, 22);
  world.mrecv(0, 1, 0);
  EXPECT_EQ(world.last(0).answer.size, 11);
}

TEST(Mprobe, GetsItsMessageBeforeAReceiveThatAnotherThreadPostsLater) {
  for (const int source : {1, kAny}) {
    World world{2, "lsb:latency=1e-06,bandwidth=1e+09,eager=100"};
    world.thread(0).probe(0, source, 0, events::kTakesMessage);
    world.thread(1).recv(0, 1, 0);
    const auto first = world.thread(0).isend(1, 0, 0, 500);
    const auto second = world.isend(1, 0, 0, 600);
    world.wait(1, {first, second});
    world.engine().decide();
    ASSERT_TRUE(world.returned(0, 1, 0)) << source;
    EXPECT_EQ(world.last(0, 0).answer.size, 500);
    EXPECT_EQ(world.last(0, 0).answer.sequence, 0U);
    EXPECT_EQ(world.last(0, 1).answer.size, 600);
    world.mrecv(0, 1, 0);
    EXPECT_TRUE(world.returned(1, 3));
    EXPECT_EQ(world.engine().counters().order_inversions, 0U);
  }
}

TEST(Mprobe, LeavesItsMessageToAReceiveThatAnotherThreadPostedEarlier) {
  World world{2};
  world.thread(1).recv(0, 1, 0);
  world.thread(0).probe(0, 1, 0, events::kTakesMessage);
  world.send(1, 0, 0, 11);
  EXPECT_EQ(world.last(0, 1).answer.size, 11);
  EXPECT_TRUE(world.returned(0, 0, 0)) << "the probe waits";
  world.compute(2000).send(1, 0, 0, 22);
  EXPECT_EQ(world.last(0, 0).answer.size, 22);
}

TEST(Mprobe, OfARendezvousMessageFreesTheSenderWhenReceived) {
  World world{2, "lsb:latency=1e-06,bandwidth=1e+09,eager=100"};
  world.send(1, 0, 0, 500);
  world.probe(0, 1, 0, events::kTakesMessage);
  EXPECT_EQ(world.exit(0), ns(1000));
  world.compute(4000).mrecv(0, 1, 0);
  EXPECT_EQ(world.exit(0), ns(5000 + 1500));
  EXPECT_EQ(world.exit(1), ns(5000 + 1500));
}

TEST(Requests, WithoutANumberAreRefused) {
  World world{2};
  events::Event send;
  send.kind = events::EventKind::kIsend;
  send.operation = static_cast<std::uint8_t>(events::SendMode::kSynchronous);
  send.peer = 1;
  EXPECT_THROW(world.engine().push(RankId{0}, send, {}), std::invalid_argument);
}

}  // namespace
}  // namespace nplus1::simnode::engine
