// Placements on a row of places, where the best one is known.
#include "hypothesis/whatif/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nplus1::hypothesis {
namespace {

/// `n` places in a row; each neighbouring pair is joined by a link each way: 2 i to the right, 2 i + 1 to the left.
PlacementProblem row(std::size_t n) {
  PlacementProblem problem;
  problem.n = n;
  problem.sent.resize(n);
  problem.ways.resize(n * n);
  problem.seconds_per_byte.assign(2 * n, 1e-9);
  for (std::uint32_t from = 0; from < n; ++from)
    for (std::uint32_t to = 0; to < n; ++to)
      for (std::uint32_t at = from; at != to; at += to > at ? 1 : ~0U)
        problem.ways[from * n + to].push_back(to > at ? 2 * at : 2 * (at - 1) + 1);
  return problem;
}

bool is_permutation_of_places(Placement placement) {
  std::ranges::sort(placement);
  return placement == as_it_is(placement.size());
}

/// A chain of ranks in a scrambled numbering: rank i talks to i + 3, modulo 8.
PlacementProblem scrambled_chain() {
  PlacementProblem problem = row(8);
  for (std::uint32_t i = 0; i < 7; ++i) problem.sent[i * 3 % 8].push_back({(i + 1) * 3 % 8, 1000});
  return problem;
}

TEST(Placement, BytesAreCountedOnEachLinkTheyCross) {
  PlacementProblem problem = row(4);
  problem.sent[0] = {{3, 100}, {1, 10}};
  EXPECT_DOUBLE_EQ(hop_bytes(problem, as_it_is(4)), 310);
  EXPECT_DOUBLE_EQ(hop_bytes(problem, {0, 3, 2, 1}), 130);
}

TEST(Placement, UnevennessIsTheSumOfSquaresOfTheTimesOfLinks) {
  PlacementProblem problem = row(3);
  problem.sent[0] = {{2, 1000}};
  problem.sent[1] = {{2, 1000}};
  EXPECT_DOUBLE_EQ(unevenness(problem, as_it_is(3)), 1e-12 + 4e-12);
}

/// The best is 7000, each pair neighbours; swaps alone do not always find it.
TEST(Placement, AChainIsLaidOutAlmostInARow) {
  const PlacementProblem problem = scrambled_chain();
  EXPECT_DOUBLE_EQ(hop_bytes(problem, as_it_is(8)), 25000);
  const Placement found = improved(problem, greedy(problem), Measure::kHopBytes);
  EXPECT_TRUE(is_permutation_of_places(found));
  EXPECT_LE(hop_bytes(problem, found), 11000);
}

TEST(Placement, ImprovementNeverMakesWorse) {
  for (const Measure measure : {Measure::kHopBytes, Measure::kUnevenness}) {
    const PlacementProblem problem = scrambled_chain();
    const auto value = [&](const Placement& p) {
      return measure == Measure::kHopBytes ? hop_bytes(problem, p) : unevenness(problem, p);
    };
    for (const std::uint64_t most : {0U, 1U, 10U, 1000U}) {
      const Placement found = improved(problem, as_it_is(8), measure, most);
      EXPECT_TRUE(is_permutation_of_places(found));
      EXPECT_LE(value(found), value(as_it_is(8)));
    }
  }
}

TEST(Placement, RanksThatFillOneLinkAreSpread) {
  PlacementProblem problem = row(6);  // 0 to 3, 1 to 4, 2 to 5 all cross the middle
  for (std::uint32_t r = 0; r < 3; ++r) problem.sent[r] = {{r + 3, 1000}};
  const Placement found = improved(problem, greedy(problem), Measure::kUnevenness);
  EXPECT_DOUBLE_EQ(unevenness(problem, found), 3e-12);  // three links, once each
}

}  // namespace
}  // namespace nplus1::hypothesis
