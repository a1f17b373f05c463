// GOAL programs on LogGOPS in closed forms; bench/loggopsim.py compares with the authors' simulator.
#include "hypothesis/replay/goal_simulation.hpp"

#include <gtest/gtest.h>

namespace nplus1::hypothesis {
namespace {

using events::goal::Graph;
using events::goal::Operation;
using events::goal::What;
using std::chrono::nanoseconds;

/// L = 2 us, o = 1 us, g = 1.5 us, G = 1 ns, O = 0.
netmodel::LogGops::Parameters parameters(double eager = 1e12) {
  netmodel::LogGops::Parameters p;
  p.latency = 2e-6;
  p.overhead = 1e-6;
  p.gap = 1.5e-6;
  p.gap_per_byte = 1e-9;
  p.eager_limit = eager;
  return p;
}

struct Program {
  Graph graph;
  std::uint32_t add(Operation operation) {
    graph.operations.push_back(operation);
    return static_cast<std::uint32_t>(graph.operations.size() - 1);
  }
  std::uint32_t send(std::int32_t to, std::int64_t size, std::int32_t tag = 0) {
    return add({What::kSend, size, to, tag});
  }
  std::uint32_t recv(std::int32_t from, std::int64_t size, std::int32_t tag = 0) {
    return add({What::kReceive, size, from, tag});
  }
  std::uint32_t calc(std::int64_t amount) { return add({What::kCalc, amount}); }
  void requires_end(std::uint32_t operation, std::uint32_t on) {
    graph.dependences.push_back({operation, on, false});
  }
  void requires_start(std::uint32_t operation, std::uint32_t on) {
    graph.dependences.push_back({operation, on, true});
  }
};

GoalEnds run(const std::vector<Program>& programs, double eager = 1e12) {
  std::vector<Graph> graphs;
  for (const Program& program : programs) graphs.push_back(program.graph);
  return simulate(graphs, parameters(eager));
}

Time ns(std::int64_t value) {
  return kTimeZero + nanoseconds{value};
}

TEST(GoalSimulation, AMessageTakesLatencyAllBytesButOneAndBothOverheads) {
  std::vector<Program> p(2);
  p[0].send(1, 1001);
  p[1].recv(0, 1001);
  EXPECT_EQ(run(p).ends, (std::vector{ns(1000), ns(1000 + 2000 + 1000 + 1000)}));
}

TEST(GoalSimulation, MessagesOfManySendersAreTakenAGapAndTheirBytesApart) {
  std::vector<Program> p(8);
  for (int sender = 1; sender < 8; ++sender) {
    p[0].recv(sender, 1001);
    p[static_cast<std::size_t>(sender)].send(0, 1001);
  }
  // g + 1000 G is 2.5 us; the last one's processor time is o + 1000 G.
  EXPECT_EQ(run(p).ends[0], ns(3000 + 6 * 2500 + 2000));
}

TEST(GoalSimulation, ASenderWaitsForItsInterfaceToo) {
  std::vector<Program> p(2);
  for (int i = 0; i < 3; ++i) p[0].send(1, 1001), p[1].recv(0, 1001);
  EXPECT_EQ(run(p).ends, (std::vector{ns(2 * 2500 + 1000), ns(3000 + 2 * 2500 + 2000)}));
}

TEST(GoalSimulation, AMessageTakesTheProcessorWhenItComesAskedForOrNot) {
  std::vector<Program> p(2);
  p[0].send(1, 1);
  const auto busy = p[1].calc(10'000);
  const auto more = p[1].calc(500);
  const auto receive = p[1].recv(0, 1);
  p[1].requires_end(more, busy);
  p[1].requires_end(receive, more);
  // It is there at 3 us, while the rank computes: taken before what computes next.
  EXPECT_EQ(run(p).ends[1], ns(10'000 + 1000 + 500));
}

TEST(GoalSimulation, WhatRequiresAStartDoesNotWaitForTheEnd) {
  for (const bool start : {true, false}) {
    std::vector<Program> p(2);
    const auto receive = p[0].recv(1, 1);
    const auto compute = p[0].calc(100);
    start ? p[0].requires_start(compute, receive) : p[0].requires_end(compute, receive);
    p[1].send(0, 1);
    EXPECT_EQ(run(p).ends[0], ns(start ? 4000 : 4100));
  }
}

TEST(GoalSimulation, ALargeMessageHoldsItsSenderUntilItMeetsItsReceive) {
  for (const double eager : {1000.0, 1001.0}) {
    std::vector<Program> p(2);
    const auto send = p[0].send(1, 1001);
    const auto after = p[0].calc(10);
    p[0].requires_end(after, send);
    const auto late = p[1].calc(20'000);
    const auto receive = p[1].recv(0, 1001);
    p[1].requires_end(receive, late);
    // It is taken when the processor is free, at 20 us; the receive, which needs no processor, finds it then.
    EXPECT_EQ(run(p, eager).ends[0], eager < 1001 ? ns(20'000 + 10) : ns(1010));
    EXPECT_EQ(run(p, eager).ends[1], ns(22'000));
  }
}

TEST(GoalSimulation, AReceiveFromAnybodyTakesWhatComesFirst) {
  std::vector<Program> p(3);
  const auto first = p[0].recv(events::goal::kAnybody, 1, events::goal::kAnybody);
  const auto reply = p[0].send(2, 1);
  p[0].requires_end(reply, first);
  p[0].recv(1, 1, 5);
  const auto late = p[1].calc(5000);
  p[1].requires_end(p[1].send(0, 1, 5), late);
  p[2].send(0, 1, 9);
  p[2].recv(0, 1);
  const GoalEnds result = run(p);
  EXPECT_EQ(result.ends[2], ns(4000 + 3000 + 1000));
  EXPECT_EQ(result.unfinished, 0U);
}

TEST(GoalSimulation, CountsWhatNeverComesAndWhatNobodyReceives) {
  std::vector<Program> p(2);
  p[0].send(1, 8, 1);
  p[1].recv(0, 8, 2);
  const GoalEnds result = run(p);
  EXPECT_EQ(result.messages, 1U);
  EXPECT_EQ(result.unreceived, 1U);
  EXPECT_EQ(result.unfinished, 1U);
}

/// Tried again each time that the processor becomes free, each of them, they would take minutes.
TEST(GoalSimulation, ManyThatWaitForOneProcessorTakeTurns) {
  constexpr int kMany = 100'000;
  std::vector<Program> p(2);
  for (int i = 0; i < kMany; ++i) p[0].calc(1);
  p[0].send(1, 1);
  p[1].recv(0, 1);
  const GoalEnds result = run(p);
  EXPECT_EQ(result.ends, (std::vector{ns(kMany + 1000), ns(3000 + 1000)}));  // sends start before computing
  EXPECT_EQ(result.unfinished, 0U);
}

TEST(GoalSimulation, SaysThatItTakesLongerThanAnyTime) {
  for (const int more : {4, 5, 19}) {  // 19 of 10^18 ps would be half a day after 2^64
    std::vector<Program> p(1);
    for (int i = 0; i < more; ++i) p[0].calc(1'000'000'000'000'000);
    EXPECT_EQ(run(p).too_long, more > 4) << more;
  }
}

}  // namespace
}  // namespace nplus1::hypothesis
