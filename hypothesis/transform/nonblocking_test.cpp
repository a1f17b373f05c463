#include "hypothesis/transform/nonblocking.hpp"

#include "hypothesis/transform/test_program.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Ends = std::vector<double>;

/// Rank 0 sends 20000 bytes, which wait for their receive, and computes 40 us; rank 1 comes after 30 us.
TestProgram rendezvous() {
  TestProgram program{2};
  program.send(0, 1, 20000);
  program.compute(0, 40);
  program.compute(1, 30);
  program.receive(1, 0);
  program.compute(1, 5);
  program.record();
  return program;
}

TEST(NonBlocking, ASendIsWaitedForLater) {
  const Ends before = rendezvous().replayed({});
  const Ends after = rendezvous().replayed({{"nonblocking", "post=0"}});
  ASSERT_EQ(after.size(), 2U);
  EXPECT_GT(before[0], 70);  // held by the receive until 30 us and the transfer, then 40 us
  EXPECT_GT(after[0], 40);   // the transfer ends after its computing
  EXPECT_LT(after[0], before[0] - 20);
  EXPECT_EQ(after[1], before[1]);
}

TEST(NonBlocking, AReceiveIsPostedBeforeTheComputing) {
  const Ends after = rendezvous().replayed({{"nonblocking", "all"}});
  // The transfer takes place while both compute: 30 + 5 us at rank 1, 40 us at rank 0.
  EXPECT_EQ(after, (Ends{40, 35}));
}

TEST(NonBlocking, AReceiveIsWaitedForLater) {
  TestProgram program{2};
  program.compute(0, 50);
  program.send(0, 1, 1000);
  program.receive(1, 0);
  program.compute(1, 20);
  program.collective(1, CollectiveKind::kBarrier);
  program.collective(0, CollectiveKind::kBarrier);
  program.record();
  EXPECT_EQ(program.replayed({}), (Ends{73, 72}));
  // Waited for behind the 20 us of computing: the message is there at 52 us.
  EXPECT_EQ(program.replayed({{"nonblocking", "wait=1,from=0"}}), (Ends{53, 52}));
}

/// Two receives of the same kind keep their order: the first one's message comes first.
TEST(NonBlocking, ReceivesDoNotOvertakeEachOther) {
  TestProgram program{2};
  program.compute(0, 10);
  program.send(0, 1, 1000);
  program.send(0, 1, 5000);
  program.compute(1, 1);
  program.receive(1, 0);
  program.compute(1, 1);
  program.receive(1, 0);
  program.record();
  EXPECT_EQ(program.replayed({{"nonblocking", "size=5000,post=5"}}), program.replayed({}));
}

TEST(NonBlocking, WhatIsNonBlockingAlreadyIsNothing) {
  TestProgram program{2};
  program.wait(0, {program.isend(0, 1, 100)});
  program.wait(1, {program.ireceive(1, 0)});
  program.record();
  EXPECT_NE(program.refused({{"nonblocking", "all"}}).find("no blocking call"), std::string::npos);
  EXPECT_NE(program.refused({{"nonblocking", "post=5000"}}).find("at most 1000"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
