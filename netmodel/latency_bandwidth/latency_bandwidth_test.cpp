#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"

#include <gtest/gtest.h>

#include "netmodel/testing/two_ranks.hpp"

namespace nplus1::netmodel {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(LatencyBandwidth, TakesLatencyPlusSizeOverBandwidth) {
  const auto lsb = network("lsb:latency=5us,bandwidth=1GBps");
  EXPECT_EQ(lsb->transit(kA, kB, bytes(0)), microseconds{5});
  EXPECT_EQ(lsb->transit(kA, kB, bytes(1000)), microseconds{6});
  EXPECT_EQ(lsb->transit(kA, kB, bytes(1'000'000)), microseconds{1005});
}

TEST(LatencyBandwidth, RoundsToThePicosecondOnce) {
  const auto lsb = network("lsb:latency=0.4ps,bandwidth=3e12");  // 0.4 + s/3 ps
  EXPECT_EQ(lsb->transit(kA, kB, bytes(0)), Duration{0});
  EXPECT_EQ(lsb->transit(kA, kB, bytes(1)), Duration{1});   // 0.73
  EXPECT_EQ(lsb->transit(kA, kB, bytes(10)), Duration{4});  // 3.73
}

TEST(LatencyBandwidth, KeepsFractionsOfAPicosecondPerByte) {
  const auto lsb = network("lsb:latency=0,bandwidth=3.2TB/s");  // 0.3125 ps per byte
  EXPECT_EQ(lsb->transit(kA, kB, bytes(1 << 20)), Duration{327680});
}

TEST(LatencyBandwidth, DefaultsToAMicrosecondAndTenGigabytesPerSecond) {
  const auto lsb = network("lsb");
  EXPECT_EQ(lsb->transit(kA, kB, bytes(10'000)), microseconds{2});
  EXPECT_EQ(lsb->minimum_latency(), microseconds{1});
  EXPECT_EQ(lsb->handshake(), Duration{0});
  EXPECT_TRUE(lsb->eager(bytes(std::int64_t{1} << 40)));
}

TEST(LatencyBandwidth, CostsNoCpuTimeAndKeepsNoInterfaceBusy) {
  const auto lsb = network("lsb");
  EXPECT_EQ(lsb->send_overhead(bytes(1 << 20)), Duration{0});
  EXPECT_EQ(lsb->receive_overhead(bytes(1 << 20)), Duration{0});
  EXPECT_EQ(lsb->occupancy(bytes(1 << 20)), Duration{0});
}

TEST(LatencyBandwidth, TreatsAMessageToOneselfLikeAnyOther) {
  const auto lsb = network("lsb");
  EXPECT_EQ(lsb->transit(kA, kA, bytes(777)), lsb->transit(kA, kB, bytes(777)));
}

TEST(LatencyBandwidth, SendsEagerlyUpToAndIncludingTheLimit) {
  const auto lsb = network("lsb:eager=64KiB,handshake=300ns");
  EXPECT_TRUE(lsb->eager(bytes(65536)));
  EXPECT_FALSE(lsb->eager(bytes(65537)));
  EXPECT_EQ(lsb->handshake(), nanoseconds{300});
  EXPECT_TRUE(network("lsb:eager=0")->eager(bytes(0)));
  EXPECT_FALSE(network("lsb:eager=0")->eager(bytes(1)));
}

TEST(LatencyBandwidth, CapsWhatWouldNotFitTheClock) {
  const auto lsb = network("lsb:bandwidth=1e-300");
  EXPECT_EQ(lsb->transit(kA, kB, bytes(1)), std::chrono::seconds{1'000'000});
}

}  // namespace
}  // namespace nplus1::netmodel
