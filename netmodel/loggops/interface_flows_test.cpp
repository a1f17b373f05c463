// Interfaces that are busy for g + (s - 1) G with each message, at both ends, in closed forms.
#include "netmodel/loggops/interface_flows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "netmodel/loggops/loggops.hpp"

namespace nplus1::netmodel {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// L = 2 us, g = 1 us; 1001 bytes take 1 us on their way, and keep an interface busy for 2 us.
constexpr const char* kNetwork = "loggops:L=2us,g=1us,G=1ns,interfaces=both";
constexpr Bytes kSize = bytes(1001);

Time at(Duration duration) {
  return kTimeZero + duration;
}

std::vector<Flows::Completion> rest(Flows& flows) {
  std::vector<Flows::Completion> done;
  while (!flows.idle()) flows.advance(kNever, done);
  return done;
}

class Interfaces : public ::testing::Test {
 protected:
  void start(Flows::FlowId id, int source, int destination, Duration when, Bytes size = kSize) {
    flows_->start(id, RankId{source}, RankId{destination}, size, at(when), 0);
  }
  void use(const char* network) {
    model_ = std::move(parse(network).value());
    flows_ = model_->flows();
  }
  std::unique_ptr<NetworkModel> model_ = std::move(parse(kNetwork).value());
  std::unique_ptr<Flows> flows_ = model_->flows();
};

TEST_F(Interfaces, LetAMessageAloneTakeLatencyAndAllBytesButOne) {
  start(0, 0, 1, microseconds{5});
  const auto done = rest(*flows_);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].at, at(microseconds{5 + 2 + 1}));
  EXPECT_EQ(done[0].held_up, Duration{});
}

TEST_F(Interfaces, TakeMessagesOfManySendersOneAfterAnother) {
  for (int sender = 1; sender <= 7; ++sender)
    start(static_cast<Flows::FlowId>(sender), sender, 0, Duration{});
  const auto done = rest(*flows_);
  ASSERT_EQ(done.size(), 7U);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(done[static_cast<std::size_t>(i)].id, static_cast<Flows::FlowId>(i + 1));
    EXPECT_EQ(done[static_cast<std::size_t>(i)].at, at(microseconds{3 + 2 * i}));
    EXPECT_EQ(done[static_cast<std::size_t>(i)].held_up, microseconds{2 * i});
  }
}

TEST_F(Interfaces, SpaceShortMessagesByTheGapAlone) {
  for (int sender = 1; sender <= 4; ++sender)
    start(static_cast<Flows::FlowId>(sender), sender, 0, Duration{}, bytes(1));
  const auto done = rest(*flows_);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)].at, at(microseconds{2 + i}));
}

TEST_F(Interfaces, DontHoldUpWhatComesAfterTheGap) {
  start(1, 1, 0, Duration{});
  start(2, 2, 0, microseconds{2});
  start(3, 3, 0, microseconds{3});  // 1 us too early for the second's end
  const auto done = rest(*flows_);
  EXPECT_EQ(done[0].at, at(microseconds{3}));
  EXPECT_EQ(done[1].at, at(microseconds{5}));
  EXPECT_EQ(done[2].at, at(microseconds{7}));
}

TEST_F(Interfaces, OfOneSenderAreAsFarApartAtTheReceiverAsTheyLeft) {
  for (Flows::FlowId i = 0; i < 5; ++i) start(i, 0, 1, Duration{});
  const auto done = rest(*flows_);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(done[i].at, at(microseconds{3 + 2 * i}));
}

TEST_F(Interfaces, SendAndReceiveAtTheSameTime) {
  start(0, 0, 1, Duration{});
  start(1, 1, 0, Duration{});
  for (const auto& done : rest(*flows_)) EXPECT_EQ(done.at, at(microseconds{3}));
}

TEST_F(Interfaces, TakeFirstWhatComesFirstWhicheverWasStartedFirst) {
  start(2, 2, 0, nanoseconds{500});
  start(1, 1, 0, Duration{});
  const auto done = rest(*flows_);
  EXPECT_EQ(done[0].id, 1U);
  EXPECT_EQ(done[1].at, at(microseconds{5}));
}

TEST_F(Interfaces, AddTheHandshakeToWhatIsNotEager) {
  use("loggops:L=2us,g=1us,G=1ns,S=1000,handshake=4us,interfaces=both");
  start(0, 0, 1, Duration{});
  start(1, 2, 3, Duration{}, bytes(1000));
  const auto done = rest(*flows_);
  EXPECT_EQ(done[0].at, at(nanoseconds{2999}));
  EXPECT_EQ(done[1].at, at(microseconds{7}));
}

TEST_F(Interfaces, CountAnEmptyMessageAsAByte) {
  use("loggops:L=2us,o=1us,O=1ns,G=1ns,interfaces=both");
  start(0, 0, 1, Duration{}, bytes(0));
  EXPECT_EQ(rest(*flows_)[0].at, at(microseconds{2}));
  EXPECT_EQ(model_->send_overhead(bytes(0)), microseconds{1});
  EXPECT_EQ(model_->send_overhead(bytes(11)), nanoseconds{1010});
}

/// Nothing depends on the instants at which the engine looks, nor on the order in which it hears of an instant's messages.
TEST_F(Interfaces, GiveTheSameTimesHoweverTheyAreAdvanced) {
  for (const char* network :
       {kNetwork, "loggops:L=0,g=1us,G=1ns,interfaces=both", "loggops:L=0,G=0,interfaces=both"}) {
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937 random{seed};
      struct Start {
        Flows::FlowId id;
        int source, destination;
        Time at;
        Bytes size;
      };
      std::vector<Start> starts;
      for (Flows::FlowId id = 0; id < 40; ++id)
        starts.push_back({id, static_cast<int>(random() % 5), static_cast<int>(random() % 5),
                          at(nanoseconds{500 * (random() % 20)}),
                          bytes(static_cast<std::int64_t>(random() % 1500))});
      use(network);
      for (const Start& s : starts)
        flows_->start(s.id, RankId{s.source}, RankId{s.destination}, s.size, s.at, 0);
      std::vector<Time> whole(starts.size());
      for (const auto& done : rest(*flows_)) whole[done.id] = done.at;

      use(network);
      std::ranges::stable_sort(starts, {}, &Start::at);
      std::vector<Time> stepped(starts.size());
      std::vector<Flows::Completion> done;
      for (std::size_t next = 0; next < starts.size();) {
        const Time now = starts[next].at;
        do {
          done.clear();
          flows_->advance(now, done);
          for (const auto& d : done) stepped[d.id] = d.at;
        } while (!done.empty());
        for (; next < starts.size() && starts[next].at == now; ++next) {
          const Start& s = starts[next];
          flows_->start(s.id, RankId{s.source}, RankId{s.destination}, s.size, s.at, 0);
        }
      }
      for (const auto& d : rest(*flows_)) stepped[d.id] = d.at;
      ASSERT_EQ(stepped, whole) << network << ", seed " << seed;
    }
  }
}

TEST(LogGopsSpecification, SaysWhoseInterfacesAreBusy) {
  EXPECT_TRUE(parse("loggops").value()->contention_free());
  EXPECT_TRUE(parse("loggops:interfaces=sender").value()->contention_free());
  EXPECT_FALSE(parse("loggops:interfaces=both").value()->contention_free());
  EXPECT_NE(parse("loggops:interfaces=none").error().what.find("there is no 'none'"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::netmodel
