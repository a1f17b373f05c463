#include "overlap/projection.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace nplus1::overlap {
namespace {

ProjectedRun run_of(double n) {
  ProjectedRun run{"run", n, 4, 1e-3 + 1e-9 * n * n, {}};
  run.chains["a"] = {"MPI_Sendrecv at halo.c:72", 100, 4 * n, 2e-9 * n, 5e-9 * n * n, 1e-4 + 8e-7 * n};
  run.chains["b"] = {"MPI_Recv at halo.c:9", 1, 8, 0, 0, 0};
  return run;
}

TEST(OverlapProjection, ExtrapolatesTheRunAndItsSavings) {
  std::vector<ProjectedRun> runs;
  for (const double n : {64, 128, 256, 512, 1024}) runs.push_back(run_of(n));
  runs.back().chains.erase("b");  // in no finding any more
  const Projection p = project(runs, 8192, 4);
  ASSERT_EQ(p.chains.size(), 1U);
  EXPECT_NEAR(p.time.value, 1e-3 + 1e-9 * 8192 * 8192, 1e-3 * p.time.value);
  const Quantity& saving = p.chains[0].quantities.front();
  EXPECT_NEAR(saving.value, 1e-4 + 8e-7 * 8192, 1e-3 * saving.value);
  EXPECT_FALSE(saving.fit.others.empty());
  EXPECT_LE(saving.spread.least, saving.value);
  EXPECT_GE(saving.spread.most, saving.value);
  EXPECT_NEAR(p.chains[0].share, saving.value / p.time.value, 1e-12);
  EXPECT_TRUE(p.warnings.empty());
  EXPECT_EQ(nlohmann::json::parse(projection_json(p))["chains"][0]["id"], "a");
  EXPECT_NE(projection_text(p).find("or "), std::string::npos);
}

TEST(OverlapProjection, SaysThatTwoSizesAreFew) {
  const Projection p = project({run_of(64), run_of(128)}, 1024, 4);
  ASSERT_FALSE(p.warnings.empty());
  EXPECT_NE(p.warnings[0].find("fewer than 5 sizes"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::overlap
