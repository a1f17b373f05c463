// Communicators that come and go: what is kept of each, and of which counters.
#include "patterns/communicators.hpp"

#include <gtest/gtest.h>

namespace nplus1::patterns {
namespace {

events::Communicator of_two(std::uint32_t id, std::size_t first_group = 0) {
  return {CommId{id}, {RankId{1}, RankId{0}}, first_group};
}

TEST(Communicators, WithTheSameMembersAndGroupsShareTheirDefinition) {
  Communicators communicators{3};
  communicators.define(of_two(1));
  communicators.define(of_two(2, 1));
  communicators.define(of_two(4));
  EXPECT_EQ(communicators.definition(CommId{1}), communicators.definition(CommId{4}));
  EXPECT_EQ(communicators.definition(CommId{2})->first_group, 1U);
  EXPECT_EQ(communicators.size(CommId{0}), 3U);
  EXPECT_EQ(communicators.size(CommId{4}), 2U);
  EXPECT_EQ(communicators.definition(CommId{3}), nullptr);
  EXPECT_EQ(communicators.use(CommId{5}), nullptr);
}

TEST(Communicators, OfMoreThanCanBeShownThoseWithTheMostTimeAreByNumber) {
  Communicators communicators{2};
  const auto all = static_cast<std::uint32_t>(5 * kMostCommunicatorsCounted);
  // The longest come first, in the middle and last, each with the time of its number.
  const auto is_long = [&](std::uint32_t id) { return id % (all / kMostCommunicators) == 0; };
  for (std::uint32_t id = 0; id < all; ++id) {
    if (id > 0) communicators.define(of_two(id));
    communicators.use(CommId{id})->time = Duration{is_long(id) ? 1'000'000 + id : 1};
    communicators.use(CommId{id})->messages += 1;
  }
  std::uint64_t left_out = 0;
  const auto uses = communicators.uses(left_out);
  EXPECT_EQ(left_out, all - kMostCommunicators);
  ASSERT_EQ(uses.size(), kMostCommunicators);
  for (const CommunicatorUse& use : uses) {
    EXPECT_TRUE(is_long(use.id));
    EXPECT_EQ(use.time, Duration{1'000'000 + use.id});
    EXPECT_EQ(use.messages, 1U);
  }
  EXPECT_EQ(uses.front().id, all - all / kMostCommunicators);
}

TEST(Communicators, ThatAreUsedAgainAfterTheirCountersWereGivenUpBeginAnew) {
  Communicators communicators{2};
  communicators.use(CommId{0})->messages = 7;
  for (std::uint32_t id = 1; id <= kMostCommunicatorsCounted; ++id) {
    communicators.define(of_two(id));
    communicators.use(CommId{id})->time = Duration{1};
  }
  EXPECT_EQ(communicators.use(CommId{0})->messages, 0U);
  EXPECT_EQ(communicators.size(CommId{0}), 2U);
}

}  // namespace
}  // namespace nplus1::patterns
