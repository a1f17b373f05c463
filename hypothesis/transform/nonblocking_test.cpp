#include "hypothesis/transform/nonblocking.hpp"

#include "hypothesis/testing/program.hpp"
#include "hypothesis/transform/exchanges.hpp"

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

/// `all`, on as many ranks: each sends `bytes` to the right and receives from the left, as the calls say.
enum class Exchange { kBlocking, kTogether };
TestProgram chain(Exchange how, std::int64_t between = 0, std::int64_t behind = 0) {
  TestProgram program{6};
  for (int step = 0; step < 3; ++step)
    for (std::int32_t r = 0; r < 6; ++r) {
      program.compute(r, 5 + r);
      if (how == Exchange::kBlocking) {
        program.line(r, 1);
        if (r < 5) program.send(r, r + 1, 20000);
        program.compute(r, between);
        program.line(r, 2);
        if (r > 0) program.receive(r, r - 1);
      } else {
        std::vector<std::uint32_t> requests;
        if (r > 0) requests.push_back(program.ireceive(r, r - 1));
        if (r < 5) requests.push_back(program.isend(r, r + 1, 20000));
        program.wait(r, requests);
      }
      program.compute(r, behind);
    }
  program.record();
  return program;
}

/// Whatever interrupts most visits, a quarter of them shows what the text is.
TEST(NonBlocking, CallsFollowEachOtherAtOnceIfAQuarterOfTheVisitsShowIt) {
  for (const int quick : {1, 2}) {
    TestProgram program{3};
    for (int step = 0; step < 8; ++step)
      for (std::int32_t r = 0; r < 3; ++r) {
        program.line(r, 1);
        if (r < 2) program.send(r, r + 1, 20000);
        program.compute(r, step < quick ? 0 : 4);
        program.line(r, 2);
        if (r > 0) program.receive(r, r - 1);
        program.compute(r, 5);
      }
    program.record();
    const Ends after = program.replayed({{"nonblocking", "post=0,wait=0"}});
    if (quick == 1)
      EXPECT_EQ(after, program.replayed({}));
    else
      EXPECT_LT(after[1], program.replayed({})[1]);
  }
}

/// A halo in a line of ranks: both directions by MPI_Sendrecv, to nobody at the edges, or all at once.
TestProgram halo(bool at_once, std::int64_t charge = 0, std::int64_t between = 0) {
  constexpr std::int32_t kRanks = 5;
  TestProgram program{kRanks};
  program.charge_calls(charge);
  for (int step = 0; step < 3; ++step)
    for (std::int32_t r = 0; r < kRanks; ++r) {
      const std::int32_t up = r + 1 < kRanks ? r + 1 : kProcNull.value;
      const std::int32_t down = r > 0 ? r - 1 : kProcNull.value;
      program.compute(r, 5 + r);
      if (at_once) {
        std::vector<std::uint32_t> requests{program.isend(r, up, 20000, 1), program.ireceive(r, down, 1)};
        requests.push_back(program.isend(r, down, 20000, 2));
        requests.push_back(program.ireceive(r, up, 2));
        program.wait(r, requests);
      } else {
        program.line(r, 1);
        program.sendrecv(r, up, down, 20000, 1);
        program.compute(r, between);
        program.line(r, 2);
        program.sendrecv(r, down, up, 20000, 2);
      }
      program.compute(r, 3);
      program.line(r, 3);
      program.collective(r, CollectiveKind::kBarrier);
    }
  program.record();
  return program;
}

TEST(NonBlocking, HalvesOfSendrecvsThatFollowEachOtherAreStartedTogether) {
  for (const std::int64_t charge : {0, 2}) {
    const Ends together = halo(true, charge).replayed({});
    EXPECT_EQ(halo(false, charge).replayed({{"nonblocking", "post=0,wait=0"}}), together) << charge;
    EXPECT_LT(together[0], halo(false, charge).replayed({})[0] - 40);
  }
  // Each sends behind a receive: what it sends may depend on that.
  EXPECT_EQ(halo(false).replayed({{"nonblocking", "post=0,wait=0,dependent=yes"}}), halo(false).replayed({}));
  // With computing between they are no exchange; and nothing of them is moved.
  EXPECT_EQ(halo(false, 0, 50).replayed({{"nonblocking", "post=0,wait=0"}}), halo(false, 0, 50).replayed({}));
  EXPECT_NE(halo(false).refused({{"nonblocking", "all"}}).find("add post=0,wait=0"), std::string::npos);
}

/// At an edge a rank only sends and then only receives: whatever it does, and whenever, others send behind a receive.
TEST(NonBlocking, WhatRanksAtAnEdgeDoHidesNothing) {
  for (const std::int32_t late : {0, 1, 2}) {
    TestProgram program{3};
    program.compute(late, 100);
    for (std::int32_t r = 0; r < 3; ++r) {
      const std::int32_t up = r < 2 ? r + 1 : kProcNull.value, down = r > 0 ? r - 1 : kProcNull.value;
      program.line(r, 1);
      program.sendrecv(r, up, down, 1000, 1);
      program.line(r, 2);
      program.sendrecv(r, down, up, 1000, 2);
    }
    program.record();
    ExchangeSurvey survey;
    ASSERT_TRUE(program.play()(survey, false));
    survey.finish();
    const auto exchanges = survey.exchanges();
    ASSERT_EQ(exchanges.size(), 1U) << late;
    EXPECT_TRUE(exchanges[0].assumes) << late;
    EXPECT_TRUE(exchanges[0].safe) << late;
  }
}

/// A send that waits for its receive, and at once a receive: a chain, from the last rank to the first.
TEST(NonBlocking, AnExchangeBecomesWhatIrecvIsendAndWaitallMakeOfIt) {
  const Ends blocking = chain(Exchange::kBlocking, 0, 30).replayed({});
  const Ends together = chain(Exchange::kTogether, 0, 30).replayed({});
  EXPECT_EQ(chain(Exchange::kBlocking, 0, 30).replayed({{"nonblocking", "post=0,wait=0"}}), together);
  EXPECT_EQ(chain(Exchange::kBlocking, 0, 30).replayed({{"nonblocking", "post=0,wait=0,dependent=yes"}}),
            together);
  EXPECT_LT(together[0], 0.6 * blocking[0]);
  const Ends early = chain(Exchange::kBlocking, 0, 30).replayed({{"nonblocking", "all"}});
  ASSERT_EQ(early.size(), together.size());
  for (std::size_t r = 0; r < early.size(); ++r) EXPECT_LE(early[r], together[r]);
}

TEST(NonBlocking, WhereComputingIntervenesThereIsNoExchange) {
  EXPECT_EQ(chain(Exchange::kBlocking, 4).replayed({{"nonblocking", "post=0,wait=0"}}),
            chain(Exchange::kBlocking, 4).replayed({}));
}

/// The lower rank of two sends first: everybody waits for all to the left.
TestProgram in_order_of_ranks(bool together) {
  TestProgram program{5};
  for (std::int32_t r = 0; r < 5; ++r) {
    program.compute(r, 10);
    if (together) {
      std::vector<std::uint32_t> requests;
      for (const std::int32_t other : {r - 1, r + 1})
        if (other >= 0 && other < 5) requests.push_back(program.ireceive(r, other));
      for (const std::int32_t other : {r - 1, r + 1})
        if (other >= 0 && other < 5) requests.push_back(program.isend(r, other, 1000));
      program.wait(r, requests);
      continue;
    }
    if (r > 0) {
      program.receive(r, r - 1);
      program.send(r, r - 1, 1000);
    }
    if (r < 4) {
      program.send(r, r + 1, 1000);
      program.receive(r, r + 1);
    }
  }
  program.record();
  return program;
}

TEST(NonBlocking, AnExchangeInTheOrderOfRanksIsDoneAtOnceUnlessWhatIsSentDependsOnIt) {
  const TestProgram serial = in_order_of_ranks(false);
  const Ends together = in_order_of_ranks(true).replayed({});
  EXPECT_EQ(serial.replayed({{"nonblocking", "post=0,wait=0"}}), together);
  EXPECT_LT(together[4], serial.replayed({})[4]);
  // Sends stay behind the receives before them: only the waiting of the sends is gone, and they are short.
  EXPECT_EQ(serial.replayed({{"nonblocking", "post=0,wait=0,dependent=yes"}}), serial.replayed({}));
  EXPECT_NE(serial.refused({{"nonblocking", "dependent=maybe"}}).find("dependent=maybe"), std::string::npos);
}

/// Given compute times: every call is charged, also those that are put in.
TEST(NonBlocking, UnderGivenComputeTimesNewCallsAreChargedLikeAllOthers) {
  const auto program = [](bool together) {
    TestProgram p{2};
    p.charge_calls(2);
    for (std::int32_t r = 0; r < 2; ++r) {
      p.compute(r, 7);
      if (together) {
        const std::uint32_t receive = p.ireceive(r, 1 - r);
        const std::uint32_t send = p.isend(r, 1 - r, 1000);
        p.wait(r, {receive, send});
      } else {
        p.send(r, 1 - r, 1000);
        p.receive(r, 1 - r);
      }
      p.compute(r, 3);
      p.collective(r, CollectiveKind::kBarrier);
    }
    p.record();
    return p;
  };
  EXPECT_EQ(program(false).replayed({{"nonblocking", "post=0,wait=0"}}), program(true).replayed({}));
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
