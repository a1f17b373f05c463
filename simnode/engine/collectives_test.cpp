// Collectives as schedules of transfers. L = 1000 ns, 1 byte/ns.
#include <gtest/gtest.h>

#include "events/mpi_call.hpp"
#include "netmodel/collectives/selection.hpp"
#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {
namespace {

using Kind = CollectiveKind;

TEST(Collective, ABarrierOfEightTakesThreeLatencies) {
  World world{8};
  for (int r = 0; r < 8; ++r) world.collective(r, Kind::kBarrier, 0);
  for (int r = 0; r < 8; ++r) EXPECT_EQ(world.exit(r), ns(3000));
}

TEST(Collective, ABarrierWaitsForTheLast) {
  World world{8};
  for (int r = 0; r < 7; ++r) world.collective(r, Kind::kBarrier, 0);
  for (int r = 0; r < 7; ++r) EXPECT_TRUE(world.returned(r, 0));
  world.compute(50000).collective(7, Kind::kBarrier, 0);
  for (int r = 0; r < 7; ++r) EXPECT_GE(world.exit(r), ns(51000));
  EXPECT_EQ(world.exit(7), ns(50000));  // what it needs is there
}

TEST(Collective, TheRootLeavesABroadcastBeforeAnybodyElseComes) {
  World world{8};
  world.compute(10).collective(0, Kind::kBcast, 500, 0);
  ASSERT_TRUE(world.returned(0, 1));
  EXPECT_EQ(world.exit(0), ns(10));
  world.send(0, 5, 0, 0);  // and goes on
  world.recv(5, 0, 0);
  EXPECT_EQ(world.exit(5), ns(1010));
}

TEST(Collective, ABinomialBroadcastTakesLogarithmicallyManyTransfers) {
  World world{8};
  for (int r = 7; r >= 0; --r) world.collective(r, Kind::kBcast, 500, 0);
  Time last = kTimeZero;
  for (int r = 0; r < 8; ++r) last = std::max(last, world.exit(r));
  EXPECT_EQ(last, ns(3 * 1500));
}

TEST(Collective, ALateMemberDelaysOnlyThoseBehindItInTheTree) {
  World world{4};
  world.compute(9000).collective(3, Kind::kBcast, 8, 0);
  world.collective(0, Kind::kBcast, 8, 0);
  world.collective(1, Kind::kBcast, 8, 0);
  world.collective(2, Kind::kBcast, 8, 0);
  EXPECT_EQ(world.exit(1), ns(1008));
  EXPECT_EQ(world.exit(2), ns(1008));
  EXPECT_EQ(world.exit(3), ns(9000));
}

TEST(Collective, ALeafLeavesAReduceAtOnceAndTheRootLast) {
  World world{4};
  world.collective(3, Kind::kReduce, 8, 0);
  EXPECT_TRUE(world.returned(3, 1));
  world.collective(0, Kind::kReduce, 8, 0);
  world.collective(1, Kind::kReduce, 8, 0);
  EXPECT_TRUE(world.returned(0, 0));
  world.compute(5000).collective(2, Kind::kReduce, 8, 0);
  EXPECT_EQ(world.exit(0), ns(5000 + 1008));
}

TEST(Collective, CallsOnACommunicatorMatchInOrderPerMember) {
  World world{2};
  world.collective(0, Kind::kBcast, 8, 0);
  world.collective(0, Kind::kBcast, 8, 0);
  world.compute(100).collective(0, Kind::kBcast, 8, 0);
  world.collective(1, Kind::kBcast, 8, 0);
  EXPECT_EQ(world.exit(1), ns(1008));
  world.collective(1, Kind::kBcast, 8, 0);
  EXPECT_EQ(world.exit(1), ns(1008));
  world.collective(1, Kind::kBcast, 8, 0);
  EXPECT_EQ(world.exit(1), ns(1108));
}

TEST(Collective, NonBlockingOnesProgressByThemselvesAndCompleteInTheWait) {
  World world{4};
  std::vector<std::uint32_t> requests;
  for (int r = 0; r < 4; ++r) requests.push_back(world.compute(100).icollective(r, Kind::kBarrier, 0));
  for (int r = 0; r < 4; ++r) EXPECT_EQ(world.exit(r), ns(100));
  world.wait(0, {requests[0]});
  EXPECT_EQ(world.exit(0), ns(2100));
  world.compute(50000).wait(1, {requests[1]});
  EXPECT_EQ(world.exit(1), ns(50100));
}

TEST(Collective, BlockingAndNonBlockingCallsShareTheirOrder) {
  World world{2};
  const auto a = world.icollective(0, Kind::kBarrier, 0);
  world.collective(0, Kind::kBcast, 8, 1);
  const auto b = world.icollective(1, Kind::kBarrier, 0);
  world.compute(100).collective(1, Kind::kBcast, 8, 1);
  EXPECT_EQ(world.exit(0), ns(1108));
  world.wait(0, {a});
  world.wait(1, {b});
  EXPECT_EQ(world.exit(1), ns(1000));
}

TEST(Collective, SubCommunicatorsNumberTheirOwnMembers) {
  World world{4};
  world.engine().define_communicator(CommId{1}, {RankId{3}, RankId{1}});
  world.collective(3, Kind::kBcast, 500, 0, 1);
  EXPECT_EQ(world.exit(3), ns(0));
  world.collective(1, Kind::kBcast, 500, 0, 1);
  EXPECT_EQ(world.exit(1), ns(1500));
}

TEST(Collective, RejectsUnknownCommunicatorsAndForeignRanks) {
  World world{4};
  EXPECT_THROW(world.collective(0, Kind::kBarrier, 0, -1, 9), std::invalid_argument);
  world.engine().define_communicator(CommId{1}, {RankId{3}, RankId{1}});
  EXPECT_THROW(world.collective(0, Kind::kBarrier, 0, -1, 1), std::invalid_argument);
}

TEST(Collective, AlltoallvExchangesWhatItsListsSay) {
  World world{2};
  const std::vector<std::int64_t> zero{0, 700, 0, 30};
  const std::vector<std::int64_t> one{30, 0, 700, 0};
  events::Event e = World::collective_event(events::EventKind::kCollective, Kind::kAlltoallv, 0, -1, 0);
  e.flags = events::kHasBytesPerMember;
  e.aux = 4;
  world.push(0, e, {{}, zero});
  world.push(1, e, {{}, one});
  EXPECT_EQ(world.exit(0), ns(1030));
  EXPECT_EQ(world.exit(1), ns(1700));
}

TEST(Collective, NeighbourhoodsExchangeAlongTheirEdgesOnly) {
  World world{3};
  const auto call = [&](int rank, const World::List& edges) {
    events::Event e =
        World::collective_event(events::EventKind::kCollective, Kind::kNeighborAlltoall, 500, -1, 0);
    e.aux = edges.size();
    world.push(rank, e, {edges, {}});
  };
  call(0, {0, 1, 1});  // no sources; destination 1
  EXPECT_EQ(world.exit(0), ns(0));
  call(1, {1, 0, 0});
  EXPECT_EQ(world.exit(1), ns(1500));
  call(2, {0, 0});
  EXPECT_EQ(world.exit(2), ns(0));
}

TEST(Collective, NeighbourhoodsSendToEachWhatItGets) {
  World world{3};
  const auto call = [&](int rank, const World::List& words) {
    events::Event e =
        World::collective_event(events::EventKind::kCollective, Kind::kNeighborAlltoall, 500, -1, 0);
    e.aux = words.size();
    world.push(rank, e, {words, {}});
  };
  call(0, {0, 2, 1, 2, 100, 0, 0, 1});  // to 1: 100 bytes; to 2: 2^32
  call(1, {1, 0, 0});
  EXPECT_EQ(world.exit(1), ns(1100));
  call(2, {1, 0, 0});
  EXPECT_EQ(world.exit(2), ns(1000 + (std::int64_t{1} << 32U)));
}

constexpr const char* kOverheads = "loggops:L=1us,o=100ns,g=0s,G=1ns,O=0";

TEST(Collective, HardwareCostsEachMemberOneOverheadAndTheVectorOneTransit) {
  const auto hardware = netmodel::Selection::parse("bcast=hardware,reduce=hardware,barrier=hardware");
  for (const auto& [kind, size] : {std::pair{Kind::kBcast, 500}, {Kind::kReduce, 500}, {Kind::kBarrier, 0}}) {
    World world{8, kOverheads, {{}, true, &hardware.value()}};
    for (int r = 0; r < 8; ++r) world.collective(r, kind, size, 0);
    Time last = kTimeZero;
    for (int r = 0; r < 8; ++r) last = std::max(last, world.exit(r));
    EXPECT_EQ(last, ns(100 + 1000 + size + 100));
  }
}

TEST(Collective, CombiningCostsTimeAtTheRateGiven) {
  const auto selection = netmodel::Selection::parse("reduce=binomial,reduce_rate=1GBps");
  World world{4, "lsb:latency=1e-06,bandwidth=1e+09", {{}, true, &selection.value()}};
  for (int r = 3; r >= 0; --r) world.collective(r, Kind::kReduce, 500, 0);
  EXPECT_EQ(world.exit(0), ns(2 * (1500 + 500)));
  EXPECT_EQ(world.exit(1), ns(0));
}

TEST(Collective, CopyingOnesOwnCostsTimeAtTheRateGivenBeforeAnythingIsSent) {
  const auto selection = netmodel::Selection::parse("gather=linear,scatter=linear,copy_rate=1GBps");
  World world{3, "lsb:latency=1e-06,bandwidth=1e+09", {{}, true, &selection.value()}};
  for (int r = 0; r < 3; ++r) world.collective(r, Kind::kScatter, 500, 0);
  EXPECT_EQ(world.exit(0), ns(500));
  EXPECT_EQ(world.exit(1), ns(500 + 1500));
  for (int r = 0; r < 3; ++r) world.collective(r, Kind::kGather, 4000, 0);
  EXPECT_EQ(world.exit(0), std::max(ns(500 + 4000), ns(500 + 1500 + 5000)));
}

TEST(Collective, TheSelectionChoosesTheAlgorithm) {
  const auto chain = netmodel::Selection::parse("bcast=chain");
  World world{4, "lsb:latency=1e-06,bandwidth=1e+09", {{}, true, &chain.value()}};
  for (int r = 0; r < 4; ++r) world.collective(r, Kind::kBcast, 8, 0);
  EXPECT_EQ(world.exit(3), ns(3 * 1008));
}

// With L = 1 us and B = 1 GB/s, as MPICH does it: to the other group's first member, which passes it on.
TEST(Intercommunicator, ABroadcastReachesTheRemoteGroupThroughItsFirstMemberAndTheRootsGroupLeaves) {
  World world{5};
  world.engine().define_communicator(CommId{1}, {RankId{0}, RankId{2}}, {RankId{1}, RankId{3}, RankId{4}});
  world.compute(40).collective(2, Kind::kBcast, 500, events::kIntercommRoot, 1);
  world.collective(0, Kind::kBcast, 500, kProcNull.value, 1);
  EXPECT_EQ(world.exit(2), ns(40));
  EXPECT_EQ(world.exit(0), ns(0));
  for (const int r : {1, 3, 4}) world.collective(r, Kind::kBcast, 500, 1, 1);
  EXPECT_EQ(world.exit(1), ns(1540));
  for (const int r : {3, 4}) EXPECT_EQ(world.exit(r), ns(2 * 1500 + 40));
}

TEST(Intercommunicator, AReduceIsCombinedByTheFirstRemoteMember) {
  World world{3};
  world.engine().define_communicator(CommId{1}, {RankId{0}}, {RankId{1}, RankId{2}});
  world.collective(0, Kind::kReduce, 8, events::kIntercommRoot, 1);
  world.collective(1, Kind::kReduce, 8, 0, 1);
  world.compute(700).collective(2, Kind::kReduce, 8, 0, 1);
  EXPECT_EQ(world.exit(2), ns(700));
  EXPECT_EQ(world.exit(1), ns(1708));
  EXPECT_EQ(world.exit(0), ns(700 + 2 * 1008));
}

TEST(Intercommunicator, AnAllreduceExchangesBetweenTheGroupsFirstMembers) {
  World world{3};
  world.engine().define_communicator(CommId{1}, {RankId{0}}, {RankId{1}, RankId{2}});
  world.collective(0, Kind::kAllreduce, 8, -1, 1);
  world.collective(1, Kind::kAllreduce, 8, -1, 1);
  EXPECT_TRUE(world.returned(0, 0));
  world.compute(700).collective(2, Kind::kAllreduce, 8, -1, 1);
  EXPECT_EQ(world.exit(1), ns(700 + 1008));  // from 2; what 0 sent is there already
  EXPECT_EQ(world.exit(0), ns(700 + 2 * 1008));
  EXPECT_EQ(world.exit(2), ns(700 + 2 * 1008));
}

TEST(Collective, ANonBlockingBroadcastTakesTheLibrarysOtherTable) {
  World blocking{8};
  World nonblocking{8};
  for (int r = 0; r < 8; ++r) {
    blocking.collective(r, Kind::kBcast, 12288, 0);
    const auto request = nonblocking.icollective(r, Kind::kBcast, 12288, 0);
    nonblocking.wait(r, {request});
  }
  EXPECT_EQ(blocking.exit(7), ns(3 * (1000 + 12288)));  // a binomial tree
  // From 12288 bytes on: scatter and doubling, of blocks of 1536 bytes. Last comes what went by 2 (2 blocks)
  // and 3, which gets 5: MPICH's non-blocking scatter sends its first child all that follows.
  EXPECT_EQ(nonblocking.exit(7), ns(3 * 1000 + (2 + 5 + 4) * 1536));
}

TEST(Collective, EveryKindEndsForEveryMemberOnAnyNumberOfRanks) {
  for (const int p : {1, 2, 3, 7, 8, 16}) {
    World world{p};
    for (auto k = static_cast<int>(Kind::kBarrier); k <= static_cast<int>(Kind::kSynchronize); ++k) {
      const auto kind = static_cast<Kind>(k);
      const World::List no_neighbours{0, 0};
      for (int r = 0; r < p; ++r) {
        const auto event = World::collective_event(events::EventKind::kCollective, kind, 100, 0, 0);
        const bool neighbours = kind == Kind::kNeighborAllgather || kind == Kind::kNeighborAlltoall;
        world.push(r, event, {neighbours ? no_neighbours : World::List{}, {}});
      }
    }
    world.finalize_all(p);
    EXPECT_EQ(world.engine().state(), State::kFinished) << p;
  }
}

/// All at time zero; when each goes on.
std::vector<Time> ends_of_making(events::MpiCall call, const char* collectives, int ranks) {
  const auto selection = netmodel::Selection::parse(collectives);
  World world{ranks, "lsb:latency=1us,bandwidth=1GBps", {{}, true, &selection.value()}};
  std::vector<Time> ends;
  for (int r = 0; r < ranks; ++r) {
    events::Event event =
        World::collective_event(events::EventKind::kCollective, CollectiveKind::kSynchronize, 0, -1, 0);
    event.call = static_cast<std::uint16_t>(call);
    world.push(r, event);
  }
  for (int r = 0; r < ranks; ++r) ends.push_back(world.exit(r));
  return ends;
}

/// The same of an Allgather of colors and keys, if there is one, and the Allreduce of the free context ids.
std::vector<Time> ends_of_messages(bool split, int ranks) {
  World world{ranks, "lsb:latency=1us,bandwidth=1GBps"};
  std::vector<Time> ends;
  if (split)
    for (int r = 0; r < ranks; ++r) world.collective(r, CollectiveKind::kAllgather, 8);
  for (int r = 0; r < ranks; ++r) world.collective(r, CollectiveKind::kAllreduce, 260);
  for (int r = 0; r < ranks; ++r) ends.push_back(world.exit(r));
  return ends;
}

TEST(MakingCommunicators, CostsWhatMpichSendsIfThatIsAskedFor) {
  using events::MpiCall;
  for (const int ranks : {2, 4, 5, 8, 13}) {
    for (const MpiCall call : {MpiCall::MPI_Comm_split, MpiCall::MPI_Cart_sub})
      EXPECT_EQ(ends_of_making(call, "synchronize=context_id", ranks), ends_of_messages(true, ranks))
          << ranks;
    for (const MpiCall call : {MpiCall::MPI_Comm_dup, MpiCall::MPI_Comm_create, MpiCall::MPI_Cart_create})
      EXPECT_EQ(ends_of_making(call, "synchronize=context_id", ranks), ends_of_messages(false, ranks))
          << ranks;
  }
}

TEST(MakingCommunicators, IsARoundOfEmptyMessagesOtherwiseAsIsMakingWindows) {
  for (const char* collectives : {"mpich", "openmpi", "synchronize=dissemination"})
    EXPECT_EQ(ends_of_making(events::MpiCall::MPI_Comm_split, collectives, 4),
              std::vector<Time>(4, Time{std::chrono::microseconds{2}}));
  EXPECT_EQ(ends_of_making(events::MpiCall::MPI_Win_create, "synchronize=context_id", 4),
            std::vector<Time>(4, Time{std::chrono::microseconds{2}}));
}

}  // namespace
}  // namespace nplus1::simnode::engine
