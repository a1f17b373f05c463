#include "calibrate/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "netmodel/network_model.hpp"

namespace nplus1::calibrate {
namespace {

template <class Time>
std::vector<Sample> sampled(Time time, double most = 4 << 20) {
  std::vector<Sample> samples;
  for (double size = 1; size <= most; size *= 2) {
    for (const double s : {size, 1.5 * size})
      if (s == std::floor(s) && s <= most) samples.push_back({s, time(s), 0, 0});
  }
  return samples;
}

Measurements measured(double latency, double per_byte, double overhead, double limit) {
  Measurements m;
  m.half_round_trip = sampled([=](double s) { return latency + s * per_byte; });
  m.send = sampled([=](double) { return overhead; });
  m.gap = sampled([=](double) { return 2 * overhead; }, 65536);
  m.eager = sampled([=](double s) { return s <= limit ? 1.0 : 0.0; });
  return m;
}

TEST(Fit, RecoversLatencyAndBandwidthOfAnExactLine) {
  const Fit f = fit(measured(1.5e-6, 1e-10, 2e-7, 8192));
  EXPECT_NEAR(f.whole.a, 1.5e-6, 1e-15);
  EXPECT_NEAR(f.whole.b, 1e-10, 1e-19);
  EXPECT_EQ(f.pieces.size(), 1U);
}

TEST(Fit, RecoversTheParametersOfLogGops) {
  const LogGopsFit f = fit(measured(1.5e-6, 1e-10, 2e-7, 8192)).loggops;
  EXPECT_NEAR(f.latency, 1.1e-6, 1e-15);  // L = half a round trip - 2 o
  EXPECT_NEAR(f.overhead, 2e-7, 1e-15);
  EXPECT_NEAR(f.gap, 4e-7, 1e-15);
  EXPECT_NEAR(f.gap_per_byte, 1e-10, 1e-19);
  EXPECT_EQ(f.eager_limit, 8192);
}

TEST(Fit, RecoversBothParametersUnderNoiseOfFivePercent) {
  std::mt19937 random{7};
  std::normal_distribution<double> noise{1, 0.05};
  Measurements m = measured(1.5e-6, 1e-10, 2e-7, 8192);
  for (Sample& sample : m.half_round_trip) sample.median *= noise(random);
  const Fit f = fit(m);
  EXPECT_NEAR(f.whole.a, 1.5e-6, 0.05 * 1.5e-6);
  EXPECT_NEAR(f.whole.b, 1e-10, 0.05 * 1e-10);
}

TEST(Fit, FindsWhereTheProtocolChanges) {
  Measurements m;
  const auto time = [](double s) { return s < 16384 ? 5e-7 + s * 3e-10 : 4e-6 + s * 1e-10; };
  m.half_round_trip = sampled(time);
  const Fit f = fit(m);
  ASSERT_EQ(f.pieces.size(), 2U);
  EXPECT_EQ(f.pieces[1].from, 16384);
  EXPECT_NEAR(f.pieces[0].line.a, 5e-7, 1e-15);
  EXPECT_NEAR(f.pieces[1].line.b, 1e-10, 1e-19);
  for (const Sample& s : held_back_sizes(m.half_round_trip))
    EXPECT_NEAR(time_at(f.pieces, s.size) / s.median, 1, 0.01) << s.size;
}

TEST(Fit, NeverGivesNegativeParameters) {
  Measurements m;
  m.half_round_trip = sampled([](double s) { return 1e-6 / (1 + s); });  // larger is faster
  const Fit f = fit(m);
  EXPECT_GE(f.whole.a, 0);
  EXPECT_GE(f.whole.b, 0);
}

TEST(Fit, IsNotFittedToTheSizesThatCheckIt) {
  Measurements m = measured(1e-6, 1e-10, 1e-7, 8192);
  const double before = fit(m).whole.a;
  for (Sample& sample : m.half_round_trip)
    if (std::exp2(std::round(std::log2(sample.size))) != sample.size) sample.median *= 2;
  EXPECT_EQ(fit(m).whole.a, before);
}

TEST(Fit, HoldsBackNoPowerOfTwoHoweverLarge) {
  const double large = std::exp2(70);
  EXPECT_TRUE(held_back_sizes({{large, 1, 1, 1}, {1, 1, 1, 1}}).empty());
  EXPECT_EQ(held_back_sizes({{1.5 * large, 1, 1, 1}, {3, 1, 1, 1}}).size(), 2U);
}

TEST(Fit, RecoversTheRateOfCombiningAndLeavesShortVectorsOut) {
  std::vector<Sample> samples{{8, 1e-6, 0, 0}, {512, 1e-6, 0, 0}};
  for (double size = 1024; size <= 1 << 20; size *= 2) samples.push_back({size, size / 4e9, 0, 0});
  EXPECT_NEAR(fit_rate(samples, kLeastReduced), 4e9, 1);
  EXPECT_EQ(fit_rate({}, kLeastReduced), 0);
}

TEST(Fit, NamesTheRatesThatWereMeasured) {
  Measurements m = measured(1e-6, 1e-10, 1e-7, 8192);
  EXPECT_EQ(collective_words(fit(m)), "");
  m.copy = {{65536, 1, 0, 0}, {1 << 20, 1e-3, 0, 0}, {1 << 21, 2e-3, 0, 0}};
  EXPECT_EQ(collective_words(fit(m)), "copy_rate=1.049e+09");
  m.reduce = {{1024, 1e-6, 0, 0}};
  EXPECT_EQ(collective_words(fit(m)), "reduce_rate=1.024e+09,copy_rate=1.049e+09");
}

TEST(Fit, OfARateHasTheSameRelativeErrorAboveAndBelow) {
  // 1/rate = c: (2c - 1)^2 + (c - 1)^2 in GB/s is least at c = 3/5.
  EXPECT_NEAR(fit_rate({{2000, 1e-6, 0, 0}, {2000, 2e-6, 0, 0}}, kLeastReduced), 5.0 / 3 * 1e9, 1);
}

TEST(Measurements, AreMediansOverRepetitions) {
  std::string csv = "kind,size,repetition,value\n";
  for (const int size : {1, 2, 4, 8})
    for (const char* value : {"1e-6", "9e-6", "2e-6"})
      csv += "half_round_trip," + std::to_string(size) + ",0," + value + "\n";
  const auto m = read_measurements(csv);
  ASSERT_TRUE(m.ok()) << m.error().what;
  ASSERT_EQ(m.value().half_round_trip.size(), 4U);
  EXPECT_DOUBLE_EQ(m.value().half_round_trip[0].median, 2e-6);
}

TEST(Measurements, RejectLinesThatAreNone) {
  for (const char* line :
       {"half_round_trip,1", "half_round_trip,x,0,1", "half_round_trip,1,0,nan", "hello"}) {
    const auto m = read_measurements(std::string{"kind,size,repetition,value\n"} + line + "\n");
    ASSERT_FALSE(m.ok());
    EXPECT_NE(m.error().what.find("line 2"), std::string::npos) << m.error().what;
  }
  EXPECT_FALSE(read_measurements("").ok());
}

TEST(Words, AreSpecificationsThatTheModelsUnderstand) {
  const Fit f = fit(measured(1.5e-6, 1e-10, 2e-7, 8192));
  for (const std::string& words : {lsb_words(f), loggops_words(f)}) {
    const auto network = netmodel::parse(words);
    ASSERT_TRUE(network.ok()) << words;
    const auto& n = *network.value();
    const Duration one_way = n.send_overhead(bytes(1000)) + n.transit(RankId{0}, RankId{1}, bytes(1000)) +
                             n.receive_overhead(bytes(1000));
    EXPECT_NEAR(seconds(one_way), 1.6e-6, 1e-9) << words;
  }
}

}  // namespace
}  // namespace nplus1::calibrate
