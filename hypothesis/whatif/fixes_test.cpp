#include "hypothesis/whatif/fixes.hpp"

#include <gtest/gtest.h>

namespace nplus1::hypothesis {
namespace {

Fix fix(std::string kind, std::string what, double saved, std::string subject = "",
        std::vector<std::uint32_t> sites = {}) {
  Fix f;
  f.kind = std::move(kind);
  f.what = std::move(what);
  f.saved_s = saved;
  f.subject = std::move(subject);
  f.sites = std::move(sites);
  f.finished = true;
  return f;
}

std::vector<std::string> leaders(std::vector<Fix> fixes) {
  sort_by_problem(fixes);
  std::vector<std::string> names;
  for (const Fix& f : fixes)
    if (f.leads) names.push_back(f.what);
  return names;
}

using Names = std::vector<std::string>;

TEST(Fixes, AProblemIsNamedOnceByItsBestChange) {
  EXPECT_EQ(leaders({fix("balance", "all", 5.0), fix("balance", "all each time", 5.2),
                     fix("balance", "a.c:1", 4.9, "a.c:1"), fix("balance", "a.c:1 each time", 5.1, "a.c:1"),
                     fix("replace", "reduce", 2, "", {3}), fix("replace", "bcast", 3, "", {3}),
                     fix("nonblocking", "together", 1, "", {3, 4})}),
            (Names{"a.c:1 each time", "bcast"}));
}

TEST(Fixes, TwoPlacesOfUnevenComputingAreTwoProblems) {
  EXPECT_EQ(leaders({fix("balance", "all", 5.0), fix("balance", "a.c:1", 3, "a.c:1"),
                     fix("balance", "b.c:1", 2, "b.c:1")}),
            (Names{"a.c:1", "b.c:1"}));
}

TEST(Fixes, ComputingThatIsEvenedOnlyAsAWholeIsNamedAsAWhole) {
  EXPECT_EQ(leaders({fix("balance", "all", 5.0), fix("balance", "a.c:1", 1, "a.c:1"),
                     fix("balance", "b.c:1", 2, "b.c:1")}),
            (Names{"all"}));
}

TEST(Fixes, WhatContentsProveIsNamedBeforeWhatSavesAsMuch) {
  EXPECT_EQ(leaders({fix("replace", "guess", 3.01, "", {3}), fix("by_hand", "proved", 3, "", {3})}),
            (Names{"proved"}));
  EXPECT_EQ(leaders({fix("replace", "guess", 4, "", {3}), fix("by_hand", "proved", 3, "", {3})}),
            (Names{"guess"}));
}

TEST(Fixes, ACollectiveThatNothingShowsToBeOneLeadsOnlyWhereNothingElseHelps) {
  Fix guess = fix("replace", "guess", 9, "", {3});
  guess.assumes = true;
  EXPECT_EQ(leaders({guess, fix("by_hand", "shown", 1, "", {3})}), (Names{"shown"}));
  EXPECT_EQ(leaders({guess, fix("by_hand", "shown", 0, "", {3})}), (Names{"guess"}));
  EXPECT_EQ(leaders({guess, fix("by_hand", "shown", 1, "", {3}), fix("replace", "bcast", 2, "", {3})}),
            (Names{"bcast"}));
  EXPECT_EQ(leaders({guess, fix("exchange", "hardly", 0.1, "", {3})}), (Names{"guess"}));
}

Fix told_apart(Fix f, double systematic) {
  f.systematic_s = systematic;
  return f;
}

TEST(Fixes, WhatComesAndGoesDoesNotCount) {
  EXPECT_EQ(leaders({told_apart(fix("balance", "noise", 9), 0.5), fix("replace", "bcast", 2, "", {3})}),
            (Names{"bcast", "noise"}));
  // Evened each time saves more, and nothing more of what is there every time: the simpler change leads.
  EXPECT_EQ(leaders({told_apart(fix("balance", "over the run", 3), 2),
                     told_apart(fix("balance", "each time", 9), 2)}),
            (Names{"over the run"}));
}

TEST(Fixes, TheSystematicPartIsWhatBalancingTheSteadyRunSavesAndNoMore) {
  const auto ms = [](double time) { return from_seconds(1e-3 * time); };
  EXPECT_DOUBLE_EQ(systematic_part(0.030, ms(90), ms(70)), 0.020);
  EXPECT_DOUBLE_EQ(systematic_part(0.010, ms(90), ms(70)), 0.010);
  EXPECT_EQ(systematic_part(0.030, ms(70), ms(71)), 0);
  EXPECT_EQ(systematic_part(-0.001, ms(90), ms(70)), 0);
}

TEST(Fixes, WhatStandsStillHasNoTimeToCompare) {
  EXPECT_TRUE(comes_as_far({true, 100}, {true, 100}, false));
  EXPECT_TRUE(comes_as_far({true, 90}, {true, 100}, false));  // calls are gone, all ranks end
  EXPECT_FALSE(comes_as_far({false, 90}, {true, 100}, false));
  EXPECT_TRUE(comes_as_far({false, 90}, {false, 100}, false));  // nor did the run
  EXPECT_TRUE(comes_as_far({false, 1000}, {false, 1000}, true));
  EXPECT_FALSE(comes_as_far({false, 998}, {false, 1000}, true));
}

TEST(Fixes, BoundsAndReplaysThatDoNotEndAreNoAdvice) {
  Fix bound = fix("messages", "not sent", 9, "", {3});
  bound.bound = true;
  Fix stuck = fix("replace", "stuck", 8, "", {4});
  stuck.finished = false;
  std::vector<Fix> all{bound, stuck, fix("replace", "bcast", 1, "", {3}), fix("balance", "all", 2)};
  sort_by_problem(all);
  EXPECT_EQ(all[0].what, "all");
  EXPECT_EQ(all[1].what, "bcast");
  EXPECT_EQ(all[2].what, "not sent");
  EXPECT_EQ(all[2].problem, 0U);
  EXPECT_EQ(leaders(all), (Names{"all", "bcast"}));
}

TEST(Fixes, AlgorithmsOfOneOperationAreOneProblem) {
  EXPECT_EQ(leaders({fix("collectives", "MPI bcast by the algorithm a", 1, "bcast"),
                     fix("collectives", "MPI bcast by the algorithm b", 2, "bcast"),
                     fix("collectives", "MPI reduce by the algorithm a", 1.5, "reduce")}),
            (Names{"MPI bcast by the algorithm b", "MPI reduce by the algorithm a"}));
}

}  // namespace
}  // namespace nplus1::hypothesis
