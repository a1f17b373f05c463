// SimGrid behind the interface: closed forms where nothing contends, fair shares where messages meet. Each
// test runs in a child process, because SimGrid has one network per process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "netmodel/apart.hpp"
#include "netmodel/simgrid/load.hpp"

namespace nplus1::netmodel {
namespace {

PlatformOptions platform(const std::string& name, const std::string& model, int ranks) {
  PlatformOptions options;
  options.file = std::string{NPLUS1_PLATFORMS} + "/" + name + ".xml";
  options.model = model;
  options.ranks = ranks;
  return options;
}

std::unique_ptr<NetworkModel> load(const PlatformOptions& options) {
  auto network = load_platform(options);
  if (!network) throw std::runtime_error{network.error().what};
  return std::move(network).value();
}

struct Message {
  int from;
  int to;
  std::int64_t size;
};

/// When each of the messages, all sent at time zero, has arrived, in seconds.
std::vector<double> arrivals(const NetworkModel& network, const std::vector<Message>& messages) {
  const auto flows = network.flows();
  for (std::size_t i = 0; i < messages.size(); ++i)
    flows->start(static_cast<Flows::FlowId>(i), RankId{messages[i].from}, RankId{messages[i].to},
                 bytes(messages[i].size), kTimeZero);
  std::vector<double> at(messages.size());
  std::vector<Flows::Completion> done;
  while (!flows->idle()) flows->advance(kNever, done);
  for (const Flows::Completion& c : done) at[c.id] = seconds(c.at);
  return at;
}

double alone(const NetworkModel& network, Message message) {
  return arrivals(network, {message}).front();
}

class EverySimgridModel : public ::testing::TestWithParam<const char*> {
 protected:
  /// Beyond fair shares IB slows flows that meet at a host down, by up to 1.35 (J. Vienne, 2010).
  static bool knows_penalties() { return std::string{GetParam()} == "IB"; }
};

TEST_P(EverySimgridModel, MakesIncastOfEightEightTimesSlower) {
  apart([] {
    const auto network = load(platform("cluster64", GetParam(), 9));
    constexpr std::int64_t kLarge = 400'000'000;
    std::vector<Message> incast;
    for (int r = 1; r <= 8; ++r) incast.push_back({r, 0, kLarge});
    const double one = alone(*network, incast.front());
    for (const double at : arrivals(*network, incast)) {
      EXPECT_GE(at / one, 7.9);
      EXPECT_LE(at / one, (knows_penalties() ? 1.35 : 1.01) * 8);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Simgrid, EverySimgridModel, ::testing::Values("SMPI", "LV08", "CM02", "IB"),
                         [](const auto& test) { return std::string{test.param}; });

/// What `body` returns, from a child process: SimGrid has one network per process.
template <class Body>
std::vector<double> from_child(Body body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error{"no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::vector<double> result = body();
    const auto* bytes = reinterpret_cast<const char*>(result.data());
    std::size_t left = result.size() * sizeof(double);
    for (ssize_t n = 0; left > 0 && (n = write(ends[1], bytes, left)) > 0;
         left -= static_cast<std::size_t>(n))
      bytes += n;
    _exit(0);
  }
  close(ends[1]);
  std::vector<double> result;
  for (double value = 0; read(ends[0], &value, sizeof(value)) == sizeof(value);) result.push_back(value);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

constexpr int kCases = 20;

/// Of random sets of messages, one set after the other: how long each message takes. Sizes from 10 bytes to 300 kB; half of
/// the sets start on a grid of 10 us, so that many start together.
std::vector<double> durations(const PlatformOptions& options) {
  const auto network = load(options);
  std::vector<double> all;
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    std::mt19937 draw{seed};
    const auto flows = network->flows();
    const std::size_t count = 1 + draw() % 120;
    std::vector<Time> began;
    for (std::size_t i = 0; i < count; ++i) {
      const auto rank = [&] {
        return RankId{static_cast<std::int32_t>(draw() % static_cast<unsigned>(options.ranks))};
      };
      const std::int64_t at = static_cast<std::int64_t>(draw() % 1'000'000'000);  // within a millisecond
      constexpr std::int64_t kGrid = 10'000'000;
      began.push_back(Time{Duration{seed % 2 == 0 ? at : at / kGrid * kGrid}});
      const RankId from = rank();
      const RankId to = rank();
      const double size = 10 * std::pow(3e4, std::uniform_real_distribution{0.0, 1.0}(draw));
      flows->start(static_cast<Flows::FlowId>(i), from, to, bytes(static_cast<std::int64_t>(size)),
                   began.back());
    }
    std::vector<double> took(count);
    std::vector<Flows::Completion> done;
    while (!flows->idle()) flows->advance(kNever, done);
    for (const auto& c : done) took[c.id] = seconds(c.at - began[c.id]);
    all.insert(all.end(), took.begin(), took.end());
  }
  return all;
}

/// SimGrid with network/optim:Full is the oracle. Its default misses links that change at the same time (docs/networks.md).
TEST(Simgrid, SharesLinksAsNetmodelFlowsDoes) {
  for (const char* name : {"two_hosts", "cluster64", "torus", "fat_tree", "dragonfly"})
    for (const char* model : {"SMPI", "LV08", "CM02"}) {
      PlatformOptions options = platform(name, model, std::string_view{name} == "two_hosts" ? 2 : 16);
      const auto own = from_child([&] { return durations(options); });
      options.settings = {kSimgridSolver, "network/optim:Full", "surf/precision:1e-12"};
      const auto full = from_child([&] { return durations(options); });
      ASSERT_GT(own.size(), 500U);
      ASSERT_EQ(own.size(), full.size());
      double most = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        constexpr double kRounding = 3e-12;  // of either clock, in seconds
        most = std::max(most, (std::abs(own[i] - full[i]) - kRounding) / full[i]);
      }
      EXPECT_LT(most, 1e-8) << name << " " << model;
    }
}

PlatformOptions without_routes() {
  PlatformOptions options;
  options.file = ::testing::TempDir() + "simgrid_test-" + std::to_string(getpid()) + ".xml";
  options.ranks = 2;
  std::ofstream{options.file} << "<?xml version='1.0'?>\n"
                                 "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                                 "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n"
                                 "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>\n"
                                 "</zone></platform>\n";
  return options;
}

TEST(Simgrid, CarriesAMessageOfAHostToItselfOnEveryPlatform) {
  for (const char* name : {"two_hosts", "cluster64", "torus", "fat_tree", "dragonfly"})
    for (const char* model : {"SMPI", "LV08", "CM02", "IB"})
      for (const std::int64_t size : {0, 1000, 10'000'000})
        apart([&] {
          const double took = alone(*load(platform(name, model, 2)), {0, 0, size});
          EXPECT_GE(took, 0) << name << " " << model << " " << size;
          EXPECT_LT(took, 1) << name << " " << model << " " << size;
        });
}

TEST(Simgrid, SaysThatThereIsNoRouteInsteadOfAborting) {
  auto options = without_routes();
  apart([&] { EXPECT_THROW(alone(*load(options), {0, 1, 1000}), MessageRefused); });
  options.settings = {kSimgridSolver};
  EXPECT_EXIT(alone(*load(options), {0, 1, 1000}), ::testing::ExitedWithCode(70), "SimGrid gives up");
  std::remove(options.file.c_str());
}

TEST(Simgrid, TakesItsTimeZeroWhereTheLastOneEnded) {
  apart([] {
    const auto network = load(platform("two_hosts", "CM02", 2));
    const double first = alone(*network, {0, 1, 5000});
    EXPECT_NEAR(alone(*network, {0, 1, 5000}), first, 1e-12);
  });
}

TEST(Simgrid, StopsWhereTheEngineAllows) {
  apart([] {
    const auto network = load(platform("two_hosts", "CM02", 2));
    const auto flows = network->flows();
    flows->start(0, RankId{0}, RankId{1}, bytes(1'250'000 - 16), kTimeZero);  // 25 us + 1 ms alone
    std::vector<Flows::Completion> done;
    flows->advance(Time{from_seconds(525e-6)}, done);
    EXPECT_TRUE(done.empty());
    EXPECT_EQ(flows->now(), Time{from_seconds(525e-6)});
    // Half is left when another joins 25 us later: (0.5 - 0.025) ms at half speed.
    flows->start(1, RankId{0}, RankId{1}, bytes(1'250'000 - 16), flows->now());
    flows->advance(kNever, done);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].id, 0U);
    EXPECT_NEAR(seconds(done[0].at), 550e-6 + 2 * 475e-6, 5e-9);
  });
}

/// When each flow of a ring of eight on `network` has arrived, if every flow starts the next one of its rank
/// after some computing, and the engine stops at each of `stops` on the way.
std::vector<Time> ring(const NetworkModel& network, const std::vector<Time>& stops) {
  constexpr int kRanks = 8;
  constexpr std::size_t kRounds = 12;
  const auto flows = network.flows();
  const auto start = [&](std::size_t id, Time at) {
    const int from = static_cast<int>(id % kRanks);
    flows->start(static_cast<Flows::FlowId>(id), RankId{from}, RankId{(from + 1) % kRanks},
                 bytes(20'000 + 1000 * from), at);
  };
  for (std::size_t r = 0; r < kRanks; ++r) start(r, kTimeZero);
  std::vector<Time> at(kRanks * kRounds);
  std::vector<Flows::Completion> done;
  for (std::size_t i = 0; !flows->idle(); done.clear()) {
    flows->advance(i < stops.size() ? stops[i] : kNever, done);
    if (done.empty()) ++i;
    for (const Flows::Completion& c : done) {
      at[c.id] = c.at;
      if (c.id + kRanks < at.size()) start(c.id + kRanks, c.at + Duration{100'000});
    }
  }
  return at;
}

/// Live, the engine stops wherever the ranks have been heard of; a replay never does. Source of the danger:
/// SimGrid ends what would end within surf/precision of a stop.
TEST(Simgrid, LeavesNoTraceOfWhereTheEngineStopped) {
  apart([] {
    const auto network = load(platform("cluster64", "SMPI", 8));
    const std::vector<Time> unhindered = ring(*network, {});
    std::vector<Time> stops = unhindered;
    std::sort(stops.begin(), stops.end());
    for (Time& stop : stops) stop -= Duration{300};
    EXPECT_EQ(ring(*network, stops), unhindered);
  });
}

TEST(Simgrid, TellsTheRanksTheProtocolInForce) {
  apart([] {
    PlatformOptions options = platform("two_hosts", "SMPI", 2);
    options.settings = {"smpi/send-is-detached-thresh:1000", "smpi/async-small-thresh:100",
                        "smpi/os:0:1e-6:0"};
    const auto network = load(options);
    const auto ranks = parse(network->describe_to_ranks());
    ASSERT_TRUE(ranks) << ranks.error().what;
    EXPECT_FALSE(ranks.value()->contention_free());
    EXPECT_TRUE(ranks.value()->eager(bytes(999)));
    EXPECT_FALSE(ranks.value()->eager(bytes(1000)));
    EXPECT_TRUE(ranks.value()->travels_unasked(bytes(99)));
    EXPECT_FALSE(ranks.value()->travels_unasked(bytes(100)));
    EXPECT_EQ(ranks.value()->blocking_send_overhead(bytes(10)), from_seconds(1e-6));
    EXPECT_EQ(ranks.value()->send_overhead(bytes(10)), Duration{});
  });
}

TEST(Simgrid, ScalesComputeTimesToTheHostsSpeed) {
  apart([] {
    PlatformOptions options = platform("two_hosts", "SMPI", 2);
    options.host_speed = 2.5e9;
    EXPECT_DOUBLE_EQ(load(options)->compute_scale(RankId{1}), 0.25);
  });
}

class Validate : public ::testing::Test {
 protected:
  /// What is said about a platform with this text.
  static std::string complaint(const std::string& text, int ranks = 2) {
    const std::string path = ::testing::TempDir() + "/" + std::to_string(getpid()) + "_nplus1_validate.xml";
    std::ofstream{path} << "<?xml version='1.0'?>\n"
                           "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                           "<platform version=\"4.1\">\n"
                        << text << "</platform>\n";
    PlatformOptions options;
    options.file = path;
    options.ranks = ranks;
    const auto report = validate_platform(options);
    std::remove(path.c_str());
    return report ? "sound" : report.error().what;
  }
  static std::string zone(const std::string& inner) {
    return "<zone id=\"z\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gf\"/>\n<host id=\"b\" "
           "speed=\"1Gf\"/>\n" +
           inner + "</zone>\n";
  }
  static constexpr const char* kLink = "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n";
  static constexpr const char* kRoute = "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n";

  /// One line that names the file and, if SimGrid knows it, the line.
  static void expect_says(const std::string& said, const std::string& part, const std::string& line = "") {
    EXPECT_NE(said.find(part), std::string::npos) << said;
    EXPECT_NE(said.find("nplus1_validate.xml" + (line.empty() ? "" : ":" + line)), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    EXPECT_LT(said.size(), 400U) << said;
  }
};

TEST_F(Validate, AcceptsASoundPlatform) {
  EXPECT_EQ(complaint(zone(std::string{kLink} + kRoute)), "sound");
}
TEST_F(Validate, NamesTheLineOfBadXml) {
  expect_says(complaint("<zone id=\"z\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gf\">\n</zone>\n"), "",
              "6");
}
TEST_F(Validate, NamesTheLineOfABadUnit) {
  expect_says(complaint(zone("<link id=\"l\" bandwidth=\"1Parsec\" latency=\"1us\"/>\n")), "Parsec", "7");
}
TEST_F(Validate, NamesTheLineOfAnUnknownAttribute) {
  expect_says(complaint(zone("<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\" color=\"red\"/>\n")),
              "color", "7");
}
TEST_F(Validate, NamesAMissingLink) {
  expect_says(complaint(zone(kRoute)), "Link not found: l");
}
TEST_F(Validate, SaysThatDimensionsDoNotMatch) {
  expect_says(
      complaint(
          "<cluster id=\"t\" prefix=\"n\" suffix=\"\" radical=\"0-6\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" "
          "topology=\"TORUS\" topo_parameters=\"2,2,2\"/>\n"),
      "total = 7", "4");
}
TEST_F(Validate, SaysWhichHostsHaveNoRoute) {
  expect_says(complaint(zone(kLink)), "route");
}
TEST_F(Validate, CountsTheHosts) {
  expect_says(complaint(zone(std::string{kLink} + kRoute), 3), "2 hosts");
}
TEST_F(Validate, FindsAMissingFile) {
  PlatformOptions options;
  options.file = "/nowhere/nothing.xml";
  const auto report = validate_platform(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().what, "/nowhere/nothing.xml: No such file or directory");
}
TEST_F(Validate, RejectsSettingsThatSimgridDoesNotKnow) {
  PlatformOptions options = platform("two_hosts", "SMPI", 2);
  options.settings = {"network/nonsense:1"};
  const auto report = validate_platform(options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().what.find("network/nonsense"), std::string::npos) << report.error().what;
}

}  // namespace
}  // namespace nplus1::netmodel
