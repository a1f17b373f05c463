#include "stubs/runtime/hooks/receive_hook.hpp"

#include <gtest/gtest.h>

namespace nplus1::stubs {
namespace {

constexpr std::uint64_t kEveryBit = ~std::uint64_t{0};
/// What MPICH asks for where source and tag are named, and where the tag is not.
constexpr std::uint64_t kNamed = 0xffffffff9fffffff;
constexpr std::uint64_t kAnyTag = 0xffffffff90000000;
constexpr std::uint64_t kTag = 0x0000000100000005;

TEST(ReceiveHook, TheNextReceiveBetweenTwoRanksAsksForExactlyItsTag) {
  const ReceivesFromOne one;
  EXPECT_EQ(mask_of_receive(kTag, kNamed), kEveryBit);
}

TEST(ReceiveHook, WhatMpiPostsBesidesKeepsItsMask) {
  EXPECT_EQ(mask_of_receive(kTag, kNamed), kNamed);
  {
    const ReceivesFromOne one;
    EXPECT_EQ(mask_of_receive(kTag, kNamed), kEveryBit);
    EXPECT_EQ(mask_of_receive(kTag, kNamed), kNamed) << "a collective's, while the call lasts";
  }
  { const ReceivesFromOne unused; }
  EXPECT_EQ(mask_of_receive(kTag, kNamed), kNamed);
}

TEST(ReceiveHook, WhatTakesSeveralTagsGoesOnTakingThem) {
  {
    const ReceivesFromOne one;
    EXPECT_EQ(mask_of_receive(kTag, kAnyTag), kAnyTag);
  }
  const ReceivesFromOne one;
  const std::uint64_t warned = kTag | std::uint64_t{1} << 30U;
  EXPECT_EQ(mask_of_receive(warned, kNamed), kNamed);
}

}  // namespace
}  // namespace nplus1::stubs
