#include "stubs/runtime/requests/collective_ends.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include "netmodel/network_model.hpp"

namespace nplus1::stubs {
namespace {

using netmodel::CollectiveCall;

constexpr std::uint64_t kKey = 7;
constexpr auto at = [](std::int64_t ns) { return Time{std::chrono::nanoseconds{ns}}; };

class CollectiveEndsTest : public ::testing::Test {
 protected:
  static constexpr std::int32_t kRanks = 4;

  CollectiveEndsTest() {
    const int fd = transport::create_segment_fd(kRanks);
    segment_ = transport::map_segment(fd, kRanks);
    close(fd);
    segment_.initialise();
    for (std::int32_t r = 0; r < kRanks; ++r)
      ends_[r].begin(*network_, netmodel::Selection::parse("copy_rate=1GBps").value(), RankId{r}, segment_);
  }

  void enter(std::int32_t rank, std::int64_t ns, std::uint64_t number = 0,
             CollectiveCall call = {.kind = CollectiveKind::kBarrier}) {
    ends_[rank].enter(kKey, number, members_, call, at(ns));
  }

  // A message takes a microsecond and a nanosecond a byte.
  std::unique_ptr<netmodel::NetworkModel> network_ =
      std::move(netmodel::parse("lsb:latency=1e-06,bandwidth=1e+09")).value();
  transport::Segment segment_;
  CollectiveEnds ends_[kRanks];
  std::vector<std::int32_t> members_{0, 1, 2, 3};
};

TEST_F(CollectiveEndsTest, AreKnownToAllOnceTheLastHasEntered) {
  for (const std::int32_t rank : {2, 0, 3}) enter(rank, 100 * rank);
  for (CollectiveEnds& ends : ends_) EXPECT_FALSE(ends.exit());
  enter(1, 5000);
  // Dissemination: rank 1 has all others' messages; in the first round it keeps rank 2, in the second 3, and 2 keeps 0.
  EXPECT_EQ(ends_[1].exit(), at(5000));
  EXPECT_EQ(ends_[2].exit(), at(6000));
  EXPECT_EQ(ends_[3].exit(), at(6000));
  EXPECT_EQ(ends_[0].exit(), at(7000));
}

TEST_F(CollectiveEndsTest, AreThoseOfTheAlgorithmAndOfWhatAMemberCopies) {
  members_ = {3, 1};  // member 0 is rank 3
  const CollectiveCall call{.kind = CollectiveKind::kAlltoall, .size = bytes(1000)};
  enter(3, 0, 0, call);
  enter(1, 0, 0, call);
  for (const std::int32_t rank : members_) EXPECT_EQ(ends_[rank].exit(), at(2000 + 2000));
}

TEST_F(CollectiveEndsTest, AreNotThoseOfAnotherCallNorOfAnotherCommunicator) {
  for (std::int32_t rank = 0; rank < kRanks; ++rank) enter(rank, 0);
  enter(0, 9000, 1);
  EXPECT_FALSE(ends_[0].exit());
  for (std::int32_t rank = 1; rank < kRanks; ++rank)
    ends_[rank].enter(kKey + 1, 1, members_, {.kind = CollectiveKind::kBarrier}, at(9000));
  for (CollectiveEnds& ends : ends_) EXPECT_FALSE(ends.exit());
}

TEST_F(CollectiveEndsTest, AreNotBelievedBeforeTheEntry) {
  for (std::int32_t rank = 0; rank < kRanks; ++rank) enter(rank, 1000);
  segment_.rank(2).collective.exit_ps = 0;
  EXPECT_FALSE(ends_[2].exit());
  EXPECT_TRUE(ends_[1].exit());
}

TEST_F(CollectiveEndsTest, OfOneMemberAreItsEntry) {
  members_ = {2};
  enter(2, 300);
  EXPECT_EQ(ends_[2].exit(), at(300));
}

}  // namespace
}  // namespace nplus1::stubs
