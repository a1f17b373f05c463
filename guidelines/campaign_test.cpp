#include "guidelines/campaign.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

Catalogue scans_and_gathers() {
  Catalogue catalogue;
  catalogue.guidelines = {{"Gather", "Gather_with_Allgather", "", "pgmpi", {8, 64}},
                          {"Gather", "Gather_with_Reduce", "", "pgmpi", {64}},
                          {"Scan", "", "", "pgmpi", {1}}};
  return catalogue;
}

std::vector<std::string> names(const Cell& cell) {
  std::vector<std::string> names;
  for (const TimedTest& test : cell.tests) names.push_back(test.name);
  return names;
}

Look look(const std::string& test, std::uint64_t size, int repetitions, double mean) {
  return {test, size, 0, repetitions, {}, mean, true};
}

TEST(Campaign, PutsAnOriginalAndItsMockUpsOfOneSizeTogether) {
  const auto cells = cells_of(scans_and_gathers(), true);
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(names(cells[0]), (std::vector<std::string>{"Gather", "Gather_with_Allgather", "Gather_again"}));
  EXPECT_EQ(names(cells[1]), (std::vector<std::string>{"Gather", "Gather_with_Allgather",
                                                       "Gather_with_Reduce", "Gather_again"}));
  EXPECT_EQ(cells[1].tests.back().function, "Gather");
  EXPECT_EQ(names(cells[2]), (std::vector<std::string>{"Scan", "Scan_again"}));
  EXPECT_EQ(piece_name(4, cells[2]), "4 Scan 1");
}

TEST(Campaign, TakesTheLongestOfAllPredictionsOfAllTests) {
  Needs needs;
  add_looks(needs, {look("Gather", 8, 10, 1), look("Gather", 8, 50, 1), look("Gather", 8, 25, 1),
                    look("Gather_with_Allgather", 8, 95, 1)});
  auto cells = cells_of(scans_and_gathers(), false);
  const Allotment allotment = allot(cells, needs, 10, 1e9, 10);
  EXPECT_EQ(cells[0].repetitions, 95);
  EXPECT_EQ(cells[1].repetitions, 10);  // nothing was predicted
  EXPECT_EQ(allotment.factor, 1);
  EXPECT_EQ(allotment.wanted, 10 * 95 * 2 * 2.0);  // two tests of 1 s, each with its synchronisation
}

TEST(Campaign, CutsAllRepetitionsAlikeWhenTheBudgetIsShort) {
  Needs needs;
  add_looks(needs, {look("Gather", 8, 100, 1), look("Scan", 1, 200, 0)});
  auto cells = cells_of(scans_and_gathers(), false);
  EXPECT_EQ(allot(cells, needs, 1, 50, 10).factor, 0.25);
  EXPECT_EQ(cells[0].repetitions, 25);
  EXPECT_EQ(cells[2].repetitions, 50);
  EXPECT_LT(allot(cells, needs, 1, 0.01, 10).factor, 1);
  EXPECT_EQ(cells[0].repetitions, 10);  // never below the least
}

TEST(Campaign, TellsWhatTheLeastTakesWhateverTheBudgetIs) {
  Needs needs;
  add_looks(needs, {look("Gather", 8, 100, 1), look("Scan", 1, 200, 0)});
  auto cells = cells_of(scans_and_gathers(), false);
  EXPECT_EQ(allot(cells, needs, 3, 0.01, 10).least, 3 * 10 * 2.0);  // 1 s, with its synchronisation
}

TEST(Campaign, TellsWhatThePredictionsRepetitionsTook) {
  // Each look is of the whole series so far.
  EXPECT_EQ(measured_seconds({look("Gather", 8, 10, 1), look("Gather", 8, 25, 1), look("Scan", 1, 10, 0)}),
            25 * 2.0);
}

TEST(Campaign, ReadsItsLooksBack) {
  Look unfinished = look("Scan", 64, 25, 1.5e-6);
  unfinished.metrics.rse = 0.125;
  unfinished.enough = false;
  const auto read =
      read_looks(looks_head() + looks_rows({unfinished, look("Scan", 8, 50, 2e-6)}) + "# done -1 Scan 8\n");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].test, "Scan");
  EXPECT_EQ(read[0].metrics.rse, 0.125);
  EXPECT_FALSE(read[0].metrics.cov_mean);
  EXPECT_FALSE(read[0].enough);
  EXPECT_EQ(read[1].repetitions, 50);
  EXPECT_EQ(looks_rows(read), looks_rows({unfinished, look("Scan", 8, 50, 2e-6)}));
  for (const char* line :
       {"Scan,x,0,25,,,,1e-6,1", "Scan,8,0,99999999999,,,,1e-6,1", "Scan,8,0,25,,,,soon,1"})
    EXPECT_TRUE(read_looks(looks_head() + line + "\n").empty()) << line;
}

}  // namespace
}  // namespace nplus1::guidelines
