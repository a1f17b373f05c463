#include "stubs/runtime/capture/kept_parts.hpp"

#include <gtest/gtest.h>

#include <map>

namespace nplus1::stubs {
namespace {

constexpr std::uint64_t kBase = 0x10000;
constexpr std::uint64_t kBytes = 80;
using Data = KeptParts::Data;

/// Rank `me` of `members` sends blocks of a vector to `peers`; the last answer.
std::optional<std::uint64_t> scatter(KeptParts& parts, int me, int members, const std::vector<int>& peers,
                                     std::int64_t stride = kBytes) {
  std::optional<std::uint64_t> kept;
  for (const int peer : peers)
    kept = parts.block_sent(7, me, members, peer,
                            {kBase + static_cast<std::uint64_t>(peer * stride), kBytes, 1});
  return kept;
}

TEST(TheBlockThatIsKept, LiesBetweenThoseThatWereSent) {
  KeptParts parts;
  EXPECT_EQ(scatter(parts, 2, 5, {0, 1, 3, 4}), kBase + 2 * kBytes);
}

TEST(TheBlockThatIsKept, IsFoundInAnyOrderOfPeersAndWithAnyStride) {
  KeptParts parts;
  EXPECT_EQ(scatter(parts, 2, 5, {3, 4, 0, 1}), kBase + 2 * kBytes);
  EXPECT_EQ(scatter(parts, 1, 4, {3, 0, 2}, 3 * kBytes), kBase + 3 * kBytes);
  EXPECT_EQ(scatter(parts, 1, 4, {3, 0, 2}, -2 * static_cast<std::int64_t>(kBytes)), kBase - 2 * kBytes);
}

TEST(TheBlockThatIsKept, IsToldOfOnceForEachTimeThatTheOthersGo) {
  KeptParts parts;
  int told = 0;
  for (int round = 0; round < 3; ++round)
    for (const int peer : {0, 2, 3})
      told += parts.block_sent(7, 1, 4, peer, {kBase + static_cast<std::uint64_t>(peer) * kBytes, kBytes, 1})
                  ? 1
                  : 0;
  EXPECT_EQ(told, 3);
}

TEST(TheBlockThatIsKept, IsNotGuessedOutsideOfWhatWasSent) {
  KeptParts parts;
  EXPECT_FALSE(scatter(parts, 0, 4, {1, 2, 3}));
  EXPECT_FALSE(scatter(parts, 3, 4, {0, 1, 2}));
}

TEST(TheBlockThatIsKept, IsNotSeenInOtherPatterns) {
  const auto sees = [](int me, int members, const std::vector<int>& peers, std::int64_t stride = kBytes) {
    KeptParts parts;
    return scatter(parts, me, members, peers, stride).has_value();
  };
  EXPECT_FALSE(sees(2, 5, {0, 1, 3}));      // one is missing
  EXPECT_FALSE(sees(1, 4, {0, 2, 3}, 0));   // the same data to all: a broadcast
  EXPECT_FALSE(sees(1, 4, {0, 2, 3}, 40));  // blocks that overlap
  EXPECT_FALSE(sees(1, 4, {0, 2, 2, 3}));   // a second message to one of them
  EXPECT_FALSE(sees(1, 4, {0, 1, 2, 3}));   // its own block was sent too
  KeptParts parts;
  for (const int peer : {0, 2, 3})  // blocks anywhere
    EXPECT_FALSE(
        parts.block_sent(7, 1, 4, peer, {kBase + static_cast<std::uint64_t>(peer * peer) * 400, kBytes, 1}));
}

/// A rank's memory, and what was told of it.
struct Memory {
  std::map<std::uint64_t, std::uint64_t> content;
  std::vector<std::uint64_t> told;
  int looks = 0;
  KeptParts parts;

  void send(std::uint64_t address) { parts.sent({address, kBytes, 1}, content.at(address)); }
  void receive(std::uint64_t address) {
    const auto look = [&](std::uint64_t at) {
      ++looks;
      const auto found = content.find(at);
      return found == content.end() ? std::nullopt : std::optional{found->second};
    };
    parts.receives({address, kBytes, 1}, look, [&](std::uint64_t at) { told.push_back(content.at(at)); });
  }
};

TEST(APartThatIsAddedTo, IsToldOfFromTheSecondTimeOn) {
  Memory m;
  for (std::uint64_t round = 1; round <= 100; ++round) {
    m.content[kBase] = 1000 * round;
    m.receive(kBase + 4096);
    m.content[kBase] += 1;
    m.receive(kBase + 4096);  // the second addend finds a partial sum there: not the rank's part
    m.content[kBase] += 1;
    m.send(kBase);
  }
  ASSERT_EQ(m.told.size(), 99u);
  EXPECT_EQ(m.told.front(), 2000u);
}

TEST(APartThatIsAddedTo, IsNotLookedForWhereWhatWasSentStaysOrGoesAsItIs) {
  Memory halo;
  for (std::uint64_t round = 1; round <= 1000; ++round) {
    halo.receive(kBase + 4096);
    halo.content[kBase] = round;  // packed after the receive was posted
    halo.send(kBase);
  }
  EXPECT_LE(halo.looks, 3);
  EXPECT_TRUE(halo.told.empty());
  Memory exchange;
  for (std::uint64_t round = 1; round <= 1000; ++round) {
    exchange.content[kBase] = round;
    exchange.receive(kBase + 4096);
    exchange.send(kBase);
  }
  EXPECT_LE(exchange.looks, 3);
}

TEST(APartThatIsAddedTo, CostsLittleHoweverManyBuffersThereAre) {
  Memory m;
  for (std::uint64_t round = 1; round <= 100; ++round) {
    for (std::uint64_t buffer = 0; buffer < 20; ++buffer) {
      m.content[kBase + buffer * 4096] = round * 100 + buffer;
      m.receive(kBase - 4096);
      m.send(kBase + buffer * 4096);
    }
  }
  EXPECT_LE(m.looks, 80);
}

TEST(APartThatIsAddedTo, IsNotWhatIsReceivedInto) {
  Memory m;
  m.content[kBase] = 1;
  m.send(kBase);
  m.content[kBase] = 2;
  m.receive(kBase + 8);
  EXPECT_EQ(m.looks, 0);
}

TEST(APartThatIsAddedTo, MayBeMemoryThatIsGone) {
  Memory m;
  m.content[kBase] = 1;
  m.send(kBase);
  m.content.clear();
  m.receive(kBase + 4096);
  EXPECT_TRUE(m.told.empty());
}

}  // namespace
}  // namespace nplus1::stubs
