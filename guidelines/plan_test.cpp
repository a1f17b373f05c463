#include "guidelines/plan.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

TEST(Plan, IsReadBackAsItWasWritten) {
  Plan plan;
  plan.mpirun = 7;
  plan.sync = Sync::kRoundTime;
  plan.window = 0.1 + 0.2;
  plan.criteria.cov_mean.reset();
  plan.criteria.cov_median = 0.005;
  plan.criteria.most = 95;
  plan.cells = {{"Reduce", 1024, 25, {{"Reduce", "Reduce", 1, 1024}, {"Reduce_split", "Reduce", 4, 256}}},
                {"Scan", 8, 0, {}}};
  const ParsedPlan read = parse_plan(plan_text(plan));
  EXPECT_EQ(read.fault, "");
  EXPECT_EQ(plan_text(read.plan), plan_text(plan));
  EXPECT_EQ(read.plan.window, plan.window);
  EXPECT_FALSE(read.plan.criteria.cov_mean);
  EXPECT_EQ(read.plan.cells[0].tests[1].calls, 4);
}

TEST(Plan, NamesTheLineItDoesNotUnderstand) {
  EXPECT_EQ(parse_plan("mpirun 1\nsync sundial\n").fault, "line 2 means nothing: sync sundial");
  EXPECT_EQ(parse_plan("test Scan Scan 1 8\n").fault, "line 1 means nothing: test Scan Scan 1 8");
  EXPECT_EQ(parse_plan("cell Scan\n").fault, "line 1 means nothing: cell Scan");
}

}  // namespace
}  // namespace nplus1::guidelines
