#include "guidelines/follow_up.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

Comparison violation(Rule rule, const std::string& original, Side left, Side right) {
  Comparison c;
  c.rule = rule;
  c.original = original;
  c.processes = 4;
  c.left = std::move(left);
  c.right = std::move(right);
  c.verdict = Verdict::kViolated;
  return c;
}

Side side(const std::string& test, std::uint64_t size, std::uint64_t calls = 1) {
  Side side;
  side.test = test;
  side.size = size;
  side.calls = calls;
  return side;
}

TEST(FollowUp, MeasuresWhatDecidesEachKindOfViolation) {
  Analysis analysis;
  analysis.comparisons = {
      violation(Rule::kPattern, "Scan", side("Scan", 8), side("Scan_with_Exscan_Reduce_local", 8)),
      violation(Rule::kSplit, "Scan", side("Scan", 2000), side("Scan", 1024, 2)),
      violation(Rule::kMonotony, "Bcast", side("Bcast", 512), side("Bcast", 1024)),
      violation(Rule::kMonotony, "Scan", side("Scan", 8), side("Scan", 64))};
  analysis.comparisons.push_back(analysis.comparisons[0]);
  analysis.comparisons.back().original = "Reduce";
  analysis.comparisons.back().verdict = Verdict::kOpen;
  Data data;
  data.native[{4, "Scan", 8}] = {{0, 1}, {1, 1}, {}, 100, 0};
  const auto cells = confirmation_cells(analysis, data, 20);
  ASSERT_EQ(cells.size(), 5U);
  EXPECT_EQ(cells[0].original, "Scan");
  EXPECT_EQ(cells[0].repetitions, 50);
  ASSERT_EQ(cells[0].tests.size(), 2U);
  EXPECT_EQ(cells[0].tests[1].name, "Scan_with_Exscan_Reduce_local");
  EXPECT_EQ(cells[1].size, 2000U);
  EXPECT_EQ(cells[1].repetitions, 20);
  EXPECT_EQ(cells[1].tests[1].name, "Scan_split_2x1024");
  EXPECT_EQ(cells[1].tests[1].calls, 2);
  EXPECT_EQ(cells[1].tests[1].size, 1024U);
  EXPECT_EQ(cells[2].size, 512U);
  EXPECT_EQ(cells[3].size, 1024U);
  EXPECT_EQ(cells[4].size, 64U);
}

}  // namespace
}  // namespace nplus1::guidelines
