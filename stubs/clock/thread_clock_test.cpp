#include "stubs/clock/thread_clock.hpp"

#include <gtest/gtest.h>

namespace nplus1::stubs {
namespace {

/// What a clock says of an interval in which its thread computes, on a simulated host so many times as slow.
struct Interval {
  Duration stopped{}, so_far{}, elapsed{};
  Time read;
};

Interval computing(const Settings& settings, Duration given) {
  ThreadClock clock;
  clock.configure(&settings);
  clock.start(kTimeZero + given);
  clock.add(given);
  constexpr std::int64_t kTicks = 1'000'000;
  for (const std::int64_t begin = ticks(); ticks() - begin < kTicks;) {
  }
  Interval all;
  all.so_far = clock.measured_so_far();
  all.elapsed = clock.elapsed();
  all.read = clock.read();
  all.stopped = clock.stop(Duration{-1}, true, ticks());
  return all;
}

/// A platform may have hosts of any speed, `--compute scale:FACTOR` a factor of a million.
TEST(ThreadClock, ComputingBeyondAllClocksIsWhatNoEventCanHave) {
  for (const bool wall : {false, true})
    for (const double scale : {1e15, 1e300})
      for (const std::int64_t given : {std::int64_t{0}, events::kLatest}) {
        Settings settings;
        settings.wall_clock = wall;
        settings.scale = scale;
        const Interval all = computing(settings, Duration{given});
        EXPECT_EQ(all.stopped, events::kBeyond);
        EXPECT_EQ(all.so_far, events::kBeyond);
        EXPECT_EQ(all.elapsed, events::kBeyond);
        EXPECT_EQ(all.read - kTimeZero, events::kBeyond);
      }
}

TEST(ThreadClock, TakesForALongTimeWhatHasRoom) {
  Settings settings;
  settings.scale = 1e6;
  const Interval all = computing(settings, Duration{});
  EXPECT_GT(all.stopped, Duration{});
  EXPECT_LT(all.stopped, events::kBeyond);
}

/// What a reading of the clock costs in the mean, nanoseconds, with computing of so many between two of them.
double cost_of_reading(ComputeMode compute, double between_ns) {
  constexpr int kReadings = 5'000;
  Settings settings;
  settings.compute = compute;
  ThreadClock clock;
  clock.configure(&settings);
  clock.start(kTimeZero);
  Time last = kTimeZero;
  double computed_ns = 0;
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t begin = ticks();
    double so_far = 0;
    while (so_far < between_ns) so_far = static_cast<double>(ticks() - begin) * nanoseconds_per_tick();
    computed_ns += so_far;
    const Time now = clock.read();
    EXPECT_GE(now, last);
    last = now;
  }
  return (seconds(last - kTimeZero) * 1e9 - computed_ns) / kReadings;
}

TEST(ThreadClock, ReadingsCostMoreAndMoreOnlyWhereNothingIsComputedBetween) {
  calibrate_ticks();
  EXPECT_LT(cost_of_reading(ComputeMode::kMeasured, 2'000), 1'500);  // a program that times its kernels
  EXPECT_GT(cost_of_reading(ComputeMode::kMeasured, 0), 5'000);      // one that waits for a time
  EXPECT_GT(cost_of_reading(ComputeMode::kFixed, 0), 5'000);
}

}  // namespace
}  // namespace nplus1::stubs
