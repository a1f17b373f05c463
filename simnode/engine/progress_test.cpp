// Closed forms: 1 us of latency, 1 byte a nanosecond, messages above 10000 bytes wait for their receive.
#include <gtest/gtest.h>

#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {
namespace {

constexpr const char* kNetwork = "lsb:latency=1us,bandwidth=1GBps,eager=10000,handshake=0";

World world(bool weak) {
  Options options;
  options.weak_progress = weak;
  return World{2, kNetwork, options};
}

/// Both compute 100 us between MPI_Isend or MPI_Irecv and their wait; 20 us of transfer.
TEST(WeakProgress, NothingMovesWhileBothCompute) {
  for (const bool weak : {false, true}) {
    World w = world(weak);
    w.compute(0);
    const auto receive = w.irecv(1, 0, 0);
    w.compute(2000);
    const auto send = w.isend(0, 1, 0, 19000);
    w.compute(100000);
    w.wait(0, {send});
    w.compute(100000);
    w.wait(1, {receive});
    w.engine().decide();
    // Both are back in MPI at 100 and 102 us; the transfer takes 1 + 19 us.
    EXPECT_EQ(w.exit(1), weak ? ns(122000) : ns(100000));
    EXPECT_EQ(w.exit(0), weak ? ns(122000) : ns(102000));
  }
}

TEST(WeakProgress, ATestInBetweenAnswers) {
  World w = world(true);
  w.compute(0);
  const auto receive = w.irecv(1, 0, 0);
  w.compute(2000);
  w.send(0, 1, 0, 19000);  // blocked in MPI from 2 us on
  w.compute(50000);
  w.test(1, {receive});
  w.compute(50000);
  w.wait(1, {receive});
  w.engine().decide();
  EXPECT_EQ(w.exit(0), ns(70000));
  // The test at 50 us found nothing, which costs 0.2 us.
  EXPECT_EQ(w.exit(1), ns(100200));
}

TEST(WeakProgress, BlockingCallsAreInsideAnyway) {
  for (const bool weak : {false, true}) {
    World w = world(weak);
    w.compute(3000);
    w.send(0, 1, 0, 19000);
    w.compute(8000);
    w.recv(1, 0, 0);
    w.engine().decide();
    EXPECT_EQ(w.exit(0), ns(28000));
    EXPECT_EQ(w.exit(1), ns(28000));
  }
}

TEST(WeakProgress, ShortMessagesNeedNobody) {
  for (const bool weak : {false, true}) {
    World w = world(weak);
    w.compute(0);
    const auto receive = w.irecv(1, 0, 0);
    w.send(0, 1, 0, 1000);
    w.compute(100000);
    w.wait(1, {receive});
    w.engine().decide();
    EXPECT_EQ(w.exit(1), ns(100000));
  }
}

/// Rank 1 waits for another message while the first becomes ready: it is inside MPI.
TEST(WeakProgress, WhoeverIsBlockedInAnotherCallIsInside) {
  Options options;
  options.weak_progress = true;
  World w{3, kNetwork, options};
  w.compute(0);
  const auto receive = w.irecv(1, 0, 0);
  w.compute(5000);
  w.recv(1, 2, 0);  // from 5 us on; its message leaves at 60 us and is there at 61.1 us
  w.compute(20000);
  w.send(0, 1, 0, 19000);
  w.engine().decide();
  EXPECT_EQ(w.calls(0).size(), 0U);  // rank 2 might still let rank 1 go before 20 us
  w.compute(60000);
  w.send(2, 1, 0, 100);
  w.compute(100000);
  w.wait(1, {receive});
  w.engine().decide();
  EXPECT_EQ(w.exit(0), ns(40000));
  EXPECT_EQ(w.exit(1), ns(161100));
}

/// It has left that call before: the transfer waits for the next.
TEST(WeakProgress, WhoeverHasLeftTheCallIsNot) {
  Options options;
  options.weak_progress = true;
  World w{3, kNetwork, options};
  w.compute(0);
  const auto receive = w.irecv(1, 0, 0);
  w.compute(5000);
  w.recv(1, 2, 0);
  w.compute(20000);
  w.send(0, 1, 0, 19000);
  w.compute(10000);
  w.send(2, 1, 0, 100);  // there at 11.1 us
  w.compute(100000);
  w.wait(1, {receive});
  w.engine().decide();
  EXPECT_EQ(w.exit(1), ns(131100));
  EXPECT_EQ(w.exit(0), ns(131100));
}

}  // namespace
}  // namespace nplus1::simnode::engine
