// Round trips of made-up clocks whose offset and drift are known: theirs = (1 + drift) t + offset at our t.
#include "guidelines/mpi/clock_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nplus1::guidelines {
namespace {

constexpr double kFastest = 2e-6;  // seconds one way

struct OtherClock {
  double offset, drift;
  [[nodiscard]] double at(double t) const { return t + offset + drift * t; }
};

RoundTrip round_trip(const OtherClock& clock, double sent, double there, double back) {
  return {sent, clock.at(sent + there), sent + there + back};
}

/// `n` round trips from `begin` on; each way takes longer by what an exponential distribution says.
std::vector<RoundTrip> noisy(const OtherClock& clock, double begin, int n, std::mt19937& random) {
  std::exponential_distribution<double> delay{1 / 5e-6};
  std::vector<RoundTrip> trips;
  for (int i = 0; i < n; ++i) {
    trips.push_back(round_trip(clock, begin, kFastest + delay(random), kFastest + delay(random)));
    begin = trips.back().received;
  }
  return trips;
}

TEST(ClockModel, EqualWaysGiveTheOffsetExactly) {
  const OtherClock clock{-3.25, 0};
  const ClockOffset offset = offset_of({round_trip(clock, 10, 4e-6, 4e-6)});
  EXPECT_NEAR(offset.offset, -3.25, 1e-12);
  EXPECT_NEAR(offset.local, 10 + 4e-6, 1e-12);
}

TEST(ClockModel, TheShortestRoundTripCountsAndItsErrorIsAtMostHalfOfIt) {
  const OtherClock clock{7, 0};
  const RoundTrip one_sided = round_trip(clock, 1, 0, 8e-6), slow = round_trip(clock, 2, 9e-6, 1e-3);
  const ClockOffset offset = offset_of({slow, one_sided, slow});
  EXPECT_NEAR(offset.local, 1 + 4e-6, 1e-12);
  EXPECT_NEAR(std::abs(offset.offset - 7), 4e-6, 1e-12);  // the worst case: all of the time one way
}

TEST(ClockModel, ALineThroughExactOffsetsIsThatLine) {
  std::vector<ClockOffset> points;
  for (const double t : {100.0, 101.0, 103.0, 110.0}) points.push_back({t, 5 + 2e-5 * t});
  const ClockModel model = fit(points);
  EXPECT_NEAR(model.drift, 2e-5, 1e-12);
  for (const double t : {90.0, 100.0, 1000.0}) EXPECT_NEAR(model.global(t), t + 5 + 2e-5 * t, 1e-9);
}

TEST(ClockModel, OnePointHasNoDrift) {
  EXPECT_EQ(fit({{3, 0.5}}).drift, 0);
  EXPECT_DOUBLE_EQ(fit({{3, 0.5}}).global(8), 8.5);
}

TEST(ClockModel, ASlopeThatMayBeNoiseIsNoDrift) {
  EXPECT_EQ(fit({{0, 1.0}, {1, 1.3}, {2, 0.9}, {3, 1.2}}).drift, 0);
}

/// The offsets that clock.cpp takes: `n` of 20 round trips each, `apart` seconds between.
std::vector<ClockOffset> looks(const OtherClock& clock, double begin, int n, double apart,
                               std::mt19937& random) {
  std::vector<ClockOffset> offsets;
  for (int i = 0; i < n; ++i) offsets.push_back(offset_of(noisy(clock, begin + apart * i, 20, random)));
  return offsets;
}

// The shortest of 20 is off by less than a microsecond, the mean of many by much less; over 5 s that leaves
// the drift an error of some 1e-7.
TEST(ClockModel, OffsetAndDriftAreRecoveredFromNoisyRoundTrips) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random{seed};
    const OtherClock clock{1000.0 * seed - 20000, 1e-5 * (static_cast<double>(seed % 5) - 2)};
    const ClockModel model = fit(looks(clock, 50, 100, 0.05, random));
    EXPECT_NEAR(model.drift, clock.drift, 5e-7) << "seed " << seed;
    for (const double t : {50.0, 52.5, 55.0, 55.05}) {
      EXPECT_NEAR(model.global(t), clock.at(t), 1e-6) << "seed " << seed << " at " << t;
    }
  }
}

// Ten looks within 10 ms say nothing of a drift: what they seem to say must not be extrapolated.
TEST(ClockModel, AShortLookAtEqualClocksStaysRightForAMinute) {
  int right = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random{seed};
    const ClockModel model = fit(looks({4, 0}, 7, 10, 1e-3, random));
    right += std::abs(model.global(67) - 71) < 1e-6 ? 1 : 0;
  }
  EXPECT_GE(right, 90);  // three standard errors with 8 degrees of freedom: 98.3 % on average
}

}  // namespace
}  // namespace nplus1::guidelines
