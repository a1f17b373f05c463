#include "stubs/runtime/hooks/collective_lengths.hpp"

#include <gtest/gtest.h>

#include "stubs/runtime/hooks/ucx.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::uint64_t kWarning = kUcxErrorBit;
constexpr std::uint64_t kMask = ~(kUcxErrorBit | kUcxFailedBit);
/// Communicator 5, rank 1, operation 7.
constexpr std::uint64_t kPartOfCollective = std::uint64_t{5} << 48U | std::uint64_t{1} << 32U | 7;

/// What MPI's callback was told, and what UCX was given.
struct Seen {
  std::uint64_t tag = 0;
  std::int8_t status = 1;
  std::size_t length = 0;
};
UcxParameters given;
int dummy;

void received(void*, std::int8_t status, const UcxMessage* message, void* seen) {
  *static_cast<Seen*>(seen) = {message->tag, status, message->length};
}
void* ucx(void*, void*, std::size_t, std::uint64_t, std::uint64_t, const void* parameters) {
  given = *static_cast<const UcxParameters*>(parameters);
  return &dummy;
}
void* refusing(void*, void*, std::size_t, std::uint64_t, std::uint64_t, const void*) {
  return nullptr;
}

/// MPI posts a receive, and a message comes for it.
Seen comes(std::uint64_t tag, std::int8_t status, std::size_t length, std::uint64_t came = 0) {
  Seen seen;
  UcxParameters parameters;
  parameters.given = kUcxHasCallback | kUcxHasUserData | kUcxNeverAtOnce;
  parameters.done.received = received;
  parameters.user_data = &seen;
  EXPECT_EQ(receive_watched(ucx, nullptr, nullptr, 0, tag, kMask, &parameters), &dummy);
  const UcxMessage message{tag | came, length};
  given.done.received(nullptr, status, &message, given.user_data);
  return seen;
}

std::shared_ptr<CollectiveLengths> watching(std::optional<std::size_t> exactly = std::nullopt) {
  auto lengths = std::make_shared<CollectiveLengths>(exactly);
  const CollectiveLengths::Begins begins{lengths.get()};
  begins_with(kPartOfCollective);
  return lengths;
}

TEST(CollectiveLengths, AMessageThatFitsIsPassedOnAsItIs) {
  const auto lengths = watching(100);
  const Seen seen = comes(kPartOfCollective, 0, 100);
  EXPECT_EQ(seen.tag, kPartOfCollective);
  EXPECT_EQ(seen.length, 100);
  EXPECT_FALSE(lengths->failed());
}

TEST(CollectiveLengths, ATruncatedMessageFailsTheOperation) {
  const auto lengths = watching();
  const Seen seen = comes(kPartOfCollective, kUcxTruncated, 200);
  EXPECT_EQ(seen.tag, kPartOfCollective | kWarning);
  EXPECT_EQ(seen.status, kUcxTruncated);
  EXPECT_TRUE(lengths->failed());
  EXPECT_TRUE(lengths->truncated());
}

TEST(CollectiveLengths, AShorterMessageIsAnErrorOnlyWhereItsLengthIsKnown) {
  {
    const auto lengths = watching();
    EXPECT_EQ(comes(kPartOfCollective, 0, 40).tag, kPartOfCollective);
    EXPECT_FALSE(lengths->failed());
  }
  const auto lengths = watching(100);
  EXPECT_EQ(comes(kPartOfCollective, 0, 40).tag, kPartOfCollective | kWarning);
  EXPECT_TRUE(lengths->failed());
  EXPECT_FALSE(lengths->truncated());
}

TEST(CollectiveLengths, AWarningOfAnotherMemberFailsTheOperation) {
  const auto lengths = watching();
  EXPECT_EQ(comes(kPartOfCollective, 0, 100, kWarning).tag, kPartOfCollective | kWarning);
  EXPECT_TRUE(lengths->failed());
  EXPECT_FALSE(lengths->truncated());
}

TEST(CollectiveLengths, LaterMessagesOfTheOperationFromOtherMembersAreWatchedToo) {
  const auto lengths = watching();
  const std::uint64_t from_another = kPartOfCollective + (std::uint64_t{2} << 32U);
  EXPECT_EQ(comes(from_another, kUcxTruncated, 9).tag, from_another | kWarning);
  EXPECT_TRUE(lengths->failed());
}

TEST(CollectiveLengths, OtherOperationsAndEndedOnesAreLeftAlone) {
  auto lengths = watching(100);
  EXPECT_EQ(comes(kPartOfCollective + 1, kUcxTruncated, 9).tag, kPartOfCollective + 1);
  EXPECT_FALSE(lengths->failed());
  lengths.reset();
  EXPECT_EQ(comes(kPartOfCollective, kUcxTruncated, 9).tag, kPartOfCollective);
}

TEST(CollectiveLengths, AReceiveThatUcxDoesNotTakeLeavesNothingBehind) {
  const auto lengths = watching();
  UcxParameters parameters;
  parameters.given = kUcxHasCallback | kUcxHasUserData | kUcxNeverAtOnce;
  EXPECT_EQ(receive_watched(refusing, nullptr, nullptr, 0, kPartOfCollective, kMask, &parameters), nullptr);
  EXPECT_EQ(lengths.use_count(), 1);
}

}  // namespace
}  // namespace nplus1::stubs
