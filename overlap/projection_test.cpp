#include "overlap/projection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "events/limits.hpp"
#include "overlap/phases.hpp"
#include "overlap/testing/program.hpp"

namespace nplus1::overlap {
namespace {

ProjectedRun run_of(double n) {
  ProjectedRun run{"run", n, 4, 1e-3 + 1e-9 * n * n, {}, {}};
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

TEST(OverlapProjection, WhatWasRecomputedStandsInThePlaceOfTheFit) {
  std::vector<ProjectedRun> runs;
  for (const double n : {64, 128, 256, 512, 1024}) runs.push_back(run_of(n));
  Recomputed again;
  again.best = {0.5, {{"a", 0.4}}};
  again.least = {0.4, {{"a", 0.35}}};
  again.most = {0.6, {{"a", 0.4}}};
  const Projection p = project(runs, 8192, 4, again);
  EXPECT_DOUBLE_EQ(p.time_s, 0.5);
  ASSERT_EQ(p.chains[0].id, "a");
  EXPECT_NEAR(p.chains[0].saving_s, 0.1, 1e-12);
  EXPECT_NEAR(p.chains[0].share, 0.2, 1e-12);
  ASSERT_TRUE(p.chains[0].recomputed);
  EXPECT_NEAR(p.chains[0].recomputed->least, 0.05, 1e-12);
  EXPECT_NEAR(p.chains[0].recomputed->most, 0.2, 1e-12);
  EXPECT_NE(projection_text(p).find("saving, recomputed"), std::string::npos);
}

TEST(OverlapProjection, RunsThatMakeOtherCallsAreNotPutIntoEachOther) {
  ProjectedRun few = run_of(64), many = run_of(128);
  few.phases = {{1, {5e6, 4000, 10, false}}, {2, {1e6, 0, 10, true}}};
  many.phases = {{1, {10e6, 8000, 10, false}}};
  std::string why;
  const std::vector<ProjectedRun> runs{few, many};  // the basis refers to their phases
  const auto basis = basis_of(runs, 4, why);
  ASSERT_TRUE(basis) << why;
  EXPECT_EQ(basis->run, 1U);
  const Scales scales = scales_at(basis->phases, many.phases, 256, Estimate::kBest);
  EXPECT_NEAR(scales.at(1).computing, 2, 1e-3);
  EXPECT_NEAR(scales.at(1).bytes, 2, 1e-3);
  many.phases[1].count = 11;
  EXPECT_FALSE(basis_of({few, many}, 4, why));
  EXPECT_EQ(why, "the runs make different numbers of calls");
  EXPECT_FALSE(basis_of({few, many}, 8, why));
  EXPECT_EQ(why, "fewer than two sizes were run on 8 ranks");
}

TEST(OverlapProjection, WhatGrowsBeyondAllLimitsIsWhatNoEventCanHave) {
  OverlapProgram program{2};
  program.compute(0, 5);
  program.send(0, 1, 1000);
  program.record();
  program.survey();
  const auto survey = std::make_shared<Survey>(program.surveyed());
  PhaseSums sums{*survey};
  ASSERT_TRUE(program.play()(sums, false).ok());
  const auto scales = std::make_shared<Scales>();
  for (const auto& [place, phase] : sums.phases()) (*scales)[place] = {1e300, 1e300};

  struct : events::EventSink {
    void on_event(const events::TimedEvent& timed) override { events.push_back(timed.event); }
    std::vector<events::Event> events;
  } changed;
  const auto stage = scaled(survey, scales);
  stage->begin(changed);
  ASSERT_TRUE(program.play()(*stage, false).ok());
  const auto send = std::find_if(changed.events.begin(), changed.events.end(),
                                 [](const events::Event& e) { return e.kind == events::EventKind::kSend; });
  ASSERT_NE(send, changed.events.end());
  EXPECT_EQ(send->compute(), events::kBeyond);
  EXPECT_EQ(send->size, events::kMostBytes);
}

TEST(OverlapProjection, SaysThatTwoSizesAreFew) {
  const Projection p = project({run_of(64), run_of(128)}, 1024, 4);
  ASSERT_FALSE(p.warnings.empty());
  EXPECT_NE(p.warnings[0].find("fewer than 5 sizes"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::overlap
