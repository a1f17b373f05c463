#include "semantics/timing.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nplus1::semantics {
namespace {

using std::chrono::nanoseconds;

std::unique_ptr<netmodel::NetworkModel> network(const char* specification) {
  return std::move(netmodel::parse(specification).value());
}

Time at(Duration d) {
  return Time{d};
}

TEST(Timing, EagerSendArrivesAfterLatencyAndBytes) {
  const auto lsb = network("lsb:latency=1e-06,bandwidth=1e+09");
  Time interface_free{};
  const EagerSend sent =
      send_eager(*lsb, at(nanoseconds{10}), RankId{0}, RankId{1}, bytes(500), interface_free);
  EXPECT_EQ(sent.sender_free, at(nanoseconds{10}));
  EXPECT_EQ(sent.arrival, at(nanoseconds{10 + 1000 + 500}));
}

TEST(Timing, EagerSendsQueueAtTheInterface) {
  const auto loggops = network("loggops:L=1e-06,o=1e-07,g=5e-07,G=0,O=0");
  Time interface_free{};
  const EagerSend one = send_eager(*loggops, kTimeZero, RankId{0}, RankId{1}, bytes(8), interface_free);
  const EagerSend two = send_eager(*loggops, one.sender_free, RankId{0}, RankId{1}, bytes(8), interface_free);
  EXPECT_EQ(one.arrival, at(nanoseconds{100 + 1000}));
  EXPECT_EQ(two.sender_free, at(nanoseconds{200}));
  EXPECT_EQ(two.arrival, at(nanoseconds{100 + 500 + 1000}));
}

TEST(Timing, RendezvousWaitsForTheLaterSide) {
  const auto lsb = network("lsb:latency=1e-06,bandwidth=1e+09,eager=0,handshake=2e-06");
  const auto end = [&](int send, int receive) {
    return rendezvous_end(*lsb, at(nanoseconds{send}), at(nanoseconds{receive}), RankId{0}, RankId{1},
                          bytes(500));
  };
  EXPECT_EQ(end(10, 4000), at(nanoseconds{4000 + 2000 + 1500}));
  EXPECT_EQ(end(4000, 10), end(10, 4000));
}

TEST(Timing, CompletionsAreTakenInOrderOfTime) {
  std::vector<Completion> list{{at(nanoseconds{50}), nanoseconds{3}}, {at(nanoseconds{10}), nanoseconds{5}}};
  EXPECT_EQ(complete_all(at(nanoseconds{0}), list), at(nanoseconds{53}));
  list = {{at(nanoseconds{50}), nanoseconds{3}}, {at(nanoseconds{48}), nanoseconds{5}}};
  EXPECT_EQ(complete_all(at(nanoseconds{0}), list), at(nanoseconds{56}));
}

TEST(Timing, LongAndShortListsOfCompletionsFollowOneRule) {
  std::mt19937 random{3};
  for (std::size_t n : {0U, 1U, 2U, 15U, 16U, 17U, 100U}) {
    std::vector<Completion> list;
    for (std::size_t i = 0; i < n; ++i)
      list.push_back({at(Duration{random() % 1000}), Duration{random() % 50}});
    std::vector<Completion> sorted = list;
    std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.at < b.at; });
    Time expected = at(Duration{500});
    for (const Completion& c : sorted) expected = std::max(expected, c.at) + c.overhead;
    EXPECT_EQ(complete_all(at(Duration{500}), list), expected);
  }
}

TEST(Timing, PollingGetsDearerUpToACapAndResets) {
  PollCost poll{nanoseconds{100}, nanoseconds{110}};
  EXPECT_EQ(poll.next(), nanoseconds{100});
  const Duration second = poll.next();
  EXPECT_GT(second, nanoseconds{100});
  for (int i = 0; i < 50; ++i) poll.next();
  EXPECT_EQ(poll.next(), nanoseconds{110});
  poll.reset();
  EXPECT_EQ(poll.next(), nanoseconds{100});
}

}  // namespace
}  // namespace nplus1::semantics
