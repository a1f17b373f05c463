#include "hypothesis/transform/steady.hpp"

#include <functional>

#include "hypothesis/testing/program.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Ends = std::vector<double>;

/// Each of `steps` steps: rank r computes time(r, step) us, then a barrier of 1 us.
TestProgram steps_of(std::int32_t ranks, std::int32_t steps,
                     const std::function<std::int64_t(std::int32_t, std::int32_t)>& time) {
  TestProgram program{static_cast<std::size_t>(ranks)};
  for (std::int32_t k = 0; k < steps; ++k)
    for (std::int32_t r = 0; r < ranks; ++r) {
      program.line(r, 10);
      program.compute(r, time(r, k));
      program.collective(r, CollectiveKind::kBarrier);
    }
  program.record();
  return program;
}

/// When the last rank ends.
double end(const Ends& ends) {
  return *std::max_element(ends.begin(), ends.end());
}

// The first interval is of another kind (nothing before it) and happens once: left as it was.
TEST(Steady, WhatARankHasEveryTimeStays) {
  auto program = steps_of(2, 21, [](std::int32_t r, std::int32_t) { return r == 0 ? 10 : 30; });
  EXPECT_EQ(program.replayed({{"steady", "all"}}), program.replayed({}));
}

TEST(Steady, WhatAStepHasEveryTimeStays) {
  auto program = steps_of(2, 21, [](std::int32_t, std::int32_t k) { return 10 + k; });
  EXPECT_EQ(program.replayed({{"steady", "all"}}), program.replayed({}));
}

// Two ranks take turns at 30 us and 10 us. As recorded each step takes 30 us and the barrier's 1; steady, 20 and 1.
TEST(Steady, WhatComesAndGoesIsGone) {
  auto program = steps_of(2, 21, [](std::int32_t r, std::int32_t k) { return r == k % 2 ? 30 : 10; });
  const double before = end(program.replayed({}));
  const double after = end(program.replayed({{"steady", "all"}}));
  EXPECT_DOUBLE_EQ(before - after, 20 * 10);  // the first step stays
}

// Rank 0 has 4 us more every time, and the ranks take turns at 8 more: steps take 112 and 108 us as recorded, 108 steady,
// 106 evenly. The barrier takes a microsecond more where another rank is last than the step before, and where both
// come at once. The first step is as recorded.
TEST(Steady, TheTwoPartsAddUpToWhatBalancingSaves) {
  auto program = steps_of(
      2, 41, [](std::int32_t r, std::int32_t k) { return 100 + (r == 0 ? 4 : 0) + (r == k % 2 ? 8 : 0); });
  const double before = end(program.replayed({}));
  const double steady = end(program.replayed({{"steady", "all"}}));
  const double both = end(program.replayed({{"steady", "all"}, {"balance", "per=interval"}}));
  EXPECT_NEAR(both, end(program.replayed({{"balance", "per=interval"}})), 0.001);
  EXPECT_NEAR(before - steady, 40 * (110 + 1 - 108), 1.5);
  EXPECT_NEAR(steady - both, 40 * (108 - 106 - 1) + (112 - 106 - 1), 1.5);
}

TEST(Steady, OnlyTheComputingThatIsNamedIsTouched) {
  auto program = steps_of(2, 21, [](std::int32_t r, std::int32_t k) { return r == k % 2 ? 30 : 10; });
  EXPECT_EQ(program.replayed({{"steady", "after=f10,before=program.c:10,ranks=0"}}), program.replayed({}));
}

TEST(Steady, ComputingThatIsNotThereIsAnError) {
  auto program = steps_of(2, 3, [](std::int32_t, std::int32_t) { return 1; });
  EXPECT_NE(program.refused({{"steady", "region=nowhere"}}).find("about no computing"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
