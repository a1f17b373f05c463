#include "hypothesis/clock/told.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nplus1::hypothesis::clock {
namespace {

TEST(Runs, HaveInCommonWhatBothDoAsOften) {
  ToldByRun run, other;
  run[{1, 2, 8}] = {{}, {}, 100, 3e9};
  run[{2, 1, 8}] = {{}, {}, 100, 1e9};
  EXPECT_EQ(share_in_common(run, other), 0);
  other[{1, 2, 8}] = {{}, {}, 110, 9e9};
  EXPECT_EQ(share_in_common(run, other), 0.75);
  other[{2, 1, 8}] = {{}, {}, 111, 1e9};
  EXPECT_EQ(share_in_common(run, other), 0.75);
  other[{2, 1, 8}].count = 90;
  EXPECT_EQ(share_in_common(run, other), 1);
}

/// What a run tells of a kind whose stretches take `time` on all ranks, and were recorded twice as long.
ToldOfKind told(double time, int samples) {
  ToldOfKind told;
  for (int i = 0; i < samples; ++i)
    told.measured.push_back({{0, 0, static_cast<float>(std::log(2 * time))}, std::log(time)});
  for (std::uint32_t r = 0; r < 4; ++r)
    told.recorded.push_back({r, 0, static_cast<float>(std::log(2 * time))});
  return told;
}

TEST(Runs, AreJoinedAtThePaceOfTheFastestQuarter) {
  const ToldOfKind slow = told(14e6, 5), fast = told(10e6, 5);
  const Joined joined = join({&slow, &fast, &slow, &slow});
  EXPECT_NEAR(joined.pace, 1, 1e-6);  // one of four may be too short
  EXPECT_NEAR(join({&slow, &fast}).pace, 10.0 / 14, 1e-6);
  const Joined three = join({&slow, &fast, &fast, &slow});
  EXPECT_NEAR(three.pace, 10.0 / 14, 1e-6);
  EXPECT_NEAR(three.pace_of_twins, 10.0 / 14, 1e-6);
  for (const Measured& m : three.measured) EXPECT_NEAR(m.log_warm, std::log(10e6), 1e-6);
  for (const Recorded& r : three.recorded) EXPECT_NEAR(r.log_time, std::log(20e6), 1e-5);
}

TEST(Runs, WithFewTwinsGoAtThePaceOfWhatWasRecorded) {
  const ToldOfKind slow = told(14e6, 2), fast = told(10e6, 5);
  EXPECT_NEAR(join({&slow, &fast, &fast}).pace_of_twins, 10.0 / 14, 1e-6);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
