// For how long ranks have been awake, and stretches that stay cold.
#include "hypothesis/clock/awake.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "hypothesis/clock/stretches.hpp"
#include "hypothesis/clock/two_places.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// A rank that computes, and calls, in real time.
class RankInTime {
 public:
  /// Computes for `us`, in `passed_us`; the call then takes `call_us`.
  events::Detail computes(double us, double passed_us, double call_us) {
    events::Detail detail;
    detail.wall_before_ns = now_ns_;
    detail.wall_entry_ns = now_ns_ + std::llround(passed_us * 1e3);
    now_ns_ = detail.wall_entry_ns + std::llround(call_us * 1e3);
    event_.compute_ps = std::llround(us * 1e6);
    return detail;
  }
  [[nodiscard]] const events::Event& event() const { return event_; }

 private:
  events::Event event_;
  std::int64_t now_ns_ = 1'000'000;
};

TEST(Awake, UntilItSleepsOrLosesItsCore) {
  Awake awake;
  RankInTime rank;
  const auto after = [&](double us, double passed_us, double call_us) {
    const events::Detail detail = rank.computes(us, passed_us, call_us);
    return awake.before(RankId{0}, rank.event(), &detail) / kMicrosecond;
  };
  EXPECT_EQ(after(100, 100, 2), 0);
  EXPECT_EQ(after(50, 50, 2), 100);
  EXPECT_EQ(after(10, 11, 40), 150);
  EXPECT_EQ(after(30, 30, 1), 0) << "it slept";
  EXPECT_EQ(after(30, 30, 1), 30);
  EXPECT_EQ(after(30, 400, 1), 0) << "its core was taken away";
  EXPECT_EQ(after(30, 30, 1), 0);
  EXPECT_EQ(after(30, 30, 1), 30);
}

TEST(Awake, IsNotKnownWithoutRealTimes) {
  Awake awake;
  RankInTime rank;
  for (int i = 0; i < 3; ++i) {
    (void)rank.computes(100, 100, 1);
    EXPECT_EQ(awake.before(RankId{0}, rank.event(), nullptr), 0);
  }
}

/// All of `recorded_us`; twins, which repeat one of them, took 13. Calls take `call_us`. `shared`: others had a part of most cores.
double warm_us(double call_us, double recorded_us = 45, bool shared = false) {
  std::vector<Sample> samples;
  for (int i = 0; i < 8; ++i)
    samples.push_back({RankId{i % kRanks}, static_cast<std::uint64_t>(11 + 2 * i),
                       Duration{std::llround(13 * kMicrosecond)}});
  for (Sample& sample : samples) sample.twins_core = {Duration{400'000}, Duration{200'000}};
  for (std::uint64_t i = 0; shared && i < 32; ++i)
    samples.push_back({RankId{0}, 100 + i, {}, false, {}, {Duration{400'000}, Duration{280'000}}});
  Stretches stretches{samples};
  std::mt19937 random{5};
  std::uniform_real_distribution<double> scatter{1, 1.1};
  for (int r = 0; r < kRanks; ++r) {
    RankInTime rank;
    for (int s = 0; s < kSteps; ++s) {
      const double us = recorded_us * scatter(random);
      const events::Detail detail = rank.computes(us, us, call_us);
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s), event_of(s, us * kMicrosecond), &detail);
    }
  }
  stretches.fit();
  for (const KindReport& k : stretches.report()) EXPECT_FALSE(k.by_data);  // the host's part is still in it
  Follower follower;
  (void)follower.before(RankId{3}, event_of(0, 0));
  return stretches.warm(follower.before(RankId{3}, event_of(1, 0)), RankId{3}, 1000,
                        1.04 * recorded_us * kMicrosecond) /
         kMicrosecond;
}

TEST(StretchesThatStayCold, TakeWhatWasRecordedWhereTheirRankHadLongBeenAwake) {
  EXPECT_NEAR(warm_us(2), 47, 1);
}

TEST(StretchesThatStayCold, AreNotKnownWhereRanksSleepInEachCall) {
  EXPECT_NEAR(warm_us(200), 13, 0.5);
}

/// Behind each call that sleeps 45 us, of which twins took 13; then 600 us; then, while the rank is awake, 45 us that no twin has measured.
/// `call_us`: what the other two calls take.
double warm_us_without_samples(double call_us) {
  constexpr double kSleepUs = 200;
  constexpr std::uint32_t kPlaces = 3;
  const auto event = [](int step, double us) {
    events::Event e = event_of(0, us * kMicrosecond);
    e.site = CallSiteId{1 + static_cast<std::uint32_t>(step) % kPlaces};
    return e;
  };
  std::vector<Sample> samples;
  for (int i = 0; i < 16; ++i)
    samples.push_back({RankId{i % kRanks}, static_cast<std::uint64_t>(3 * (4 + i)),
                       Duration{std::llround(13 * kMicrosecond)}});
  Stretches stretches{samples};
  std::mt19937 random{5};
  std::uniform_real_distribution<double> scatter{1, 1.1};
  for (int r = 0; r < kRanks; ++r) {
    RankInTime rank;
    for (int s = 0; s < 3 * kSteps; ++s) {
      const double us = (s % 3 == 1 ? 600 : 45) * scatter(random);
      const events::Detail detail = rank.computes(us, us, s % 3 == 2 ? kSleepUs : call_us);
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s), event(s, us), &detail);
    }
  }
  stretches.fit();
  Follower follower;
  for (int s = 0; s < 2; ++s) (void)follower.before(RankId{3}, event(s, 0));
  return stretches.warm(follower.before(RankId{3}, event(2, 0)), RankId{3}, 2, 47 * kMicrosecond) /
         kMicrosecond;
}

TEST(StretchesWithoutSamples, AreNotShorterThanThoseThatNobodyHasCooled) {
  EXPECT_NEAR(warm_us_without_samples(2), 45.5, 1);
  EXPECT_LT(warm_us_without_samples(200), 30);
}

/// As much longer as sharing a core makes them.
TEST(StretchesThatStayCold, AreNotThoseThatSharedTheirCores) {
  EXPECT_NEAR(warm_us(2, 18.6, false), 19.4, 0.5);
  EXPECT_NEAR(warm_us(2, 18.6, true), 13, 0.5);
  EXPECT_NEAR(warm_us(2, 45, true), 47, 1);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
