// Deadlocks, states, counters and replays.
#include <gtest/gtest.h>

#include "simnode/engine/replay.hpp"
#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::SendMode;

constexpr const char* kRendezvous = "lsb:latency=1e-06,bandwidth=1e+09,eager=100";

TEST(Deadlock, OfTwoReceivesNamesWhoWaitsForWhom) {
  World world{3};
  world.recv(0, 1, 4);
  world.recv(1, 0, 5);
  EXPECT_EQ(world.engine().state(), State::kRunning);
  world.finalize(2);
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
  EXPECT_FALSE(world.engine().release_rendezvous());
  const auto blocked = world.engine().blocked();
  ASSERT_EQ(blocked.size(), 2U);
  EXPECT_EQ(blocked[0].rank, RankId{0});
  EXPECT_EQ(blocked[0].awaits, std::vector<RankId>{RankId{1}});
  EXPECT_EQ(blocked[0].event.tag, 4);
  EXPECT_EQ(blocked[1].awaits, std::vector<RankId>{RankId{0}});
}

TEST(Deadlock, OfAWaitallNamesThePendingPeersOnly) {
  World world{4};
  const auto a = world.irecv(0, 1, 0);
  const auto b = world.irecv(0, 2, 0);
  const auto c = world.irecv(0, kAny, 9);
  world.send(1, 0, 0, 0);
  world.wait(0, {a, b, c});
  const auto blocked = world.engine().blocked();
  ASSERT_EQ(blocked.size(), 1U);
  EXPECT_EQ(blocked[0].awaits, std::vector<RankId>{RankId{2}});
  EXPECT_TRUE(blocked[0].any_source);
}

TEST(Deadlock, OfACollectiveNamesTheMissingMembers) {
  World world{4};
  world.collective(0, CollectiveKind::kBarrier, 0);
  world.collective(2, CollectiveKind::kBarrier, 0);
  const auto blocked = world.engine().blocked();
  ASSERT_EQ(blocked.size(), 2U);
  EXPECT_EQ(blocked[0].awaits, (std::vector<RankId>{RankId{1}, RankId{3}}));
}

TEST(Deadlock, OfAWaitForACollectivesRequestNamesTheMissingMembers) {
  World world{4};
  const auto barrier = world.icollective(0, CollectiveKind::kBarrier, 0);
  const auto receive = world.irecv(0, 2, 0);
  world.wait(0, {barrier, receive});
  world.icollective(2, CollectiveKind::kBarrier, 0);
  const auto blocked = world.engine().blocked();
  ASSERT_EQ(blocked.size(), 1U);
  EXPECT_EQ(blocked[0].awaits, (std::vector<RankId>{RankId{1}, RankId{2}, RankId{3}}));
}

TEST(Deadlock, IsNotDeclaredWhileARankIsInAnUnmodelledCall) {
  World world{2};
  world.recv(0, 1, 0);
  world.about(1, events::EventKind::kUnmodelledEnter);
  EXPECT_EQ(world.engine().state(), State::kRunning);
  world.about(1, events::EventKind::kUnmodelledExit);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
}

TEST(Deadlock, IsDeclaredWhenTheLastRunningRankDies) {
  World world{2};
  world.recv(0, 1, 0);
  world.engine().rank_gone(RankId{1});
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
}

TEST(Deadlock, AnUnmodelledCallHoldsNobodyBack) {
  World world{3};
  world.recv(0, kAny, 0);
  world.send(1, 0, 0, 0);
  world.compute(1).local(1);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 0));
  world.about(2, events::EventKind::kUnmodelledEnter);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 1));
}

TEST(Deadlock, WhoIsInAnUnmodelledCallIsNamed) {
  World world{2};
  world.recv(0, 1, 0);
  EXPECT_TRUE(world.engine().outside().empty());
  world.about(1, events::EventKind::kUnmodelledEnter);
  ASSERT_EQ(world.engine().outside().size(), 1U);
  EXPECT_EQ(world.engine().outside()[0].rank, RankId{1});
  world.about(1, events::EventKind::kUnmodelledExit);
  EXPECT_TRUE(world.engine().outside().empty());
}

TEST(Rendezvous, ASendIsReleasedWhileOthersStandStillInUnmodelledCalls) {
  World world{2, kRendezvous};
  world.send(0, 1, 0, 500);
  world.about(1, events::EventKind::kUnmodelledEnter);
  EXPECT_FALSE(world.engine().release_rendezvous());
  EXPECT_TRUE(world.engine().release_rendezvous(true));
  EXPECT_EQ(world.calls(0).size(), 1U);
}

TEST(Rendezvous, HeadToHeadSendsRelyOnBuffering) {
  World world{2, kRendezvous};
  world.compute(10).send(0, 1, 0, 500);
  world.send(1, 0, 0, 500);
  world.recv(0, 1, 0);
  world.recv(1, 0, 0);
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
  EXPECT_TRUE(world.engine().blocked()[0].rendezvous);
  EXPECT_TRUE(world.engine().release_rendezvous());
  EXPECT_EQ(world.engine().counters().relies_on_buffering, 1U);
  EXPECT_EQ(world.calls(1)[0].exit(), ns(0));          // the earlier one was let go
  EXPECT_EQ(world.calls(0)[0].exit(), ns(10 + 1500));  // and then received the other
  EXPECT_EQ(world.exit(0), ns(1510));
  EXPECT_EQ(world.exit(1), ns(1510));
}

TEST(Rendezvous, NonBlockingSendsAreReleasedInTheirWaits) {
  World world{2, kRendezvous};
  for (const int r : {0, 1}) {
    const auto request = world.isend(r, 1 - r, 0, 500);
    world.wait(r, {request});
    world.recv(r, 1 - r, 0);
  }
  EXPECT_TRUE(world.engine().release_rendezvous());
  EXPECT_TRUE(world.returned(0, 3));
  EXPECT_TRUE(world.returned(1, 3));
  EXPECT_EQ(world.engine().counters().relies_on_buffering, 1U);
}

TEST(Rendezvous, SynchronousSendsAreNeverReleased) {
  World world{2, kRendezvous};
  world.send(0, 1, 0, 500, SendMode::kSynchronous);
  world.send(1, 0, 0, 500, SendMode::kSynchronous);
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
  EXPECT_FALSE(world.engine().release_rendezvous());
}

TEST(Clock, MismatchesAreCountedAndTimeNeverRunsBack) {
  const auto network = std::move(netmodel::parse("lsb").value());
  World sink{1};
  Engine engine{1, *network, sink};
  events::Event e;
  e.kind = events::EventKind::kLocal;
  e.entry_ps = 100;
  engine.push(RankId{0}, e);
  EXPECT_EQ(engine.counters().clock_mismatches, 0U);  // the first event says where the clock starts
  e.compute_ps = 50;
  e.entry_ps = 150;
  engine.push(RankId{0}, e);
  EXPECT_EQ(engine.counters().clock_mismatches, 0U);
  e.entry_ps = 170;
  engine.push(RankId{0}, e);
  EXPECT_EQ(engine.counters().clock_mismatches, 1U);
  EXPECT_EQ(engine.clock(RankId{0}), Time{Duration{200}});
  e.entry_ps = 300;
  engine.push(RankId{0}, e);
  EXPECT_EQ(engine.counters().clock_mismatches, 2U);
  EXPECT_EQ(engine.clock(RankId{0}), Time{Duration{300}});
}

TEST(State, IsFinishedWhenAllHaveFinalizedOrDied) {
  World world{2};
  world.finalize(0);
  EXPECT_EQ(world.engine().state(), State::kRunning);
  world.engine().rank_gone(RankId{1});
  EXPECT_EQ(world.engine().state(), State::kFinished);
}

TEST(State, AThreadMayEndBeforeItsRank) {
  World world{2};
  world.recv(1, 0, 0);
  world.thread(1).local(0);
  world.thread(1).finalize(0);
  world.thread(0).recv(0, 1, 0);
  EXPECT_EQ(world.engine().state(), State::kAllBlocked);
}

class Written : public Streams {
 public:
  explicit Written(std::vector<std::vector<events::Event>> events)
      : events_{std::move(events)}, next_(events_.size()) {}
  const events::Event* next(RankId rank, events::Extension&) override {
    std::size_t& at = next_[rank.index()];
    return at < events_[rank.index()].size() ? &events_[rank.index()][at++] : nullptr;
  }

 private:
  std::vector<std::vector<events::Event>> events_;
  std::vector<std::size_t> next_;
};

events::Event call(events::EventKind kind, int peer, int thread = 0) {
  events::Event e = World::transfer(kind, peer, 0, 500);
  e.thread = ThreadId{static_cast<std::uint16_t>(thread)};
  return e;
}

TEST(Replay, RunsStreamsToTheirEnds) {
  using events::EventKind;
  World world{3};
  Written streams{
      {{call(EventKind::kRecv, kAny), call(EventKind::kRecv, kAny), call(EventKind::kFinalize, 0)},
       {call(EventKind::kSend, 0), call(EventKind::kFinalize, 0)},
       {call(EventKind::kSend, 0)}}};
  EXPECT_EQ(replay(world.engine(), 3, streams), State::kRunning);  // rank 2 did not finalize
  EXPECT_TRUE(world.returned(0, 3));
  EXPECT_EQ(world.exit(0), ns(1500));
}

TEST(Replay, FindsTheEventOfAnotherThreadBehindABlockedOne) {
  using events::EventKind;
  World world{1};
  Written streams{{{call(EventKind::kRecv, 0), call(EventKind::kLocal, 0), call(EventKind::kSend, 0, 1),
                    call(EventKind::kFinalize, 0)}}};
  EXPECT_EQ(replay(world.engine(), 1, streams), State::kFinished);
}

TEST(Replay, ReleasesRendezvousAndReportsDeadlock) {
  using events::EventKind;
  World world{2, kRendezvous};
  Written fine{{{call(EventKind::kSend, 1), call(EventKind::kRecv, 1), call(EventKind::kFinalize, 0)},
                {call(EventKind::kSend, 0), call(EventKind::kRecv, 0), call(EventKind::kFinalize, 0)}}};
  EXPECT_EQ(replay(world.engine(), 2, fine), State::kFinished);
  EXPECT_EQ(world.engine().counters().relies_on_buffering, 1U);
  World other{2};
  Written stuck{{{call(EventKind::kRecv, 1)}, {call(EventKind::kRecv, 0)}}};
  EXPECT_EQ(replay(other.engine(), 2, stuck), State::kAllBlocked);
}

}  // namespace
}  // namespace nplus1::simnode::engine
