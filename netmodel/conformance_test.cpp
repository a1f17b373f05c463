// The laws that every network model obeys. To hold another model to them, add its specification (and how to
// build it, if parse() doesn't know it) to cases(). SimGrid allows one network per process: each law runs in
// a child process there.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"
#include "netmodel/loggops/loggops.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/simgrid/load.hpp"
#include "netmodel/testing/apart.hpp"
#include "netmodel/testing/two_ranks.hpp"

namespace nplus1::netmodel {
namespace {

using Builder = std::function<Result<std::unique_ptr<NetworkModel>>(const std::string&)>;
/// Seconds of a message of some bytes when nothing else is under way.
using ClosedForm = std::function<double(double)>;

struct Case {
  std::string name;
  std::string specification;  // for a platform: SimGrid's model
  double bandwidth;           // of the slowest link, bytes per second
  ClosedForm alone;
  Builder build = [](const std::string& text) { return parse(text); };
  bool simgrid = false;
  /// Messages that meet take up to so many times their fair share (IB slows flows down that meet at a host:
  /// J. Vienne, 2010).
  double penalty = 1;
  /// Sizes from which on a model's own figures are others; they may step down there.
  std::vector<std::int64_t> steps = {};
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.specification;
}

Case line(std::string name, std::string specification, double latency, double bandwidth) {
  return {std::move(name), std::move(specification), bandwidth,
          [=](double size) { return latency + size / bandwidth; }};
}

constexpr double kEnvelope = 16;
constexpr double kWire = 1.25e9;  // platforms/two_hosts.xml
constexpr double kLatency = 25e-6;

Result<std::unique_ptr<NetworkModel>> on_two_hosts(const std::string& model) {
  PlatformOptions options;
  options.file = NPLUS1_PLATFORMS "/two_hosts.xml";
  options.model = model;
  options.ranks = 2;
  return load_platform(options);
}

Case platform(std::string model, ClosedForm alone, double penalty = 1, std::vector<std::int64_t> steps = {}) {
  std::string name = "simgrid_" + model;
  return {std::move(name), std::move(model), kWire, std::move(alone), on_two_hosts, true,
          penalty,         std::move(steps)};
}

/// SMPI's factors of latency and bandwidth from a size on, as SimGrid's manual lists them ("Configuring
/// SimGrid").
struct Factors {
  double from;
  double latency;
  double bandwidth;
};
constexpr std::array<Factors, 9> kSmpi{{{65472, 11.6436, 0.940694},
                                        {15424, 3.48845, 0.697866},
                                        {9376, 2.59299, 0.58729},
                                        {5776, 2.18796, 1.08739},
                                        {3484, 1.88101, 0.77493},
                                        {1426, 1.61075, 0.608902},
                                        {732, 1.9503, 0.341987},
                                        {257, 1.95341, 0.338112},
                                        {0, 2.01467, 0.812084}}};

double smpi_alone(double size) {
  const double sent = size + kEnvelope;
  const auto piece =
      std::find_if(kSmpi.begin(), kSmpi.end(), [=](const Factors& f) { return sent >= f.from; });
  return piece->latency * kLatency + sent / (piece->bandwidth * kWire);
}

std::vector<std::int64_t> smpi_steps() {
  std::vector<std::int64_t> steps;
  for (const Factors& f : kSmpi) steps.push_back(static_cast<std::int64_t>(f.from - kEnvelope));
  return steps;
}

std::vector<Case> cases() {
  const auto lv08 = [](double size) { return 13.01 * kLatency + (size + kEnvelope) / (0.97 * kWire); };
  const auto cm02 = [](double size) { return kLatency + (size + kEnvelope) / kWire; };
  return {line("lsb_default", "lsb", 1e-6, 1e10),
          line("lsb_instant", "lsb:latency=0,bandwidth=1e300", 0, 1e300),
          line("lsb_slow", "lsb:latency=10ms,bandwidth=56kbps", 10e-3, 7e3),
          line("lsb_rendezvous", "lsb:latency=1us,bandwidth=25GBps,eager=8KiB,handshake=2us", 1e-6, 25e9),
          line("loggops_default", "loggops", 1e-6, 1e10),
          line("loggops_instant", "loggops:L=0,o=0,g=0,G=0,O=0", 0, 1e300),
          line("loggops_full", "loggops:L=2.5us,o=0.4us,g=0.7us,G=0.08ns,O=0.01ns,S=64KiB", 2.5e-6, 12.5e9),
          line("loggops_both_interfaces",
               "loggops:L=2.5us,o=0.4us,g=0.7us,G=0.08ns,O=0.01ns,S=64KiB,interfaces=both", 2.5e-6, 12.5e9),
          platform("CM02", cm02),
          platform("LV08", lv08),
          platform("SMPI", smpi_alone, 1, smpi_steps()),
          platform("IB", smpi_alone, 1.35, smpi_steps())};
}

/// No answer exceeds this: docs/networks.md.
constexpr double kLongest = 1e6;

/// Sizes of every magnitude, sorted.
std::vector<Bytes> sizes() {
  std::vector<Bytes> list{bytes(0)};
  for (std::int64_t s = 1; s <= std::int64_t{1} << 40; s *= 2) {
    for (const std::int64_t size : {s - 1, s, s + s / 3}) list.push_back(bytes(size));
  }
  std::sort(list.begin(), list.end());
  return list;
}

/// When `copies` messages, sent together at time zero, have arrived: the last of them.
Duration arrival(const NetworkModel& model, Bytes size, Flows::FlowId copies = 1) {
  if (model.contention_free()) return model.transit(kA, kB, size);
  const auto flows = model.flows();
  for (Flows::FlowId i = 0; i < copies; ++i) flows->start(i, kA, kB, size, kTimeZero, 0);
  std::vector<Flows::Completion> done;
  while (!flows->idle()) flows->advance(kNever, done);
  return done.back().at - kTimeZero;
}

class EveryNetworkModel : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static std::unique_ptr<NetworkModel> build(const std::string& specification) {
    auto model = GetParam().build(specification);
    if (!model) throw std::runtime_error{model.error().what};
    return std::move(model).value();
  }
  /// Whether one message may be cheaper than a smaller one.
  [[nodiscard]] static bool step_between(Bytes smaller, Bytes larger) {
    const auto& steps = GetParam().steps;
    return std::any_of(steps.begin(), steps.end(),
                       [=](std::int64_t at) { return count(smaller) < at && at <= count(larger); });
  }
  template <class Law>
  static void law(Law body) {
    if (!GetParam().simgrid) return body(*build(GetParam().specification));
    apart([&] { body(*build(GetParam().specification)); });
  }
};

TEST_P(EveryNetworkModel, NeverPricesALargerMessageBelowASmallerOne) {
  law([](const NetworkModel& model) {
    Bytes previous = bytes(0);
    for (const Bytes size : sizes()) {
      if (!step_between(previous, size)) {
        EXPECT_GE(arrival(model, size), arrival(model, previous)) << count(size);
      }
      EXPECT_GE(model.transit(kA, kB, size), model.transit(kA, kB, previous)) << count(size);
      EXPECT_GE(model.send_overhead(size), model.send_overhead(previous)) << count(size);
      EXPECT_GE(model.receive_overhead(size), model.receive_overhead(previous)) << count(size);
      EXPECT_GE(model.occupancy(size), model.occupancy(previous)) << count(size);
      previous = size;
    }
  });
}

TEST_P(EveryNetworkModel, DeliversNothingBeforeTheMinimumLatency) {
  law([](const NetworkModel& model) {
    for (const Bytes size : sizes()) EXPECT_GE(arrival(model, size), model.minimum_latency());
  });
}

TEST_P(EveryNetworkModel, IsNoFasterThanItsSlowestLink) {
  law([](const NetworkModel& model) {
    for (const Bytes size : sizes()) {
      const double least = std::min(kLongest, static_cast<double>(count(size)) / GetParam().bandwidth);
      EXPECT_GE(seconds(arrival(model, size)), least * (1 - 1e-9) - 1e-12) << count(size);
    }
  });
}

TEST_P(EveryNetworkModel, EqualsItsClosedFormWhereNothingElseIsUnderWay) {
  law([](const NetworkModel& model) {
    for (const Bytes size : sizes()) {
      const double expected = std::min(kLongest, GetParam().alone(static_cast<double>(count(size))));
      EXPECT_NEAR(seconds(arrival(model, size)), expected, 2e-9 + 1e-9 * expected) << count(size);
    }
  });
}

TEST_P(EveryNetworkModel, WithContentionTakesKTimesAsLongForKMessagesOnALink) {
  law([](const NetworkModel& model) {
    if (model.contention_free()) return;          // transit() knows of one message only
    constexpr Bytes kLarge = bytes(400'000'000);  // latency is nothing beside it
    const double one = seconds(arrival(model, kLarge));
    for (const Flows::FlowId k : {2U, 4U, 8U}) {
      const double together = seconds(arrival(model, kLarge, k));
      const double fair = k * one;
      EXPECT_GE(together, 0.99 * fair);
      EXPECT_LE(together, std::max(1.01, GetParam().penalty) * fair);
    }
  });
}

TEST_P(EveryNetworkModel, HasNoNegativeCosts) {
  law([](const NetworkModel& model) {
    EXPECT_GE(model.minimum_latency(), Duration{0});
    EXPECT_GE(model.handshake(), Duration{0});
    EXPECT_GE(model.send_overhead(bytes(0)), Duration{0});
    EXPECT_GE(model.receive_overhead(bytes(0)), Duration{0});
    EXPECT_GE(model.occupancy(bytes(0)), Duration{0});
  });
}

TEST_P(EveryNetworkModel, SendsSmallMessagesEagerlyIfItDoesSoWithLargerOnes) {
  law([](const NetworkModel& model) {
    bool eager = true;
    for (const Bytes size : sizes()) {
      EXPECT_FALSE(model.eager(size) && !eager) << count(size);
      eager = model.eager(size);
    }
  });
}

/// A platform's description is read by the command line; what the ranks read is its protocol.
TEST_P(EveryNetworkModel, DescribesItselfAsWhatReadsBackEqual) {
  law([](const NetworkModel& model) {
    const auto read = parse(model.describe_to_ranks());
    if (!read) throw std::runtime_error{read.error().what};
    const NetworkModel& again = *read.value();
    EXPECT_EQ(again.describe_to_ranks(), model.describe_to_ranks());
    EXPECT_EQ(again.handshake(), model.handshake());
    EXPECT_EQ(again.contention_free(), model.contention_free());
    for (const Bytes size : sizes()) {
      EXPECT_EQ(again.transit(kA, kB, size), model.transit(kA, kB, size));
      EXPECT_EQ(again.send_overhead(size), model.send_overhead(size));
      EXPECT_EQ(again.receive_overhead(size), model.receive_overhead(size));
      EXPECT_EQ(again.occupancy(size), model.occupancy(size));
      EXPECT_EQ(again.eager(size), model.eager(size));
    }
    if (model.contention_free()) {
      EXPECT_EQ(build(model.describe())->minimum_latency(), model.minimum_latency());
    }
  });
}

TEST_P(EveryNetworkModel, GivesTheSameAnswerTwice) {
  law([](const NetworkModel& model) {
    for (const Bytes size : sizes())
      EXPECT_NEAR(seconds(arrival(model, size)), seconds(arrival(model, size)),
                  model.contention_free() ? 0 : 1e-12 * seconds(arrival(model, size)) + 2e-12);
  });
}

INSTANTIATE_TEST_SUITE_P(All, EveryNetworkModel, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

/// With o = g = O = 0, LogGOPS is L + s/B with B = 1/G.
TEST(Relations, LogGopsWithoutOverheadsEqualsLatencyAndBandwidth) {
  const auto loggops = parse("loggops:L=3us,G=0.08ns");
  const auto lsb = parse("lsb:latency=3us,bandwidth=12.5GBps");
  ASSERT_TRUE(loggops && lsb);
  for (const Bytes size : sizes())
    EXPECT_EQ(arrival(*loggops.value(), size), arrival(*lsb.value(), size)) << count(size);
}

/// A random parameter: any magnitude, any mantissa, sometimes zero.
class RandomParameters {
 public:
  double time() { return random_() % 8 == 0 ? 0 : std::exp(logarithm_(random_)); }
  double bandwidth() { return 1 / std::exp(logarithm_(random_)); }
  double limit() {
    return random_() % 4 == 0 ? kUnlimitedBytes : static_cast<double>(random_() >> (random_() % 48 + 12));
  }

 private:
  std::mt19937_64 random_{42};
  std::uniform_real_distribution<double> logarithm_{std::log(1e-13), std::log(1e2)};
};

/// What parse() makes of the model's own description.
template <class Model>
typename Model::Parameters read_back(const typename Model::Parameters& parameters) {
  const auto model = parse(Model{parameters}.describe());
  if (!model) throw std::runtime_error{model.error().what};
  return dynamic_cast<const Model&>(*model.value()).parameters();
}

TEST(Describe, KeepsEveryBitOfRandomLatencyBandwidthParameters) {
  RandomParameters random;
  for (int i = 0; i < 2000; ++i) {
    const LatencyBandwidth::Parameters p{random.time(), random.bandwidth(), random.limit(), random.time()};
    EXPECT_EQ(read_back<LatencyBandwidth>(p), p) << LatencyBandwidth{p}.describe();
  }
}

TEST(Describe, KeepsEveryBitOfRandomLogGopsParameters) {
  RandomParameters random;
  for (int i = 0; i < 2000; ++i) {
    const LogGops::Parameters p{random.time(), random.time(),  random.time(), random.time(),
                                random.time(), random.limit(), random.time(), i % 2 == 0};
    EXPECT_EQ(read_back<LogGops>(p), p) << LogGops{p}.describe();
  }
}

}  // namespace
}  // namespace nplus1::netmodel
