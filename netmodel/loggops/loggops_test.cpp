#include "netmodel/loggops/loggops.hpp"

#include <gtest/gtest.h>

#include <random>

#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"
#include "netmodel/testing/two_ranks.hpp"

namespace nplus1::netmodel {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(LogGops, ChargesEachParameterWhereItBelongs) {
  const auto model = network("loggops:L=3us,o=1us,g=2us,G=1ns,O=0.5ns,S=64KiB");
  EXPECT_EQ(model->send_overhead(bytes(1000)), nanoseconds{1500});
  EXPECT_EQ(model->receive_overhead(bytes(1000)), nanoseconds{1500});
  EXPECT_EQ(model->transit(kA, kB, bytes(1000)), microseconds{4});
  EXPECT_EQ(model->minimum_latency(), microseconds{3});
}

TEST(LogGops, KeepsTheInterfaceBusyForTheLargerOfBothGaps) {
  const auto model = network("loggops:g=2us,G=1ns");
  EXPECT_EQ(model->occupancy(bytes(1000)), microseconds{2});
  EXPECT_EQ(model->occupancy(bytes(2000)), microseconds{2});
  EXPECT_EQ(model->occupancy(bytes(3000)), microseconds{3});
}

TEST(LogGops, SendsEagerlyUpToAndIncludingS) {
  const auto model = network("loggops:S=1000");
  EXPECT_TRUE(model->eager(bytes(1000)));
  EXPECT_FALSE(model->eager(bytes(1001)));
  EXPECT_TRUE(network("loggops")->eager(bytes(std::int64_t{1} << 40)));
}

TEST(LogGops, KeepsFractionsOfANanosecondPerByte) {
  // 100 Gbit/s is 0.08 ns per byte, which integer nanoseconds would turn into nothing.
  const auto model = network("loggops:L=0,G=0.08ns");
  EXPECT_EQ(model->transit(kA, kB, bytes(1)), Duration{80});
  EXPECT_EQ(model->transit(kA, kB, bytes(1'000'000)), microseconds{80});
}

/// Without overheads and gap, transit() must equal L + s/B to the last picosecond.
void expect_reduces(double latency, double bandwidth, double gap_per_byte) {
  LogGops::Parameters p;
  p.latency = latency;
  p.gap_per_byte = gap_per_byte;
  const LogGops loggops{p};
  const LatencyBandwidth lsb{{.latency = latency, .bandwidth = bandwidth}};
  std::mt19937_64 random{7};
  for (int i = 0; i < 10000; ++i) {
    const Bytes size = bytes(static_cast<std::int64_t>(random() >> (random() % 40 + 24)));
    EXPECT_EQ(loggops.transit(kA, kB, size), lsb.transit(kA, kB, size)) << count(size) << " at " << bandwidth;
    EXPECT_EQ(loggops.send_overhead(size) + loggops.receive_overhead(size), Duration{0});
  }
  EXPECT_EQ(loggops.minimum_latency(), lsb.minimum_latency());
}

TEST(LogGops, ReducesToLatencyAndBandwidthWithoutOverheadsAndGap) {
  expect_reduces(1e-6, 10e9, 1e-10);
  expect_reduces(1.5e-6, 12.5e9, 8e-11);
  expect_reduces(0, 1e9, 1e-9);
  expect_reduces(2e-6, 8589934592.0, 1.0 / 8589934592.0);
}

TEST(LogGops, DefaultsToTheDefaultsOfLatencyAndBandwidth) {
  const auto loggops = network("loggops");
  const auto lsb = network("lsb");
  for (const std::int64_t size : {0, 1, 1000, 1 << 20}) {
    EXPECT_EQ(loggops->transit(kA, kB, bytes(size)), lsb->transit(kA, kB, bytes(size)));
  }
}

}  // namespace
}  // namespace nplus1::netmodel
