#include "hypothesis/transform/replace.hpp"

#include "hypothesis/testing/program.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Ends = std::vector<double>;

/// The same with the library's operation in place of the messages: what a replacement must come to.
Ends with_collective(std::size_t ranks, CollectiveKind kind, std::int32_t root, std::int64_t bytes, int times,
                     const std::vector<std::int64_t>& compute) {
  TestProgram program{ranks};
  for (int i = 0; i < times; ++i) {
    for (std::size_t r = 0; r < ranks; ++r) {
      program.compute(static_cast<std::int32_t>(r), compute[r]);
      program.collective(static_cast<std::int32_t>(r), kind, root, bytes);
    }
  }
  program.record();
  return program.replayed({});
}

/// Rank 0 sends 8000 bytes to each of 7 others, three times; everybody computes between.
TestProgram serial_broadcast(const std::vector<std::int64_t>& compute) {
  TestProgram program{8};
  for (int i = 0; i < 3; ++i) {
    for (std::int32_t r = 0; r < 8; ++r) program.compute(r, compute[static_cast<std::size_t>(r)]);
    for (std::int32_t r = 1; r < 8; ++r) program.send(0, r, 8000, 5);
    for (std::int32_t r = 1; r < 8; ++r) program.receive(r, 0, 5);
  }
  program.record();
  return program;
}

TEST(Replace, ASerialBroadcastBecomesTheLibrarys) {
  const std::vector<std::int64_t> compute{10, 3, 20, 1, 7, 7, 7, 7};
  EXPECT_EQ(serial_broadcast(compute).replayed({{"replace", "tag=5,with=bcast"}}),
            with_collective(8, CollectiveKind::kBcast, 0, 8000, 3, compute));
}

TEST(Replace, AGatherAndAReductionBecomeTheLibrarys) {
  const std::vector<std::int64_t> compute{10, 3, 20, 1};
  TestProgram program{4};
  for (int i = 0; i < 2; ++i) {
    for (std::int32_t r = 0; r < 4; ++r) program.compute(r, compute[static_cast<std::size_t>(r)]);
    for (std::int32_t r = 0; r < 3; ++r) program.send(r, 3, 500);
    for (std::int32_t r = 0; r < 3; ++r) program.receive(3, r);
  }
  program.record();
  EXPECT_EQ(program.replayed({{"replace", "with=gather"}}),
            with_collective(4, CollectiveKind::kGather, 3, 500, 2, compute));
  EXPECT_EQ(program.replayed({{"replace", "with=reduce,root=3"}}),
            with_collective(4, CollectiveKind::kReduce, 3, 500, 2, compute));
}

/// Everybody exchanges with everybody, by non-blocking calls.
TEST(Replace, AnExchangeOfAllWithAllBecomesTheLibrarys) {
  const std::vector<std::int64_t> compute{10, 3, 20, 1};
  TestProgram program{4};
  for (int i = 0; i < 2; ++i) {
    for (std::int32_t r = 0; r < 4; ++r) {
      program.compute(r, compute[static_cast<std::size_t>(r)]);
      std::vector<std::uint32_t> requests;
      for (std::int32_t other = 0; other < 4; ++other)
        if (other != r) requests.push_back(program.ireceive(r, other));
      for (std::int32_t other = 0; other < 4; ++other)
        if (other != r) requests.push_back(program.isend(r, other, 300));
      program.wait(r, requests);
    }
  }
  program.record();
  EXPECT_EQ(program.replayed({{"replace", "with=alltoall"}}),
            with_collective(4, CollectiveKind::kAlltoall, -1, 300, 2, compute));
}

/// A scan along a chain: the last rank only receives.
TEST(Replace, AChainBecomesAScan) {
  TestProgram program{4};
  for (std::int32_t r = 0; r < 4; ++r) {
    program.compute(r, 5);
    if (r > 0) program.receive(r, r - 1);
    if (r < 3) program.send(r, r + 1, 100);
  }
  program.record();
  EXPECT_EQ(program.replayed({{"replace", "with=scan,instances=1"}}),
            with_collective(4, CollectiveKind::kScan, -1, 100, 1, {5, 5, 5, 5}));
}

/// Each sends to the next and then receives from the one before: all could have been started at once.
TEST(Replace, MembersThatSendBeforeTheyReceivePassNothingOn) {
  for (const bool later : {false, true}) {
    TestProgram program{4};
    for (std::int32_t r = 0; r < 4; ++r) {
      program.compute(r, 5);
      if (later && r > 0) program.receive(r, r - 1);
      if (r < 3) program.send(r, r + 1, 100);
      if (!later && r > 0) program.receive(r, r - 1);
    }
    program.record();
    for (const char* with : {"with=bcast", "with=reduce"}) {
      if (later)
        EXPECT_EQ(program.replayed({{"replace", with}}).size(), 4U);
      else
        EXPECT_NE(program.refused({{"replace", with}}).find("rank 1 sends before it has received"),
                  std::string::npos)
            << with;
    }
  }
}

/// Each stage works with what comes of the one before: no reduction, whose members combine it with their own.
TEST(Replace, StagesOfAPipelineAreNoMembersOfAReduction) {
  for (const int work : {5, 100}) {
    TestProgram program{4};
    for (std::int32_t r = 0; r < 4; ++r) {
      if (r > 0) program.receive(r, r - 1);
      program.compute(r, work);
      if (r < 3) program.send(r, r + 1, 1000);
    }
    program.record();
    EXPECT_EQ(program.replayed({{"replace", "with=reduce"}}).size(), 4U);
    if (work == 5)
      EXPECT_EQ(program.replayed({{"replace", "with=reduce,prompt=yes"}}).size(), 4U);
    else
      EXPECT_NE(program.refused({{"replace", "with=reduce,prompt=yes"}}).find("rank 1 computes between"),
                std::string::npos);
  }
}

/// Two rows of ranks, each with a broadcast of its own from its own root.
TEST(Replace, GroupsThatDoNotTalkToEachOtherHaveOperationsOfTheirOwn) {
  TestProgram program{6};
  program.compute(5, 40);
  for (const std::int32_t r : {0, 2}) program.send(1, r, 100);
  for (const std::int32_t r : {0, 2}) program.receive(r, 1);
  for (const std::int32_t r : {3, 4}) program.send(5, r, 100);
  for (const std::int32_t r : {3, 4}) program.receive(r, 5);
  program.record();
  const Ends ends = program.replayed({{"replace", "with=bcast"}});
  const Ends alone = with_collective(3, CollectiveKind::kBcast, 1, 100, 1, {0, 0, 0});
  ASSERT_EQ(ends.size(), 6U);
  EXPECT_EQ((Ends{ends[0], ends[1], ends[2]}), alone);
  EXPECT_DOUBLE_EQ(ends[3], 41.1);
  EXPECT_DOUBLE_EQ(ends[5], 40);
  EXPECT_EQ(program.replayed({{"replace", "with=bcast,fewest=3"}}), ends);
  EXPECT_NE(program.refused({{"replace", "with=bcast,fewest=4"}}).find("3 ranks make a group"),
            std::string::npos);
}

/// Given compute times: calls that go take theirs with them, and the operation brings its own.
TEST(Replace, UnderGivenComputeTimesCallsThatGoAreNotCharged) {
  const auto program = [](bool by_hand) {
    TestProgram p{5};
    p.charge_calls(3);
    for (int step = 0; step < 3; ++step) {
      for (std::int32_t r = 0; r < 5; ++r) p.compute(r, 4);
      if (by_hand) {
        std::vector<std::uint32_t> requests;
        for (std::int32_t r = 1; r < 5; ++r) requests.push_back(p.isend(0, r, 8000, 5));
        p.wait(0, requests);
        for (const std::int32_t r : {1, 2, 3}) p.receive(r, 0, 5);
        p.wait(4, {p.ireceive(4, 0, 5)});
      } else {
        for (std::int32_t r = 0; r < 5; ++r) p.collective(r, CollectiveKind::kBcast, 0, 8000);
      }
      for (std::int32_t r = 0; r < 5; ++r) {
        p.compute(r, 1);
        p.collective(r, CollectiveKind::kBarrier);
      }
    }
    p.record();
    return p;
  };
  EXPECT_EQ(program(true).replayed({{"replace", "tag=5,with=bcast"}}), program(false).replayed({}));
  const auto without = program(true).replayed({{"delete", "tag=5"}});
  ASSERT_EQ(without.size(), 5U);
  EXPECT_EQ(without[0], without[4]);
}

/// What the detector knows: the messages of each instance, whose roots take turns.
TEST(Replace, InstancesCanBeGivenOneByOne) {
  TestProgram program{3};
  for (std::int32_t root = 0; root < 3; ++root) {
    for (std::int32_t r = 0; r < 3; ++r) {
      if (r == root) continue;
      program.send(root, r, 100);
      program.receive(r, root);
    }
  }
  program.record();
  std::vector<CollectiveInstance> instances;
  for (std::int32_t root = 0; root < 3; ++root) {
    CollectiveInstance instance{CollectiveKind::kBcast, {RankId{0}, RankId{1}, RankId{2}}, root, 100, {}};
    const auto first = static_cast<std::uint64_t>(root);  // a receive before, for each earlier root
    instance.messages = {{root, first}, {root, first + 1}};
    instances.push_back(instance);
  }
  Chain chain;
  const auto added = chain.add(make_replacement(instances, 1), program.play());
  ASSERT_TRUE(added.ok()) << added.error().what;
  TestProgram library{3};
  for (std::int32_t root = 0; root < 3; ++root)
    for (std::int32_t r = 0; r < 3; ++r) library.collective(r, CollectiveKind::kBcast, root, 100);
  library.record();
  EXPECT_EQ(program.replayed(chain), library.replayed({}));
}

/// Receivers poll, and compute in between. A blocking operation stands where they first look: it loses that
/// overlap. Looks in vain go as well: they were waiting, not computing.
TEST(Replace, WhoPollsCallsTheOperationWhereItFirstLooks) {
  TestProgram program{3};
  program.compute(0, 100);
  for (const std::int32_t r : {1, 2}) {
    program.compute(r, 30);
    for (int i = 0; i < 5; ++i) program.look_for(r, 0);
    program.compute(r, 200);
    program.look_for(r, 0);
  }
  for (const std::int32_t r : {1, 2}) program.send(0, r, 8000);
  for (const std::int32_t r : {1, 2}) program.receive(r, 0);
  program.record();
  TestProgram library{3};
  library.compute(0, 100);
  for (const std::int32_t r : {1, 2}) library.compute(r, 30);
  for (std::int32_t r = 0; r < 3; ++r) library.collective(r, CollectiveKind::kBcast, 0, 8000);
  for (const std::int32_t r : {1, 2}) library.compute(r, 200);
  library.record();
  EXPECT_EQ(program.replayed({{"replace", "with=bcast"}}), library.replayed({}));
}

TEST(Replace, MessagesThatMakeNoWholeOperationAreRefused) {
  TestProgram program{3};
  program.send(0, 1, 100);
  program.receive(1, 0);
  program.send(0, 1, 100);
  program.receive(1, 0);
  program.send(0, 2, 100);
  program.receive(2, 0);
  program.record();
  EXPECT_NE(program.refused({{"replace", "with=bcast"}}).find("whole operations"), std::string::npos);
  EXPECT_NE(program.refused({{"replace", "with=allgather"}}).find("instances=N"), std::string::npos);
  EXPECT_NE(program.refused({{"replace", "with=broadcast"}}).find("bcast"), std::string::npos);
  EXPECT_NE(program.refused({{"replace", "with=bcast,tag=9"}}).find("tags: 0"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
