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
#include <utility>
#include <vector>

#include "netmodel/simgrid/load.hpp"
#include "netmodel/testing/apart.hpp"

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
                 bytes(messages[i].size), kTimeZero, 0);
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

/// How far two durations of a message, in seconds, are apart beyond what either clock rounds, relative to the second.
double apart_by(double own, double full) {
  constexpr double kRounding = 3e-12;
  return (std::abs(own - full) - kRounding) / full;
}

struct Sent {
  Time at;
  int from;
  int to;
  std::int64_t size;
};

/// A set of messages by chance. Sizes from 10 bytes to 300 kB; on odd seeds all start on a grid of 10 us, so that many start
/// together.
std::vector<Sent> random_messages(unsigned seed, int ranks, bool to_itself) {
  std::mt19937 draw{seed};
  std::vector<Sent> messages(1 + draw() % 120);
  for (Sent& message : messages) {
    const auto rank = [&] { return static_cast<int>(draw() % static_cast<unsigned>(ranks)); };
    const std::int64_t at = static_cast<std::int64_t>(draw() % 1'000'000'000);  // within a millisecond
    constexpr std::int64_t kGrid = 10'000'000;
    message.at = Time{Duration{seed % 2 == 0 ? at : at / kGrid * kGrid}};
    message.from = rank();
    message.to = rank();
    // A zone with routing by table has no way from a host to itself.
    if (message.from == message.to && !to_itself) message.to = (message.to + 1) % ranks;
    message.size =
        static_cast<std::int64_t>(10 * std::pow(3e4, std::uniform_real_distribution{0.0, 1.0}(draw)));
  }
  return messages;
}

/// Of kCases random sets of messages, one set after the other: how long each message takes, in seconds.
std::vector<double> durations(const PlatformOptions& options, bool to_itself = true) {
  const auto network = load(options);
  std::vector<double> all;
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    const auto flows = network->flows();
    const std::vector<Sent> messages = random_messages(seed, options.ranks, to_itself);
    for (std::size_t i = 0; i < messages.size(); ++i)
      flows->start(static_cast<Flows::FlowId>(i), RankId{messages[i].from}, RankId{messages[i].to},
                   bytes(messages[i].size), messages[i].at, 0);
    std::vector<double> took(messages.size());
    std::vector<Flows::Completion> done;
    while (!flows->idle()) flows->advance(kNever, done);
    for (const auto& c : done) took[c.id] = seconds(c.at - messages[c.id].at);
    all.insert(all.end(), took.begin(), took.end());
  }
  return all;
}

/// For bench/exact_shares.py to decide who is right: the platform, and each message of the sets in which one differs by more
/// than `limit`, with the two durations in seconds.
void keep_what_differs(const std::string& folder, unsigned platform, const PlatformOptions& options,
                       const std::vector<double>& own, const std::vector<double>& full, double limit) {
  std::size_t first = 0;
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    const std::vector<Sent> messages = random_messages(seed, options.ranks, false);
    const std::size_t begin = std::exchange(first, first + messages.size());
    double worst = 0;
    for (std::size_t i = begin; i < first; ++i) worst = std::max(worst, apart_by(own[i], full[i]));
    if (worst <= limit) continue;
    const std::string name =
        folder + "/" + std::to_string(platform) + "-" + options.model + "-" + std::to_string(seed);
    std::ofstream{name + ".xml"} << std::ifstream{options.file}.rdbuf();
    std::ofstream out{name + ".csv"};
    out.precision(17);
    out << "picoseconds,from,to,bytes,own,simgrid\n";
    for (std::size_t i = begin; i < first; ++i) {
      const Sent& m = messages[i - begin];
      out << m.at.time_since_epoch().count() << ',' << m.from << ',' << m.to << ',' << m.size << ',' << own[i]
          << ',' << full[i] << '\n';
    }
  }
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
      for (std::size_t i = 0; i < own.size(); ++i) most = std::max(most, apart_by(own[i], full[i]));
      EXPECT_LT(most, 1e-8) << name << " " << model;
    }
}

std::string file_with(const std::string& text) {
  static int number = 0;
  const std::string file = ::testing::TempDir() + "simgrid_test-" + std::to_string(getpid()) + "-" +
                           std::to_string(++number) + ".xml";
  std::ofstream{file} << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                         "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                      << text << "</platform>\n";
  return file;
}

/// A platform by chance: three to eight hosts, up to twelve links (shared, fat pipes, split duplex; on even seeds a third
/// of them without latency), routes over one to five of them, the same link perhaps several times, there and back alike or not.
std::string random_platform(unsigned seed, int& hosts) {
  std::mt19937 draw{seed};
  const auto below = [&](unsigned n) { return static_cast<unsigned>(draw() % n); };
  const auto spread = [&](double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution{0.0, 1.0}(draw));
  };
  hosts = static_cast<int>(3 + below(6));
  std::string text = "<zone id=\"z\" routing=\"Full\">\n";
  for (int h = 0; h < hosts; ++h) text += "<host id=\"h" + std::to_string(h) + "\" speed=\"1Gf\"/>\n";
  const unsigned links = 1 + below(12);
  std::vector<unsigned> policy;
  for (unsigned l = 0; l < links; ++l) {
    policy.push_back(below(4));
    constexpr const char* kPolicies[] = {"SHARED", "FATPIPE", "SPLITDUPLEX", "SHARED"};
    char line[200];
    std::snprintf(line, sizeof line,
                  "<link id=\"l%u\" bandwidth=\"%.6gBps\" latency=\"%.6gs\" sharing_policy=\"%s\"/>\n", l,
                  spread(1e7, 1e10), below(3) == 0 && seed % 2 == 0 ? 0.0 : spread(1e-7, 1e-3),
                  kPolicies[policy.back()]);
    text += line;
  }
  for (int from = 0; from < hosts; ++from)
    for (int to = from + 1; to < hosts; ++to) {
      const bool alike = below(2) == 0;
      for (const bool back : {false, true}) {
        if (back && alike) continue;
        text += "<route src=\"h" + std::to_string(back ? to : from) + "\" dst=\"h" +
                std::to_string(back ? from : to) + "\"" + (alike ? ">" : " symmetrical=\"NO\">");
        for (unsigned n = 1 + below(5); n > 0; --n) {
          const unsigned l = below(links);
          text += "<link_ctn id=\"l" + std::to_string(l) + "\"" +
                  (policy[l] == 2 ? (below(2) == 0 ? " direction=\"UP\"" : " direction=\"DOWN\"") : "") +
                  "/>";
        }
        text += "</route>\n";
      }
    }
  return text + "</zone>\n";
}

/// NPLUS1_RANDOM_PLATFORMS=FIRST:LAST, seeds: as many as wanted (bench/random_platforms.py). A flow whose route has no
/// latency weighs ten thousand times what others weigh, or more: there SimGrid lets links carry more than they can, and
/// picoseconds add up (docs/networks.md), so that single messages take another time.
TEST(Simgrid, SharesLinksAsNetmodelFlowsDoesOnRandomPlatforms) {
  unsigned first = 1;
  unsigned last = 4;
  if (const char* asked = std::getenv("NPLUS1_RANDOM_PLATFORMS"); asked != nullptr) {
    ASSERT_EQ(std::sscanf(asked, "%u:%u", &first, &last), 2);
  }
  std::size_t messages = 0;
  std::size_t beyond = 0;  // on platforms on which all links have latencies
  std::size_t beyond_without = 0;
  double most = 0;
  for (unsigned seed = first; seed <= last; ++seed)
    for (const char* model : {"SMPI", "LV08", "CM02"}) {
      PlatformOptions options;
      options.file = file_with(random_platform(seed, options.ranks));
      options.model = model;
      const auto own = from_child([&] { return durations(options, false); });
      options.settings = {kSimgridSolver, "network/optim:Full", "surf/precision:1e-12"};
      const auto full = from_child([&] { return durations(options, false); });
      ASSERT_GT(own.size(), 500U) << seed;
      ASSERT_EQ(own.size(), full.size()) << seed;
      if (const char* folder = std::getenv("NPLUS1_KEEP_DIFFERENCES"); folder != nullptr)
        keep_what_differs(folder, seed, options, own, full, 1e-6);
      std::remove(options.file.c_str());
      double worst = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const double apart = apart_by(own[i], full[i]);
        (seed % 2 == 0 ? beyond_without : beyond) += apart > 1e-8 ? 1U : 0U;
        if (seed % 2 != 0) worst = std::max(worst, apart);
      }
      EXPECT_LT(worst, 1e-6) << "platform " << seed << " under " << model;
      most = std::max(most, worst);
      messages += own.size();
    }
  EXPECT_LT(beyond_without * 1000, messages);
  std::printf(
      "%zu messages on %u platforms: %zu more than 1e-8 apart, at most %g; %zu where latencies are 0\n",
      messages, last - first + 1, beyond, most, beyond_without);
}

/// An empty message under CM02 takes nothing but its route's latencies (and 16 bytes), so its time tells how many links it
/// crosses.
TEST(Simgrid, BytesOfAllLinksAreThoseOfMessagesTimesLinksCrossed) {
  for (const auto& [name, latency] : {std::pair{"cluster64", 24e-6}, std::pair{"torus", 0.5e-6},
                                      std::pair{"fat_tree", 0.5e-6}, std::pair{"dragonfly", 0.5e-6}})
    apart([&, name = name, latency = latency] {
      const auto network = load(platform(name, "CM02", 64));
      const auto flows = network->flows();
      flows->watch_links();
      std::mt19937 draw{7};
      std::uint64_t expected = 0;
      Duration held_up{};
      std::vector<Flows::Completion> done;
      for (Flows::FlowId i = 0; i < 400; ++i) {
        const Message message{static_cast<int>(draw() % 64), static_cast<int>(draw() % 64),
                              static_cast<std::int64_t>(draw() % 100'000)};
        const bool itself = message.from == message.to;
        const double hops = itself ? 1 : std::round(alone(*network, {message.from, message.to, 0}) / latency);
        expected += static_cast<std::uint64_t>(message.size) * static_cast<std::uint64_t>(hops);
        flows->start(i, RankId{message.from}, RankId{message.to}, bytes(message.size),
                     Time{from_seconds(1e-6 * static_cast<double>(i % 20))}, i % 4);
      }
      while (!flows->idle()) flows->advance(kNever, done);
      for (const Flows::Completion& c : done) held_up += c.held_up;
      const LinkUsage usage = flows->link_usage().value();
      std::uint64_t carried = 0;
      Duration by_link{};
      for (const LinkUsage::Link& link : usage.links) {
        carried += link.bytes;
        by_link += link.held_up;
      }
      EXPECT_EQ(carried, expected) << name;
      EXPECT_GT(held_up, Duration::zero()) << name;
      EXPECT_EQ(by_link, held_up) << name;
      EXPECT_EQ(usage.hosts.at(10), "node-10") << name;
    });
}

std::string chain_of(const char* bandwidth) {
  return file_with(
      "<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>"
      "<host id=\"c\" speed=\"1Gf\"/><link id=\"slow\" bandwidth=\"" +
      std::string{bandwidth} +
      "\" latency=\"1us\"/><link id=\"fast\" bandwidth=\"1GBps\" latency=\"1us\"/>"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"slow\"/><link_ctn id=\"fast\"/></route>"
      "<route src=\"a\" dst=\"c\"><link_ctn id=\"fast\"/></route>"
      "<route src=\"b\" dst=\"c\"><link_ctn id=\"fast\"/></route></zone>");
}

PlatformOptions three_hosts(const std::string& file, std::vector<std::string> settings) {
  PlatformOptions options;
  options.file = file;
  options.ranks = 3;
  options.settings = std::move(settings);
  return options;
}

TEST(LinkChanges, TwiceAsFastIsAsIfThePlatformSaidSo) {
  for (const char* model : {"SMPI", "CM02"}) {
    const auto changed = from_child([&] {
      PlatformOptions options = three_hosts(chain_of("100MBps"), {"link:slow=x2"});
      options.model = model;
      return arrivals(*load(options), {{0, 1, 100'000}, {1, 2, 100'000}, {2, 0, 50'000}});
    });
    const auto edited = from_child([&] {
      PlatformOptions options = three_hosts(chain_of("200MBps"), {});
      options.model = model;
      return arrivals(*load(options), {{0, 1, 100'000}, {1, 2, 100'000}, {2, 0, 50'000}});
    });
    ASSERT_EQ(changed.size(), 3U);
    EXPECT_EQ(changed, edited) << model;
  }
}

TEST(LinkChanges, AFailedLinkIsNamedWhereSomebodyNeedsIt) {
  apart([] {
    const auto network = load(three_hosts(chain_of("100MBps"), {"link:slow=off"}));
    EXPECT_GT(alone(*network, {1, 2, 1000}), 0);
    try {
      static_cast<void>(alone(*network, {0, 1, 1000}));
      ADD_FAILURE() << "a message crossed a link that has failed";
    } catch (const MessageRefused& refused) {
      EXPECT_STREQ(refused.what(),
                   "link slow has failed, and the platform's routes know no way around it: a cannot reach b");
    }
  });
}

TEST(LinkChanges, OfLinksThatAreNotThereAreRefused) {
  apart([] {
    const auto network = load_platform(three_hosts(chain_of("100MBps"), {"link:none=x2"}));
    ASSERT_FALSE(network.ok());
    EXPECT_EQ(network.error().what, "the platform has no link 'none'");
  });
}

TEST(LinkChanges, BurstsAreTheSameForTheSameSeedAndTakeTheirShare) {
  const auto took = [](const std::string& seed) {
    return from_child([&] {
      PlatformOptions options =
          three_hosts(chain_of("100MBps"), seed.empty() ? std::vector<std::string>{}
                                                        : std::vector{"link:*=bursts/0.8/1ms/3ms/" + seed});
      options.model = "CM02";
      const auto network = load(options);
      const auto flows = network->flows();
      std::vector<Flows::Completion> done;
      flows->start(0, RankId{1}, RankId{2}, bytes(1'000'000'000), kTimeZero, 0);
      while (!flows->idle()) flows->advance(kNever, done);
      return std::vector<double>{seconds(done.back().at - kTimeZero)};
    });
  };
  const auto with = took("1");
  EXPECT_EQ(with, took("1"));
  EXPECT_NE(with, took("2"));
  // A quarter of the time four fifths are gone, on one link or more of those on the way.
  EXPECT_GT(with[0], 1.1 * took("")[0]);
  EXPECT_LT(with[0], 5 * took("")[0]);
}

TEST(LinkChanges, JitterIsTheSameForTheSameSeedAndHasItsMean) {
  for (const char* kind : {"exponential", "uniform", "lognormal"}) {
    const auto latencies = [&](const std::string& seed) {
      return from_child([&] {
        PlatformOptions options = three_hosts(
            chain_of("100MBps"), seed.empty() ? std::vector<std::string>{}
                                              : std::vector{"jitter:" + std::string{kind} + "/5us/" + seed});
        options.model = "CM02";
        const auto network = load(options);
        const auto flows = network->flows();
        std::vector<double> took;
        std::vector<Flows::Completion> done;
        for (Flows::FlowId i = 0; i < 3000; ++i) {  // one after the other: nobody shares a link
          const Time begin = flows->now();
          flows->start(i, RankId{1}, RankId{2}, Bytes{}, begin, 0);
          while (!flows->idle()) flows->advance(kNever, done);
          took.push_back(seconds(done.back().at - begin));
        }
        return took;
      });
    };
    const auto with = latencies("1");
    EXPECT_EQ(with, latencies("1")) << kind;
    EXPECT_NE(with, latencies("2")) << kind;
    const double without = latencies("").front();
    double sum = 0;
    for (const double time : with) sum += time - without;
    EXPECT_NEAR(sum / 3000, 5e-6, 0.5e-6) << kind;  // four standard errors of the widest
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
    flows->start(0, RankId{0}, RankId{1}, bytes(1'250'000 - 16), kTimeZero, 0);  // 25 us + 1 ms alone
    std::vector<Flows::Completion> done;
    flows->advance(Time{from_seconds(525e-6)}, done);
    EXPECT_TRUE(done.empty());
    EXPECT_EQ(flows->now(), Time{from_seconds(525e-6)});
    // Half is left when another joins 25 us later: (0.5 - 0.025) ms at half speed.
    flows->start(1, RankId{0}, RankId{1}, bytes(1'250'000 - 16), flows->now(), 0);
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
                 bytes(20'000 + 1000 * from), at, 0);
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

}  // namespace
}  // namespace nplus1::netmodel
