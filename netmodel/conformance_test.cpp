// The laws that every network model obeys. To hold another model to them, add its specification (and how to
// build it, if parse() doesn't know it) to cases().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"
#include "netmodel/loggops/loggops.hpp"
#include "netmodel/network_model.hpp"

namespace nplus1::netmodel {
namespace {

using Builder = std::function<Result<std::unique_ptr<NetworkModel>>(std::string_view)>;

struct Case {
  std::string name;
  std::string specification;
  Builder build = parse;  // from a specification, and from what describe() says
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.specification;
}

std::vector<Case> cases() {
  return {{"lsb_default", "lsb"},
          {"lsb_instant", "lsb:latency=0,bandwidth=1e300"},
          {"lsb_slow", "lsb:latency=10ms,bandwidth=56kbps"},
          {"lsb_rendezvous", "lsb:latency=1us,bandwidth=25GBps,eager=8KiB,handshake=2us"},
          {"loggops_default", "loggops"},
          {"loggops_instant", "loggops:L=0,o=0,g=0,G=0,O=0"},
          {"loggops_full", "loggops:L=2.5us,o=0.4us,g=0.7us,G=0.08ns,O=0.01ns,S=64KiB"}};
}

constexpr RankId kA{0};
constexpr RankId kB{1};

/// Sizes of every magnitude, sorted.
std::vector<Bytes> sizes() {
  std::vector<Bytes> list{bytes(0)};
  for (std::int64_t s = 1; s <= std::int64_t{1} << 40; s *= 2) {
    for (const std::int64_t size : {s - 1, s, s + s / 3}) list.push_back(bytes(size));
  }
  std::sort(list.begin(), list.end());
  return list;
}

class EveryNetworkModel : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static std::unique_ptr<NetworkModel> build(const std::string& specification) {
    auto model = GetParam().build(specification);
    if (!model) throw std::runtime_error{model.error().what};
    return std::move(model).value();
  }
  std::unique_ptr<NetworkModel> model_ = build(GetParam().specification);
};

TEST_P(EveryNetworkModel, NeverPricesALargerMessageBelowASmallerOne) {
  Bytes previous = bytes(0);
  for (const Bytes size : sizes()) {
    EXPECT_GE(model_->transit(kA, kB, size), model_->transit(kA, kB, previous)) << count(size);
    EXPECT_GE(model_->send_overhead(size), model_->send_overhead(previous)) << count(size);
    EXPECT_GE(model_->receive_overhead(size), model_->receive_overhead(previous)) << count(size);
    EXPECT_GE(model_->occupancy(size), model_->occupancy(previous)) << count(size);
    previous = size;
  }
}

TEST_P(EveryNetworkModel, DeliversNothingBeforeTheMinimumLatency) {
  for (const Bytes size : sizes()) EXPECT_GE(model_->transit(kA, kB, size), model_->minimum_latency());
}

TEST_P(EveryNetworkModel, HasNoNegativeCosts) {
  EXPECT_GE(model_->minimum_latency(), Duration{0});
  EXPECT_GE(model_->handshake(), Duration{0});
  EXPECT_GE(model_->send_overhead(bytes(0)), Duration{0});
  EXPECT_GE(model_->receive_overhead(bytes(0)), Duration{0});
  EXPECT_GE(model_->occupancy(bytes(0)), Duration{0});
}

TEST_P(EveryNetworkModel, SendsSmallMessagesEagerlyIfItDoesSoWithLargerOnes) {
  bool eager = true;
  for (const Bytes size : sizes()) {
    EXPECT_FALSE(model_->eager(size) && !eager) << count(size);
    eager = model_->eager(size);
  }
}

TEST_P(EveryNetworkModel, DescribesItselfAsWhatReadsBackEqual) {
  const auto again = build(model_->describe());
  EXPECT_EQ(again->describe(), model_->describe());
  EXPECT_EQ(again->minimum_latency(), model_->minimum_latency());
  EXPECT_EQ(again->handshake(), model_->handshake());
  EXPECT_EQ(again->contention_free(), model_->contention_free());
  for (const Bytes size : sizes()) {
    EXPECT_EQ(again->transit(kA, kB, size), model_->transit(kA, kB, size));
    EXPECT_EQ(again->send_overhead(size), model_->send_overhead(size));
    EXPECT_EQ(again->receive_overhead(size), model_->receive_overhead(size));
    EXPECT_EQ(again->occupancy(size), model_->occupancy(size));
    EXPECT_EQ(again->eager(size), model_->eager(size));
  }
}

TEST_P(EveryNetworkModel, GivesTheSameAnswerTwice) {
  for (const Bytes size : sizes()) EXPECT_EQ(model_->transit(kA, kB, size), model_->transit(kA, kB, size));
}

INSTANTIATE_TEST_SUITE_P(Analytic, EveryNetworkModel, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

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
                                random.time(), random.limit(), random.time()};
    EXPECT_EQ(read_back<LogGops>(p), p) << LogGops{p}.describe();
  }
}

}  // namespace
}  // namespace nplus1::netmodel
