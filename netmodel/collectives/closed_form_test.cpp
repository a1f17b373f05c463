// Times and volumes that can be written down: L+s/B with L = 1 us and 0.1 ns per byte, everybody enters at
// zero. Sources: Thakur, Rabenseifner, Gropp 2005; Chan et al. 2007.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "netmodel/collectives/schedule.hpp"
#include "netmodel/collectives/testing/executor.hpp"
#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"

namespace nplus1::netmodel {
namespace {

using testing::everywhere;
using testing::execute;
using testing::Outcome;
using testing::select;
using Transfers = std::vector<Transfer>;

constexpr Duration kLatency = std::chrono::microseconds{1};
constexpr std::int64_t kSize = 3 << 20;

/// s/B
Duration wire(std::int64_t size) {
  return Duration{size * 100};
}

/// k (L + s/B)
Duration rounds(std::int64_t k, std::int64_t size) {
  return k * (kLatency + wire(size));
}

Outcome run(CollectiveKind kind, std::string_view algorithm, std::int32_t members, std::int64_t size = kSize,
            std::int32_t root = 0) {
  static const LatencyBandwidth lsb{{}};
  CollectiveCall call{.kind = kind, .root = root, .size = bytes(size)};
  return execute(everywhere(call, members), select(kind, algorithm), lsb);
}

std::int32_t ceil_log2(std::int32_t n) {
  std::int32_t k = 0;
  while ((1 << k) < n) ++k;
  return k;
}

TEST(Barrier, TakesALatencyPerRound) {
  for (std::int32_t p = 2; p <= 33; ++p) {
    const Outcome outcome = run(CollectiveKind::kBarrier, "dissemination", p, 0);
    for (const Duration left : outcome.left) EXPECT_EQ(left, ceil_log2(p) * kLatency) << p;
    EXPECT_EQ(outcome.total_sent(), 0);
  }
}

TEST(Bcast, BinomialTakesARoundPerDoublingAndFreesItsRootAtOnce) {
  for (const std::int32_t root : {0, 5}) {
    for (std::int32_t k = 3; k <= 5; ++k) {
      const Outcome outcome = run(CollectiveKind::kBcast, "binomial", 1 << k, kSize, root);
      EXPECT_EQ(outcome.makespan(), rounds(k, kSize));
      EXPECT_EQ(outcome.left[static_cast<std::size_t>(root)], Duration{0});
      EXPECT_EQ(outcome.total_sent(), kSize * ((1 << k) - 1));
    }
  }
}

TEST(Bcast, BinomialReachesAMemberAfterAsManyHopsAsItsNumberHasBits) {
  const Outcome outcome = run(CollectiveKind::kBcast, "binomial", 32);
  for (std::uint32_t m = 0; m < 32; ++m) EXPECT_EQ(outcome.left[m], rounds(std::popcount(m), kSize)) << m;
}

TEST(Bcast, LinearReachesEverybodyInOneRoundAndChainMemberByMember) {
  const Outcome linear = run(CollectiveKind::kBcast, "linear", 9, kSize, 3);
  EXPECT_EQ(linear.makespan(), rounds(1, kSize));
  EXPECT_EQ(linear.sent[3], 8 * kSize);
  const Outcome chain = run(CollectiveKind::kBcast, "chain", 9, kSize, 3);
  for (std::int64_t hop = 0; hop < 9; ++hop) {
    EXPECT_EQ(chain.left[static_cast<std::size_t>((3 + hop) % 9)], rounds(hop, kSize));
  }
}

TEST(Bcast, ScatterAndRecursiveDoublingTakesTwiceTheLatenciesAndTwiceTheVector) {
  // Scatter to member p-1: log p hops with s/2 + s/4 + ... ; allgather the same way back: 2 log p L + 2
  // (p-1)/p s/B.
  const Outcome outcome = run(CollectiveKind::kBcast, "scatter_recursive_doubling_allgather", 16);
  EXPECT_EQ(outcome.makespan(), 8 * kLatency + 2 * wire(kSize / 16 * 15));
}

TEST(Bcast, ScatterAndRingSendsEachPieceRoundTheRing) {
  for (const std::int32_t p : {3, 8, 12}) {
    const Outcome outcome = run(CollectiveKind::kBcast, "scatter_ring_allgather", p);
    // The scatter's subtrees, then p-1 pieces from each member.
    std::int64_t scattered = 0;
    for (std::int32_t m = 1; m < p; ++m) scattered += std::min(m & -m, p - m);
    EXPECT_EQ(outcome.total_sent(), kSize / p * (scattered + p * (p - 1))) << p;
  }
}

TEST(Gather, BinomialMovesHalfOfTheBlocksInItsLastRound) {
  for (std::int32_t k = 1; k <= 5; ++k) {
    const std::int32_t p = 1 << k;
    const Outcome outcome = run(CollectiveKind::kGather, "binomial", p, 1000);
    EXPECT_EQ(outcome.makespan(), k * kLatency + wire(1000 * (p - 1)));
    EXPECT_EQ(outcome.total_sent(), 1000 * k * p / 2);
    EXPECT_EQ(outcome.left[1], Duration{0}) << "a leaf leaves after its send";
  }
}

TEST(Scatter, BinomialTakesAsLongAsGatherAndFreesItsRootAtOnce) {
  for (std::int32_t k = 1; k <= 5; ++k) {
    const std::int32_t p = 1 << k;
    const Outcome outcome = run(CollectiveKind::kScatter, "binomial", p, 1000);
    EXPECT_EQ(outcome.makespan(), k * kLatency + wire(1000 * (p - 1)));
    EXPECT_EQ(outcome.total_sent(), 1000 * k * p / 2);
    EXPECT_EQ(outcome.left[0], Duration{0});
  }
}

TEST(GatherAndScatter, LinearTakeOneRoundAndMoveEachBlockOnce) {
  for (const CollectiveKind kind : {CollectiveKind::kGather, CollectiveKind::kScatter}) {
    const Outcome outcome = run(kind, "linear", 13, 1000, 4);
    EXPECT_EQ(outcome.makespan(), rounds(1, 1000));
    EXPECT_EQ(outcome.total_sent(), 12 * 1000);
  }
}

TEST(Reduce, BinomialTakesARoundPerDoublingAndLeavesLetGo) {
  const Outcome outcome = run(CollectiveKind::kReduce, "binomial", 32, kSize, 7);
  EXPECT_EQ(outcome.left[7], rounds(5, kSize));
  EXPECT_EQ(outcome.left[8], Duration{0});
  EXPECT_EQ(outcome.total_sent(), 31 * kSize);
}

TEST(Reduce, RabenseifnerTakesTwiceTheLatenciesAndTwiceTheVector) {
  for (const std::int32_t root : {0, 1, 6, 15}) {
    const Outcome outcome = run(CollectiveKind::kReduce, "rabenseifner", 16, kSize, root);
    EXPECT_EQ(outcome.left[static_cast<std::size_t>(root)], 8 * kLatency + 2 * wire(kSize / 16 * 15));
    // 15/16 of a vector from each in the halving; then 8 members send 1/16, 4 send 2/16, 2 send 4/16, 1 sends
    // 8/16.
    EXPECT_EQ(outcome.total_sent(), kSize * 15 + kSize / 16 * (4 * 8));
  }
}

/// The longest way of a contribution: a hop for each bit in which two numbers differ, and one more at each
/// end that belongs to a folded pair.
std::int32_t longest_way(std::uint32_t members) {
  const std::uint32_t core = std::bit_floor(members);
  std::int32_t longest = 0;
  for (std::uint32_t a = 0; a < core; ++a) {
    for (std::uint32_t b = 0; b < core; ++b) {
      const std::int32_t folded = (a < members - core ? 1 : 0) + (b < members - core ? 1 : 0);
      longest = std::max(longest, std::popcount(a ^ b) + folded);
    }
  }
  return longest;
}

TEST(Allreduce, RecursiveDoublingTakesARoundPerDoublingAndUpToTwoMoreForTheRest) {
  for (std::int32_t p = 2; p <= 33; ++p) {
    const Duration expected = rounds(longest_way(static_cast<std::uint32_t>(p)), kSize);
    EXPECT_EQ(run(CollectiveKind::kAllreduce, "recursive_doubling", p).makespan(), expected) << p;
  }
  EXPECT_EQ(run(CollectiveKind::kAllreduce, "recursive_doubling", 16).makespan(), rounds(4, kSize));
  EXPECT_EQ(run(CollectiveKind::kAllreduce, "recursive_doubling", 7).makespan(), rounds(4, kSize));
}

TEST(Allreduce, RabenseifnerMovesTwoVectorsLessTheOwnPart) {
  const Outcome outcome = run(CollectiveKind::kAllreduce, "rabenseifner", 16);
  for (const std::int64_t sent : outcome.sent) EXPECT_EQ(sent, 2 * (kSize / 16 * 15));
  for (const Duration left : outcome.left) EXPECT_EQ(left, 8 * kLatency + 2 * wire(kSize / 16 * 15));
}

TEST(Allreduce, RingMovesTwoVectorsLessTheOwnPart) {
  for (const std::int32_t p : {2, 3, 8, 12}) {
    const Outcome outcome = run(CollectiveKind::kAllreduce, "ring", p);
    for (const std::int64_t sent : outcome.sent) EXPECT_EQ(sent, 2 * (p - 1) * (kSize / p));
    for (const Duration left : outcome.left) EXPECT_EQ(left, rounds(2 * (p - 1), kSize / p));
  }
}

TEST(Allreduce, ReduceBcastTakesBothRoundTrips) {
  const Outcome outcome = run(CollectiveKind::kAllreduce, "reduce_bcast", 16);
  EXPECT_EQ(outcome.left[0], rounds(4, kSize));
  EXPECT_EQ(outcome.makespan(), rounds(8, kSize));
}

Duration allgather_time(std::string_view algorithm, std::int32_t p, std::int64_t size) {
  if (algorithm == "linear") return rounds(1, size);
  if (algorithm == "ring") return rounds(p - 1, size);
  if (algorithm == "neighbor_exchange") return rounds(1, size) + rounds(p / 2 - 1, 2 * size);
  return ceil_log2(p) * kLatency + wire(size * (p - 1));
}

TEST(Allgather, EveryAlgorithmBringsEachBlockOnceToEachMember) {
  for (const std::int32_t p : {2, 4, 8, 16, 32}) {
    for (const Algorithm& algorithm : algorithms_of(CollectiveKind::kAllgather)) {
      const Outcome outcome = run(CollectiveKind::kAllgather, algorithm.name, p, 1000);
      for (const std::int64_t sent : outcome.sent) EXPECT_EQ(sent, 1000 * (p - 1)) << algorithm.name;
      EXPECT_EQ(outcome.makespan(), allgather_time(algorithm.name, p, 1000)) << algorithm.name;
    }
  }
}

TEST(Allgather, NoAlgorithmBringsAMemberWhatItHas) {
  for (std::int32_t p = 2; p <= 33; ++p) {
    for (const Algorithm& algorithm : algorithms_of(CollectiveKind::kAllgather)) {
      const Outcome outcome = run(CollectiveKind::kAllgather, algorithm.name, p, 1000);
      EXPECT_EQ(outcome.total_sent(), 1000 * p * (p - 1)) << algorithm.name << ' ' << p;
    }
  }
}

TEST(Allgatherv, PipelinedRingPassesALargeBlockOnWhileItArrives) {
  // One block of 3 chunks, from member 0: each hop adds a chunk's time, and the chunks leave back to back.
  static const LatencyBandwidth lsb{{}};
  constexpr std::int64_t kChunk = 32768;
  const std::array<std::int64_t, 4> sizes{3 * kChunk, 0, 0, 0};
  CollectiveCall call{.kind = CollectiveKind::kAllgatherv};
  call.sizes = sizes;
  const Outcome outcome = execute(everywhere(call, 4), select(call.kind, "pipelined_ring"), lsb);
  EXPECT_EQ(outcome.messages, (std::vector<std::int64_t>{3, 3, 3, 0}));
  EXPECT_EQ(outcome.total_sent(), 3 * 3 * kChunk);
  EXPECT_EQ(outcome.left[3], rounds(3, kChunk));
}

TEST(Allgather, BruckTakesCeilLogRoundsForAnyNumberOfMembers) {
  for (std::int32_t p = 2; p <= 33; ++p) {
    EXPECT_EQ(run(CollectiveKind::kAllgather, "bruck", p, 1000).makespan(),
              ceil_log2(p) * kLatency + wire(1000 * (p - 1)))
        << p;
  }
}

TEST(Alltoall, BruckSendsEachBlockAsOftenAsItsDistanceHasBits) {
  for (std::int32_t p = 2; p <= 33; ++p) {
    std::int64_t hops = 0;
    for (std::uint32_t distance = 0; distance < static_cast<std::uint32_t>(p); ++distance) {
      hops += std::popcount(distance);
    }
    const Outcome outcome = run(CollectiveKind::kAlltoall, "bruck", p, 100);
    for (const std::int64_t sent : outcome.sent) EXPECT_EQ(sent, 100 * hops) << p;
    EXPECT_EQ(outcome.makespan(), ceil_log2(p) * kLatency + wire(100 * hops)) << p;
  }
}

TEST(Alltoall, PairwiseTakesARoundPerPartnerAndScatteredOnePerThrottle) {
  for (const std::int32_t p : {2, 7, 8, 32, 33, 60}) {
    const Outcome pairwise = run(CollectiveKind::kAlltoall, "pairwise", p, 1000);
    EXPECT_EQ(pairwise.makespan(), rounds(p - 1, 1000));
    EXPECT_EQ(pairwise.total_sent(), 1000 * p * (p - 1));
    const Outcome scattered = run(CollectiveKind::kAlltoall, "scattered", p, 1000);
    EXPECT_EQ(scattered.makespan(), rounds(p > 32 ? 2 : 1, 1000)) << p;
    EXPECT_EQ(scattered.total_sent(), 1000 * p * (p - 1));
    EXPECT_EQ(run(CollectiveKind::kAlltoall, "linear", p, 1000).makespan(), rounds(1, 1000));
  }
}

TEST(ReduceScatter, HalvingSendsHalfThenAQuarterAndPairwiseABlockPerPartner) {
  const Outcome halving = run(CollectiveKind::kReduceScatterBlock, "recursive_halving", 16, 1000);
  for (const std::int64_t sent : halving.sent) EXPECT_EQ(sent, 15 * 1000);
  EXPECT_EQ(halving.makespan(), 4 * kLatency + wire(15 * 1000));
  const Outcome pairwise = run(CollectiveKind::kReduceScatterBlock, "pairwise", 11, 1000);
  for (const std::int64_t sent : pairwise.sent) EXPECT_EQ(sent, 10 * 1000);
  EXPECT_EQ(pairwise.makespan(), rounds(10, 1000));
}

TEST(Scan, LinearReachesMemberByMember) {
  const Outcome outcome = run(CollectiveKind::kScan, "linear", 9);
  for (std::int64_t m = 0; m < 9; ++m) EXPECT_EQ(outcome.left[static_cast<std::size_t>(m)], rounds(m, kSize));
}

TEST(Scan, SimultaneousBinomialTakesFloorLogOfTheNumberPlusOneRounds) {
  // Members whose predecessors left early don't wait for their round.
  const Outcome outcome = run(CollectiveKind::kScan, "simultaneous_binomial", 32);
  for (std::uint32_t m = 0; m < 32; ++m)
    EXPECT_EQ(outcome.left[m], rounds(std::bit_width(m + 1) - 1, kSize)) << m;
}

TEST(Scan, RecursiveDoublingTakesARoundPerDoubling) {
  EXPECT_EQ(run(CollectiveKind::kScan, "recursive_doubling", 32).makespan(), rounds(5, kSize));
}

// Open MPI's algorithms

/// The number of digits of `n` to base `radix`, weighted or not.
std::int32_t digits_that_are_not_zero(std::int32_t n, std::int32_t radix) {
  return n == 0 ? 0 : (n % radix != 0 ? 1 : 0) + digits_that_are_not_zero(n / radix, radix);
}

TEST(Bcast, KnomialReachesAMemberAfterAsManyHopsAsItsNumberHasDigits) {
  const Outcome outcome = run(CollectiveKind::kBcast, "knomial", 60, kSize);
  for (std::int32_t m = 0; m < 60; ++m)
    EXPECT_EQ(outcome.left[static_cast<std::size_t>(m)], rounds(digits_that_are_not_zero(m, 4), kSize)) << m;
}

TEST(Bcast, BinaryTreeReachesALevelPerRoundWithTheWholeAndSplitWithHalfAndOneExchange) {
  const Outcome whole = run(CollectiveKind::kBcast, "binary", 31, kSize, 4);
  for (std::uint32_t m = 0; m < 31; ++m)
    EXPECT_EQ(whole.left[(m + 4) % 31], rounds(std::bit_width(m + 1) - 1, kSize)) << m;
  EXPECT_EQ(whole.total_sent(), 30 * kSize);
  const Outcome split = run(CollectiveKind::kBcast, "split_binary", 31, kSize);
  EXPECT_EQ(split.makespan(), rounds(5, kSize / 2)) << "4 levels, one exchange";
  EXPECT_EQ(split.total_sent(), 30 * kSize);
}

TEST(Pipelines, TakeAHopPerMemberForTheFirstSegmentOnly) {
  // L+s/B lets a sender's segments overlap, so that all of them arrive with the first.
  for (const CollectiveKind kind : {CollectiveKind::kBcast, CollectiveKind::kReduce}) {
    const Outcome outcome = run(kind, "pipelined", 9, 4 * 65536);
    EXPECT_EQ(outcome.makespan(), rounds(8, 65536));
    EXPECT_EQ(outcome.total_sent(), 8 * 4 * 65536);
    for (const std::int64_t messages : outcome.messages) EXPECT_TRUE(messages == 4 || messages == 0);
  }
}

TEST(Barrier, LinearTakesTwoRoundsTreeTwiceTheLevelsAndDoublingTwoMoreForTheRest) {
  for (std::int32_t p = 2; p <= 33; ++p) {
    EXPECT_EQ(run(CollectiveKind::kBarrier, "linear", p, 0).makespan(), 2 * kLatency);
    const std::int32_t doubling = longest_way(static_cast<std::uint32_t>(p));
    EXPECT_EQ(run(CollectiveKind::kBarrier, "recursive_doubling", p, 0).makespan(), doubling * kLatency) << p;
  }
  EXPECT_EQ(run(CollectiveKind::kBarrier, "tree", 32, 0).makespan(), 10 * kLatency);
}

TEST(ReduceScatter, ButterflyHalvesAndThenPutsBlocksInPlace) {
  const Outcome block = run(CollectiveKind::kReduceScatterBlock, "butterfly", 16, 1000);
  EXPECT_EQ(block.makespan(), 4 * kLatency + wire(15 * 1000));
  const Outcome any = run(CollectiveKind::kReduceScatter, "butterfly", 16, 1000);
  EXPECT_EQ(any.makespan(), 5 * kLatency + wire(16 * 1000));
  // The 4-bit palindromes 0, 6, 9 and 15 have their own block already.
  EXPECT_EQ(any.total_sent(), 1000 * (16 * 15 + 12));
}

// Two levels

TEST(TwoLevels, CrossTheNetworkOncePerNode) {
  const auto selection = Selection::parse("bcast=two_level,ranks_per_node=8");
  static const LatencyBandwidth lsb{{}};
  const CollectiveCall bcast{.kind = CollectiveKind::kBcast, .root = 13, .size = bytes(kSize)};
  for (const std::int32_t p : {8, 20, 32, 61}) {
    if (p <= 13) continue;
    const Transfers all = transfers(everywhere(bcast, p), selection.value());
    const auto crosses = [](const Transfer& t) { return t.source / 8 != t.destination / 8; };
    EXPECT_EQ(std::count_if(all.begin(), all.end(), crosses), (p + 7) / 8 - 1) << p;
    EXPECT_EQ(all.size(), static_cast<std::size_t>(p - 1));
  }
  const Outcome outcome = execute(everywhere(bcast, 32), selection.value(), lsb);
  EXPECT_EQ(outcome.makespan(), rounds(2 + 3, kSize));
}

TEST(Hardware, TakesOneTransit) {
  for (const CollectiveKind kind :
       {CollectiveKind::kBcast, CollectiveKind::kReduce, CollectiveKind::kAllreduce})
    for (const std::int32_t p : {2, 3, 16, 33})
      EXPECT_EQ(run(kind, "hardware", p).makespan(), rounds(1, kSize));
  for (const std::int32_t p : {2, 3, 16, 33})
    EXPECT_EQ(run(CollectiveKind::kBarrier, "hardware", p, 0).makespan(), kLatency);
}

/// Bytes that all members combine, if each vector arrives whole.
std::int64_t combined(CollectiveKind kind, std::string_view algorithm, std::int32_t p, std::int64_t size) {
  std::int64_t total = 0;
  const Selection selection = select(kind, algorithm);
  std::vector<std::vector<Step>> steps(static_cast<std::size_t>(p));
  for (const CollectiveCall& call : everywhere({.kind = kind, .size = bytes(size)}, p))
    append_steps(call, selection, steps[static_cast<std::size_t>(call.me)]);
  for (std::int32_t me = 0; me < p; ++me) {
    std::vector<std::size_t> next(static_cast<std::size_t>(p));  // which message from each
    for (const Step& step : steps[static_cast<std::size_t>(me)]) {
      if (step.receive_from == kNoMember) continue;
      const auto& theirs = steps[static_cast<std::size_t>(step.receive_from)];
      std::size_t& at = next[static_cast<std::size_t>(step.receive_from)];
      while (theirs[at].send_to != me) ++at;
      if (step.combines) total += count(theirs[at].size);
      ++at;
    }
  }
  return total;
}

TEST(Combining, AReductionToOneCombinesAVectorLessThanThereAre) {
  for (const Algorithm& algorithm : algorithms_of(CollectiveKind::kReduce)) {
    const std::int64_t expected = algorithm.name == "hardware" ? 0 : kSize;
    for (const std::int32_t p : {2, 3, 8, 12, 16})
      EXPECT_EQ(combined(algorithm.kind, algorithm.name, p, kSize), (p - 1) * expected)
          << algorithm.name << p;
  }
}

TEST(Combining, AReductionToAllCombinesAtLeastThatAndRecursiveDoublingEverythingEverywhere) {
  for (const Algorithm& algorithm : algorithms_of(CollectiveKind::kAllreduce)) {
    const std::int64_t bytes_combined = combined(algorithm.kind, algorithm.name, 16, kSize);
    if (algorithm.name == "hardware") {
      EXPECT_EQ(bytes_combined, 0);
    } else if (algorithm.name == "recursive_doubling" || algorithm.name == "two_level") {  // of one rank each
      EXPECT_EQ(bytes_combined, 16 * 4 * kSize);
    } else {
      EXPECT_EQ(bytes_combined, 15 * kSize) << algorithm.name;
    }
  }
}

TEST(Combining, AReduceScatterCombinesEachBlockAsOftenAsThereAreOthers) {
  for (const CollectiveKind kind : {CollectiveKind::kReduceScatterBlock, CollectiveKind::kReduceScatter}) {
    for (const Algorithm& algorithm : algorithms_of(kind)) {
      if (algorithm.name == "recursive_doubling") continue;  // combines more than once
      EXPECT_EQ(combined(kind, algorithm.name, 8, 1000), 7 * 8 * 1000) << algorithm.name;
    }
  }
}

TEST(Combining, BroadcastsAndExchangesCombineNothing) {
  for (const Algorithm& algorithm : all_algorithms()) {
    const bool exchanges =
        algorithm.kind >= CollectiveKind::kBcast && algorithm.kind <= CollectiveKind::kAlltoallv;
    if (!exchanges) continue;
    EXPECT_EQ(combined(algorithm.kind, algorithm.name, 8, 800), 0) << algorithm.name;
  }
}

// What goes over the wire

TEST(Transfers, AreWhatTheMembersSend) {
  const CollectiveCall call{.kind = CollectiveKind::kBcast, .root = 1, .size = bytes(100)};
  const Transfers all = transfers(everywhere(call, 4), select(call.kind, "binomial"));
  EXPECT_EQ(all, (Transfers{{1, 3, bytes(100)}, {1, 2, bytes(100)}, {3, 0, bytes(100)}}));
}

TEST(Transfers, HaveThePairsVolumesThatTheExecutorMoves) {
  static const LatencyBandwidth lsb{{}};
  for (const Algorithm& algorithm : algorithms_of(CollectiveKind::kAllreduce)) {
    const CollectiveCall call{.kind = algorithm.kind, .size = bytes(kSize)};
    const Selection selection = select(call.kind, algorithm.name);
    std::vector<std::int64_t> sent(11);
    for (const Transfer& t : transfers(everywhere(call, 11), selection))  // without the network's signals
      sent[static_cast<std::size_t>(t.source)] += count(t.size);
    EXPECT_EQ(sent, execute(everywhere(call, 11), selection, lsb).sent) << algorithm.name;
  }
}

}  // namespace
}  // namespace nplus1::netmodel
