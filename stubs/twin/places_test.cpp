#include "stubs/twin/places.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs::twin {
namespace {

using std::chrono::steady_clock;

constexpr double kSecond = 1e9;

/// As a new segment's: zeroes.
struct Host {
  Host() { calibrate_ticks(); }
  std::atomic<std::int64_t> places[2] = {};
  transport::Quiet quiet{};
};

TEST(Places, AreAsManyAsThereAre) {
  Host host;
  auto first = std::make_unique<Place>(host.places, kSecond);
  const Place second{host.places, kSecond}, third{host.places, kSecond};
  EXPECT_TRUE(first->is_taken());
  EXPECT_TRUE(second.is_taken());
  EXPECT_FALSE(third.is_taken());
  first.reset();
  EXPECT_TRUE(Place(host.places, kSecond).is_taken());
}

TEST(Places, OfARankThatHasDiedAreAnothersInTheEnd) {
  Host host;
  for (auto& place : host.places) place = ticks() - 1;
  EXPECT_TRUE(Place(host.places, kSecond).is_taken());
}

TEST(QuietTimes, HaveOthersWait) {
  Host host;
  EXPECT_FALSE(stand_aside(host.quiet));
  std::atomic<bool> over{false}, was_over{false};
  std::thread other;
  {
    const QuietTime quiet{&host.quiet};
    std::atomic<bool> begun{false};
    other = std::thread{[&] {
      begun = true;
      EXPECT_TRUE(stand_aside(host.quiet));
      was_over = over.load();
    }};
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
    over = true;
  }
  other.join();
  EXPECT_TRUE(was_over);
  EXPECT_FALSE(stand_aside(host.quiet));
}

TEST(QuietTimes, OfSeveralTwinsLastUntilTheLastOfThem) {
  Host host;
  auto first = std::make_unique<QuietTime>(&host.quiet);
  const QuietTime second{&host.quiet};
  first.reset();
  EXPECT_GT(host.quiet.until[1], ticks());
  EXPECT_EQ(host.quiet.until[0], 0);
}

/// Its twin would have ended long before that.
TEST(QuietTimes, OfARankThatHasDiedAreOverInAMoment) {
  Host host;
  const auto until = ticks() + static_cast<std::int64_t>(5e6 / nanoseconds_per_tick());
  host.quiet.until[3] = until;
  EXPECT_TRUE(stand_aside(host.quiet));
  EXPECT_GE(ticks(), until);
  EXPECT_FALSE(stand_aside(host.quiet));
}

TEST(QuietTimes, CostAsMuchMoreAsThereAreCoresThatWait) {
  Host host;
  EXPECT_EQ(QuietTime{nullptr}.cost_ns(100, 64), 100);
  EXPECT_EQ(QuietTime{&host.quiet}.cost_ns(100, 1), 100);
  EXPECT_EQ(QuietTime{&host.quiet}.cost_ns(100, 2), 100);
  EXPECT_EQ(QuietTime{&host.quiet}.cost_ns(100, 64), 3200);
}

}  // namespace
}  // namespace nplus1::stubs::twin
