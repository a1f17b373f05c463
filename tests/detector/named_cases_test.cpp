// Exchanges that were taken for what they are not, and operations that were overlooked, each on its own.
#include <gtest/gtest.h>

#include <array>

#include "tests/detector/live_world.hpp"
#include "tests/detector/planted.hpp"
#include "tests/detector/score.hpp"

namespace nplus1::tests {
namespace {

using detector::Certainty;
using detector::Finding;

std::vector<Finding> played(int ranks, World::Type type, Values values,
                            const std::function<void(Play&)>& program) {
  RandomProgram p;
  p.ranks = ranks;
  p.type = type;
  p.play = [&](World& w) {
    Play y{w, Dice{static_cast<std::uint64_t>(ranks)}, values};
    program(y);
  };
  return findings_of(p);
}

std::vector<Finding> sure(std::vector<Finding> found) {
  std::erase_if(found, [](const Finding& f) { return f.certainty == Certainty::kPossible; });
  return found;
}

/// The algorithm, so many times on all ranks.
std::vector<Finding> planted(const std::string& kind, const std::string& algorithm, const std::string& op,
                             int ranks, World::Type type, std::int64_t length, bool uneven = false,
                             int count = 5, bool rotating = false) {
  const bool reduces = !op.empty();
  for (const Algorithm& a : reduces ? combining(kind) : moving(kind)) {
    if (a.name != algorithm) continue;
    return played(ranks, type, Values::kMany, [&](Play& y) {
      std::vector<int> all(static_cast<std::size_t>(ranks));
      std::iota(all.begin(), all.end(), 0);
      for (int k = 0; k < count; ++k) {
        Planted o{y, all, rotating ? k % ranks : 0, length, uneven, op};
        y.site = 10;
        for (const int r : all) y.draw(r, Planted::kVector, o.all());
        if (!reduces)
          for (const int r : all) y.draw(r, Planted::kSpare, o.all());
        a.run(o);
      }
    });
  }
  ADD_FAILURE() << kind << " " << algorithm;
  return {};
}

std::string text(const std::vector<Finding>& found) {
  return collectives_text(found, detector::Detail::kAll);
}

void expect_one(const std::vector<Finding>& found, const std::string& kind, const std::string& op,
                std::uint64_t count) {
  const auto above = sure(found);
  ASSERT_EQ(above.size(), 1U) << text(found);
  EXPECT_EQ(detector::name(above[0].kind), kind) << text(found);
  EXPECT_EQ(above[0].operation ? detector::name(*above[0].operation) : "", op) << text(found);
  EXPECT_EQ(above[0].count, count) << text(found);
}

TEST(NoCollective, IsAHaloOnAPeriodicGridOfThreeTimesThree) {
  for (int round = 1; round <= 5; ++round) {
    const auto found = played(9, World::Type::kDouble, Values::kMany, [&](Play& y) {
      for (int k = 0; k < round; ++k) {
        std::vector<Send> sends;
        for (int r = 0; r < 9; ++r) {
          const int row = r / 3;
          const int column = r % 3;
          const std::array to{(row + 2) % 3 * 3 + column, (row + 1) % 3 * 3 + column,
                              row * 3 + (column + 2) % 3, row * 3 + (column + 1) % 3};
          for (int d = 0; d < 4; ++d) {
            y.draw(r, 10 * d, 10);
            sends.push_back({r, 10 * d, 10, to[static_cast<std::size_t>(d)], 100 + 10 * (d ^ 1)});
          }
        }
        y.dice.shuffle(sends);
        y.at_once(sends);
      }
    });
    EXPECT_TRUE(sure(found).empty()) << text(found);
  }
}

TEST(NoCollective, IsASparseExchangeWithOthersEachTime) {
  for (const int ranks : {12, 16})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto found = played(ranks, World::Type::kDouble, Values::kMany, [&](Play& y) {
        y.dice = Dice{seed};
        for (int k = 0; k < 3; ++k) {
          std::vector<Send> sends;
          std::vector<std::int64_t> in(static_cast<std::size_t>(ranks), 5000);
          for (int r = 0; r < ranks; ++r)
            for (int to = 0, n = 0; to < ranks; ++to) {
              if (to == r || !y.dice.chance(0.5)) continue;
              y.draw(r, 8 * n, 8);
              std::int64_t& into = in[static_cast<std::size_t>(to)];
              sends.push_back({r, 8 * n++, 8, to, into});
              into += 8;
            }
          y.at_once(sends);
        }
      });
      EXPECT_TRUE(sure(found).empty()) << text(found);
    }
}

TEST(NoCollective, IsAShiftOfMostlyZeros) {
  for (const int ranks : {4, 5, 8})
    for (std::int64_t length : {1, 3, 20}) {
      const auto found = played(ranks, World::Type::kDouble, Values::kMostlyZero, [&](Play& y) {
        for (int k = 0; k < 6; ++k)
          for (int r = 0; r + 1 < ranks; ++r) {
            y.draw(r, 0, length);
            y.send({r, 0, length, r + 1, 100});
          }
      });
      EXPECT_TRUE(sure(found).empty()) << text(found);
    }
}

TEST(Sums, AreNeverLargestNumbers) {
  for (const int ranks : {4, 6, 8})
    for (const auto type : {World::Type::kInt64, World::Type::kDouble})
      for (const char* algorithm : {"gather, combine, bcast", "tree and bcast", "binomial and bcast"})
        for (const Finding& f : sure(planted("allreduce", algorithm, "sum", ranks, type, 10, false, 20)))
          EXPECT_TRUE(!f.operation || f.operation == detector::Operation::kSum) << algorithm << "\n"
                                                                                << text({f});
}

TEST(RingAllreduce, IsFoundForIntegersDoublesAndFloatsWithUnevenChunks) {
  for (const auto type :
       {World::Type::kInt32, World::Type::kInt64, World::Type::kDouble, World::Type::kFloat})
    for (const bool uneven : {false, true})
      for (const int ranks : {3, 4, 7, 12})
        expect_one(planted("allreduce", "ring", "sum", ranks, type, 20, uneven), "allreduce", "sum", 5);
}

/// baidu-allreduce's own test begins with vectors of no elements.
TEST(RingAllreduce, IsFoundWhereNowAndThenThereIsNothingToReduce) {
  for (const int ranks : {4, 5}) {
    const auto found = played(ranks, World::Type::kFloat, Values::kMany, [&](Play& y) {
      std::vector<int> all(static_cast<std::size_t>(ranks));
      std::iota(all.begin(), all.end(), 0);
      for (int k = 0; k < 24; ++k)
        for (const Algorithm& a : combining("allreduce")) {
          if (a.name != "ring") continue;
          Planted o{y, all, 0, k < 10 || k == 17 ? 0 : 20, false, "sum"};
          y.site = 10;
          for (const int r : all) y.draw(r, Planted::kVector, o.all());
          a.run(o);
        }
    });
    expect_one(found, "allreduce", "sum", 24);
  }
}

/// The same data each time: its broadcasts are one each, with repetitions, and no allgather.
TEST(RingAllgather, IsFoundWhereNowAndThenThereIsNothingToGather) {
  constexpr int kRanks = 4;
  const auto found = played(kRanks, World::Type::kInt64, Values::kMany, [&](Play& y) {
    for (int r = 0; r < kRanks; ++r) y.draw(r, std::int64_t{10} * r, 10);
    for (int k = 0; k < 12; ++k)
      for (int step = 0; step + 1 < kRanks; ++step) {
        std::vector<Send> sends;
        for (int r = 0; r < kRanks; ++r) {
          const std::int64_t block = std::int64_t{10} * ((r - step + kRanks) % kRanks);
          sends.push_back({r, block, k < 3 ? 0 : 10, (r + 1) % kRanks, block});
        }
        y.at_once(sends, step);
      }
  });
  expect_one(found, "allgather", "", 12);
}

/// Vectors of which the ranks have equal parts, and others of which they do not.
TEST(RingAllgather, IsFoundWhereBlocksAreNowEvenAndNowNot) {
  constexpr int kRanks = 4;
  const auto found = sure(played(kRanks, World::Type::kInt64, Values::kMany, [&](Play& y) {
    for (int r = 0; r < kRanks; ++r) y.draw(r, std::int64_t{10} * r, 10);
    for (int k = 0; k < 12; ++k)
      for (int step = 0; step + 1 < kRanks; ++step) {
        std::vector<Send> sends;
        for (int r = 0; r < kRanks; ++r) {
          const int block = (r - step + kRanks) % kRanks;
          const std::int64_t at = std::int64_t{10} * block;
          sends.push_back({r, at, k % 2 == 0 ? 10 : 6 + block, (r + 1) % kRanks, at});
        }
        y.at_once(sends, step);
      }
  }));
  ASSERT_EQ(found.size(), 2U) << text(found);
  for (const Finding& f : found) {
    EXPECT_TRUE(f.kind == CollectiveKind::kAllgather || f.kind == CollectiveKind::kAllgatherv) << text(found);
    EXPECT_EQ(f.count, 6U) << text(found);
  }
}

/// Of an alltoall by hand, many loops go over all ranks, their own among them.
TEST(Alltoalls, AreFoundWhereRanksSendTheirOwnBlockToo) {
  for (const int ranks : {4, 5, 8})
    for (const int tag : {0, 1, 2}) {
      const auto found = played(ranks, World::Type::kDouble, Values::kMany, [&](Play& y) {
        for (int k = 0; k < 4; ++k) {
          std::vector<Send> sends;
          for (int r = 0; r < ranks; ++r) {
            y.draw(r, Planted::kVector, std::int64_t{10} * ranks);
            for (int b = 0; b < ranks; ++b)
              sends.push_back({r, Planted::kVector + 10 * b, 10, b, Planted::kSpare + 10 * r});
          }
          y.at_once(sends, tag);
        }
      });
      expect_one(found, "alltoall", "", 4);
    }
}

TEST(LargestNumbers, AreFoundUpAChainAndTrees) {
  for (const auto type : {World::Type::kInt32, World::Type::kDouble})
    for (const char* op : {"max", "min"})
      for (const char* algorithm : {"chain", "binomial tree", "binary tree"})
        expect_one(planted("reduce", algorithm, op, 8, type, 10, false, 8), "reduce", op, 8);
}

TEST(LargestNumbers, AreFoundUpAndDownATree) {
  for (const char* op : {"max", "min"})
    for (const char* algorithm : {"tree and bcast", "binomial and bcast"})
      expect_one(planted("allreduce", algorithm, op, 8, World::Type::kDouble, 10, false, 8), "allreduce", op,
                 8);
}

TEST(Barriers, OfOneByteAreProvedByTheirCauses) {
  for (const char* algorithm : {"tree", "central"}) {
    const auto found = played(6, World::Type::kByte, Values::kSame, [&](Play& y) {
      for (int k = 0; k < 3; ++k)
        for (const Algorithm& a : moving("barrier")) {
          if (a.name != algorithm) continue;
          Planted o{y, {0, 1, 2, 3, 4, 5}, 0, 2, false, ""};
          a.run(o);
        }
    });
    expect_one(found, "barrier", "", 3);
  }
}

/// Once among three or four ranks messages close a circle by accident; three times among four they don't.
TEST(Barriers, AreCertainIfTheyAreManyEnough) {
  const auto barriers = [](const char* algorithm, int ranks, int times) {
    return planted("barrier", algorithm, "", ranks, World::Type::kByte, 1, false, times);
  };
  for (const char* algorithm : {"tree", "central"}) {
    EXPECT_TRUE(sure(barriers(algorithm, 3, 1)).empty());
    EXPECT_TRUE(sure(barriers(algorithm, 4, 1)).empty());
    for (const auto& [ranks, times, certainty] :
         {std::tuple{3, 3, Certainty::kProbable}, {4, 3, Certainty::kCertain}, {8, 1, Certainty::kCertain}}) {
      const auto found = barriers(algorithm, ranks, times);
      expect_one(found, "barrier", "", static_cast<std::uint64_t>(times));
      EXPECT_EQ(found[0].certainty, certainty) << ranks;
    }
  }
  const auto found = barriers("dissemination", 4, 3);
  expect_one(found, "barrier", "", 3);
  EXPECT_EQ(found[0].certainty, Certainty::kCertain);
  EXPECT_TRUE(sure(barriers("dissemination", 3, 8)).empty());
}

/// Each rank in turn is asked by all others, with empty messages.
TEST(Barriers, AreNotQuestionsToEverybody) {
  const auto found = sure(planted("bcast", "work queue", "", 7, World::Type::kFloat, 79, false, 7, true));
  expect_one(found, "bcast", "", 7);
}

TEST(Barriers, AreNotFlagsThatChange) {
  const auto found = played(6, World::Type::kByte, Values::kSame, [&](Play& y) {
    for (int k = 0; k < 3; ++k)
      for (const Algorithm& a : moving("barrier")) {
        if (a.name != "tree") continue;
        for (int r = 0; r < 6; ++r) y.w.put(r, 0, k == 2 ? 1 : 0);
        Planted o{y, {0, 1, 2, 3, 4, 5}, 0, 2, false, ""};
        a.run(o);
      }
  });
  EXPECT_TRUE(sure(found).empty()) << text(found);
}

TEST(Scatters, AreFoundThroughATreeThatRepacks) {
  for (const auto type : {World::Type::kInt32, World::Type::kDouble})
    for (const int ranks : {8, 11}) {
      const auto found = sure(planted("scatter", "repacked tree", "", ranks, type, 20));
      ASSERT_EQ(found.size(), 1U) << text(found);
      EXPECT_EQ(found[0].kind, CollectiveKind::kScatter);
      EXPECT_EQ(found[0].ranks.size(), static_cast<std::size_t>(ranks));
    }
}

TEST(Trees, AreToldApartWhereTheirRootIsAnotherRankEachTime) {
  for (const char* kind : {"gather", "scatter"})
    for (const char* algorithm : {"binomial tree", "repacked tree"})
      for (const int ranks : {5, 8, 11}) {
        const auto found =
            sure(planted(kind, algorithm, "", ranks, World::Type::kDouble, 20, false, 4, true));
        expect_one(found, kind, "", 4);
        EXPECT_EQ(found[0].ranks.size(), static_cast<std::size_t>(ranks));
        EXPECT_EQ(found[0].roots, (std::vector<std::int32_t>{0, 1, 2, 3}));
      }
}

/// Where one block is a constant, it is nobody's data, but belongs to the vector.
TEST(Scatters, DoNotLeaveOutWhoGetsAConstant) {
  const auto found = played(8, World::Type::kDouble, Values::kMany, [&](Play& y) {
    for (const Algorithm& a : moving("scatter")) {
      if (a.name != "binomial tree") continue;
      Planted o{y, {0, 1, 2, 3, 4, 5, 6, 7}, 0, 10, false, ""};
      y.draw(0, Planted::kVector, o.all());
      for (std::int64_t i = 10; i < 20; ++i) y.w.put(0, i, 0);
      a.run(o);
    }
  });
  EXPECT_TRUE(sure(found).empty()) << text(found);
}

/// One bit for each of the other two: they are all the neighbours that there are.
TEST(ThreeRanks, AllGetWhatGoesToBothNeighbours) {
  for (const int times : {1, 3, 8}) {
    const auto found = planted("bcast", "linear", "", 3, World::Type::kDouble, 20, false, times, true);
    if (times == 8)
      expect_one(found, "bcast", "", 8);
    else
      EXPECT_TRUE(sure(found).empty()) << text(found);
  }
}

/// Three ranks whose buffers all lie apart, by as much as they are long, have no vectors with room for their own block.
TEST(ThreeRanks, DoNotKeepBlocksBetweenBuffersThatAllLieApart) {
  const auto found = played(3, World::Type::kInt32, Values::kMany, [](Play& y) {
    for (int k = 0; k < 6; ++k) {
      std::vector<Send> sends;
      for (int r = 0; r < 3; ++r)
        for (int i = 0; i < 2; ++i) {
          y.draw(r, 6 * i, 3);
          const int to = (r + 1 + (i + r) % 2) % 3;
          sends.push_back({r, 6 * (to > (r + 2) % 3 || to > (r + 1) % 3), 3, to,
                           100 + 6 * (r > (to + 2) % 3 || r > (to + 1) % 3)});
        }
      y.at_once(sends);
    }
  });
  EXPECT_TRUE(sure(found).empty()) << text(found);
}

TEST(Sorting, LetsANumberWanderAmongFewRanks) {
  const auto found = played(4, World::Type::kInt64, Values::kMany, [](Play& y) {
    for (int r = 0; r < 4; ++r) y.w.put(r, 0, 70001 + 12345 * ((5 - r) % 4));
    for (int k = 0; k < 4; ++k)
      for (int r = k % 2; r + 1 < 4; r += 2) {
        y.at_once({{r, 0, 1, r + 1, 100}, {r + 1, 0, 1, r, 100}});
        const double a = y.w.get(r, 0);
        const double b = y.w.get(r + 1, 0);
        y.w.put(r, 0, std::min(a, b));
        y.w.put(r + 1, 0, std::max(a, b));
      }
  });
  EXPECT_TRUE(sure(found).empty()) << text(found);
}

/// 0.5 and 1: the larger of them is their product as often as not.
TEST(LargestNumbers, OfSimpleOnesAreNoProducts) {
  for (const int ranks : {6, 11}) {
    const auto found = played(ranks, World::Type::kDouble, Values::kFew, [&](Play& y) {
      for (const Algorithm& a : combining("reduce_scatter")) {
        std::vector<int> all(static_cast<std::size_t>(ranks));
        std::iota(all.begin(), all.end(), 0);
        Planted o{y, all, 0, 40, false, "max"};
        for (const int r : all) y.draw(r, Planted::kVector, o.all());
        a.run(o);
      }
    });
    for (const Finding& f : sure(found))
      EXPECT_NE(f.operation, std::optional{detector::Operation::kProd}) << text(found);
  }
}

/// Of many single numbers hardly any is larger than all before it.
TEST(LargestNumbers, GoRoundLongRings) {
  for (const int ranks : {13, 17})
    for (const char* op : {"max", "min"}) {
      const auto found =
          sure(planted("reduce_scatter", "ring", op, ranks, World::Type::kDouble, 1, false, 4));
      ASSERT_EQ(found.size(), 1U) << text(found);
      EXPECT_EQ(found[0].kind, CollectiveKind::kReduceScatterBlock);
      expect_one(sure(planted("allreduce", "ring", op, ranks, World::Type::kDouble, 40, false, 2)),
                 "allreduce", op, 2);
    }
}

/// Where most numbers are 0, sums and largest numbers are the same.
TEST(Sums, OfMostlyZerosAreNotTakenForLargestNumbers) {
  for (const int ranks : {8, 17}) {
    const auto found = played(ranks, World::Type::kInt64, Values::kMostlyZero, [&](Play& y) {
      std::vector<int> all(static_cast<std::size_t>(ranks));
      std::iota(all.begin(), all.end(), 0);
      for (int k = 0; k < 6; ++k)
        for (const Algorithm& a : combining("reduce")) {
          if (a.name != "chain") continue;
          Planted o{y, all, 0, 20, false, "sum"};
          for (const int r : all) y.draw(r, Planted::kVector, o.all());
          a.run(o);
        }
    });
    for (const Finding& f : sure(found))
      EXPECT_NE(f.operation, std::optional{detector::Operation::kMax}) << text(found);
  }
}

/// Of positive numbers, of which the root's own is never seen, a sum up a tree may as well be the largest one. What the root
/// then tells everybody is a broadcast for certain.
TEST(Broadcasts, OfWhatMayHaveBeenReducedAreFound) {
  constexpr std::int64_t kOwn = 0, kOther = 50, kResult = 20;
  for (const int ranks : {4, 8}) {
    const auto found = sure(played(ranks, World::Type::kDouble, Values::kMany, [&](Play& y) {
      for (int k = 0; k < 20; ++k) {
        for (int r = 0; r < ranks; ++r) y.w.put(r, kOwn, 1000 + 100 * y.dice.real());
        for (int m = 1; m < ranks; m *= 2)
          for (int r = 0; r + m < ranks; r += 2 * m) {
            y.w.send(r + m, kOwn, 1, r, kOther, {.site = 1});
            y.w.put(r, kOwn, y.w.get(r, kOwn) + y.w.get(r, kOther));
          }
        y.w.copy(0, kResult, kOwn, 1);
        for (int r = 1; r < ranks; ++r) y.w.send(0, kResult, 1, r, kResult, {.site = 2});
      }
    }));
    expect_one(found, "bcast", "", 20);
  }
}

TEST(Broadcasts, FromAWorkQueueReachEverybody) {
  for (const int ranks : {5, 6, 9}) {
    const auto found = sure(planted("bcast", "work queue", "", ranks, World::Type::kDouble, 10, false, 4));
    expect_one(found, "bcast", "", 4);
    EXPECT_EQ(found[0].ranks.size(), static_cast<std::size_t>(ranks));
  }
}

/// The first example of a broadcast in many tutorials: rank 0 sends 100 to everybody, once. Any of them could have known.
TEST(Constants, ThatOneRankTellsAllOthersAreAPossibleBroadcast) {
  for (const int ranks : {3, 6, 16}) {
    const auto found = played(ranks, World::Type::kInt32, Values::kSame, [&](Play& y) {
      y.w.put(0, 0, 100);
      for (int r = 1; r < ranks; ++r) y.send({0, 0, 1, r, 0});
    });
    ASSERT_EQ(found.size(), 1U) << ranks;
    EXPECT_EQ(found[0].kind, CollectiveKind::kBcast) << text(found);
    EXPECT_EQ(found[0].certainty, Certainty::kPossible) << text(found);
    EXPECT_EQ(found[0].roots, std::vector<std::int32_t>{0}) << text(found);
  }
}

TEST(Constants, OfSeveralPlacesOrForSomeOnlyAreNoBroadcast) {
  const auto found = played(6, World::Type::kInt32, Values::kSame, [&](Play& y) {
    for (int at = 0; at < 6; ++at) y.w.put(0, at, 100);
    for (int r = 1; r < 6; ++r) y.send({0, r, 1, r, 0});  // each from a place of its own
  });
  EXPECT_TRUE(found.empty()) << text(found);
}

/// NPB CG's sums in the rows of a grid, by recursive doubling: called from two places, 25 times and 375.
TEST(Rows, OfAGridAreOneFindingWithAllThatWasCalledFromTwoPlaces) {
  const auto found = played(16, World::Type::kDouble, Values::kMany, [&](Play& y) {
    for (const int site : {50, 51}) y.w.name_site(site, {"cg.f:1273", site == 50 ? "cg.f:389" : "cg.f:491"});
    double size = 1;
    for (int outer = 0; outer < 16; ++outer) {
      y.site = outer == 0 ? 50 : 51;
      size = 1;
      for (int inner = 0; inner < 25; ++inner, size *= 1e-3) {  // the residual shrinks
        for (int r = 0; r < 16; ++r) y.w.put(r, 0, size * y.dice.real());
        for (const int m : {1, 2}) {
          std::vector<Send> sends;
          for (int r = 0; r < 16; ++r) sends.push_back({r, 0, 1, r ^ m, 1});
          y.at_once(sends, m);
          for (int r = 0; r < 16; ++r) y.w.put(r, 0, y.w.get(r, 0) + y.w.get(r, 1));
        }
      }
    }
  });
  const auto above = sure(found);
  ASSERT_EQ(above.size(), 1U) << text(found);
  EXPECT_EQ(above[0].groups.size(), 4U) << text(found);
  EXPECT_EQ(above[0].count, 4U * 400) << text(found);
  EXPECT_EQ(above[0].callers, (std::vector<std::string>{"cg.f:389", "cg.f:491"}));
  EXPECT_NE(above[0].replacement.find("rank / 4"), std::string::npos);
  EXPECT_NE(text(above).find("4 groups of ranks: 0-3; 4-7; 8-11; 12-15"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::tests
