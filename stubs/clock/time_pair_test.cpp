#include "stubs/clock/time_pair.hpp"

#include <gtest/gtest.h>

namespace nplus1::stubs {
namespace {

constexpr double kNsPerTick = 0.4;
constexpr std::int64_t kOverNs = 2'000'000, kLostNs = 5'000'000;

/// A process that loses its core for 5 ms before its n-th look at a clock.
class Host {
 public:
  explicit Host(int lost_before) : lost_before_{lost_before} {}
  Reading operator()() {
    Reading reading;
    reading.tick_before = tick();
    reading.ns = now();
    reading.tick_behind = tick();
    return reading;
  }
  [[nodiscard]] int looks() const { return looks_; }

 private:
  std::int64_t now() {
    if (looks_++ == lost_before_) now_ns_ += kLostNs;
    return now_ns_ += 500;
  }
  std::int64_t tick() { return static_cast<std::int64_t>(static_cast<double>(now()) / kNsPerTick); }

  int lost_before_, looks_ = 0;
  std::int64_t now_ns_ = 1'000'000'000;
};

TEST(TimePair, TheRateIsThatOfTheCounterWhereverTheCoreIsLost) {
  Host undisturbed{-1};
  EXPECT_NEAR(rate_of(undisturbed, kOverNs) / kNsPerTick, 1, 1e-3);
  const int all = undisturbed.looks();
  ASSERT_GT(all, 1000);
  for (int look = 0; look < all; ++look) {
    Host host{look};
    ASSERT_NEAR(rate_of(host, kOverNs) / kNsPerTick, 1, 1e-3) << look;
  }
}

TEST(TimePair, IsWithinTheShortestReading) {
  for (int look = 0; look < 12; ++look) {
    Host host{look};
    const TimePair pair = time_pair_of(host);
    EXPECT_NEAR(static_cast<double>(pair.ns), kNsPerTick * static_cast<double>(pair.tick), 501) << look;
  }
}

}  // namespace
}  // namespace nplus1::stubs
