#include "simnode/node/door.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;
using transport::Challenge;
using transport::Hello;

transport::Deadline soon() {
  return Door::Clock::now() + 20s;
}

class DoorTest : public testing::TestWithParam<Door::Hosts> {
 protected:
  DoorTest() { EXPECT_TRUE(door.open(GetParam())); }
  ~DoorTest() override {
    for (const int fd : sockets_) close(fd);
    close(epoll_);
  }

  int connect() {
    const transport::Meeting& meeting = door.meeting();
    sockets_.push_back(meeting.address.empty() ? transport::connect_unix(meeting.name)
                                               : transport::connect_tcp(meeting.address, soon()));
    EXPECT_GE(sockets_.back(), 0);
    return sockets_.back();
  }
  /// Serves what there is to serve, as the simulator's loop does.
  void turn(int milliseconds = 20) {
    epoll_event found[8];
    const int n = epoll_wait(epoll_, found, 8, milliseconds);
    for (int i = 0; i < n; ++i) {
      ASSERT_TRUE(door.knows(found[i].data.fd));
      door.serve(found[i].data.fd);
    }
  }
  std::vector<Arrival> serve_until_somebody_comes() {
    for (const auto until = soon(); Door::Clock::now() < until;) {
      turn();
      if (auto came = door.arrivals(); !came.empty()) return came;
    }
    return {};
  }
  void serve_until_all_have_gone() {
    for (const auto until = soon(); door.has_guests() && Door::Clock::now() < until;) turn();
    EXPECT_FALSE(door.has_guests());
  }

  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  Door door{epoll_};
  std::vector<int> sockets_;
};

Hello rank(std::int32_t number) {
  Hello hello;
  hello.rank = number;
  hello.ranks = 4;
  return hello;
}

TEST_P(DoorTest, LetsInWhoProvesThatItKnowsTheKey) {
  std::thread guest{[this] {
    EXPECT_EQ(transport::prove_as_rank(connect(), door.meeting().key, rank(2), soon()), std::nullopt);
  }};
  auto came = serve_until_somebody_comes();
  guest.join();
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(came[0].hello.rank, 2);
  EXPECT_EQ(came[0].local, GetParam() == Door::Hosts::kThis);
  EXPECT_EQ(door.refused(), "");
  close(came[0].socket);
}

TEST_P(DoorTest, RefusesWhoDoesNotKnowIt) {
  std::thread guest{[this] {
    const int fd = connect();
    EXPECT_NE(transport::prove_as_rank(fd, *transport::random_bytes(), rank(2), soon()), std::nullopt);
    Hello hello = rank(2);  // he who does not mind that the simulator's proof looks wrong to him
    hello.proof = *transport::random_bytes();
    EXPECT_TRUE(transport::send_all(fd, &hello, sizeof(hello)));
  }};
  for (const auto until = soon(); door.refused().empty() && Door::Clock::now() < until;) turn();
  guest.join();
  EXPECT_TRUE(door.arrivals().empty());
  EXPECT_NE(door.refused().find("1 did not know the job's key"), std::string::npos) << door.refused();
}

TEST_P(DoorTest, AProofIsGoodOnceOnly) {
  std::string seen;
  std::thread honest{[&] {
    const int fd = connect();
    const Challenge challenge{transport::kProtocolVersion, *transport::random_bytes()};
    transport::Response response;
    ASSERT_TRUE(transport::send_all(fd, &challenge, sizeof(challenge)));
    ASSERT_TRUE(transport::receive_all(fd, &response, sizeof(response), soon()));
    Hello hello = rank(2);
    hello.proof = transport::prove(door.meeting().key, transport::Side::kRank, challenge.nonce,
                                   response.nonce, hello.said());
    seen.assign(reinterpret_cast<const char*>(&challenge), sizeof(challenge));
    seen.append(reinterpret_cast<const char*>(&hello), sizeof(hello));
    ASSERT_TRUE(transport::send_all(fd, &hello, sizeof(hello)));
  }};
  const auto came = serve_until_somebody_comes();
  honest.join();
  ASSERT_EQ(came.size(), 1U);
  close(came[0].socket);
  ASSERT_TRUE(transport::send_all(connect(), seen.data(), seen.size()));  // the very same bytes
  for (const auto until = soon(); door.refused().empty() && Door::Clock::now() < until;) turn();
  EXPECT_TRUE(door.arrivals().empty());
  EXPECT_NE(door.refused().find("1 did not know the job's key"), std::string::npos) << door.refused();
}

TEST_P(DoorTest, GuestsThatSayNothingOrLittleHoldNobodyUpAndAreTurnedAway) {
  for (int i = 0; i < 5; ++i) connect();
  ASSERT_EQ(send(sockets_.back(), "x", 1, MSG_NOSIGNAL), 1);
  for (int i = 0; i < 8; ++i) turn();
  std::thread guest{[this] {
    EXPECT_EQ(transport::prove_as_rank(connect(), door.meeting().key, rank(2), soon()), std::nullopt);
  }};
  const auto came = serve_until_somebody_comes();
  guest.join();
  EXPECT_EQ(came.size(), 1U);
  EXPECT_TRUE(door.has_guests());
  door.tick(Door::Clock::now() + Door::kPatience + 1s);
  EXPECT_FALSE(door.has_guests());
}

TEST_P(DoorTest, AFloodOfGuestsKeepsNoMoreThanItsRoom) {
  for (std::size_t i = 0; i < Door::kMostGuests + 20; ++i) {
    connect();
    turn();
  }
  for (const auto until = soon(); door.refused().empty() && Door::Clock::now() < until;) turn();
  EXPECT_FALSE(door.refused().empty());
}

TEST_P(DoorTest, AGuestThatLeavesIsForgotten) {
  const int fd = connect();
  for (const auto until = soon(); !door.has_guests() && Door::Clock::now() < until;) turn();
  ASSERT_TRUE(door.has_guests());
  shutdown(fd, SHUT_RDWR);
  serve_until_all_have_gone();
  EXPECT_FALSE(door.has_guests());
}

INSTANTIATE_TEST_SUITE_P(Door, DoorTest, testing::Values(Door::Hosts::kThis, Door::Hosts::kThisOverTcp));

TEST(DoorOfOneHost, ListensOnNoNetwork) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  Door here{epoll}, elsewhere{epoll};
  ASSERT_TRUE(here.open(Door::Hosts::kThis));
  EXPECT_EQ(here.meeting().address, "");
  ASSERT_TRUE(elsewhere.open(Door::Hosts::kSeveral));
  EXPECT_NE(elsewhere.meeting().address, "");
  EXPECT_NE(here.meeting().name, elsewhere.meeting().name);
  EXPECT_NE(here.meeting().key, elsewhere.meeting().key);
  close(epoll);
}

}  // namespace
}  // namespace nplus1::simnode::node
